// Reliable connections that two programs make by rdma_cm, and take down.
#pragma once

#include <rdma/rdma_cma.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/apps/programs/verbs_objects.hpp"
#include "tests/bench/tcp_connections.hpp"

namespace urnic::bench {

// Accepts connections, each with a queue pair, and ends those that the client ends. Does not return. Throws
// std::runtime_error.
[[noreturn]] void serve_rdma(const std::string& address, const TellPort& tell);

struct RdmaTimes {
  double per_second;  // from rdma_create_id to rdma_destroy_id
  double typical_us;  // from rdma_create_id to ESTABLISHED: the median
};

struct HeldTimes {
  double made_per_second;
  double ended_per_second;
};

class RdmaClient {
 public:
  // Of the server at the address and port. Throws std::runtime_error, as the others do.
  RdmaClient(const std::string& address, std::uint16_t port);
  ~RdmaClient();
  RdmaClient(const RdmaClient&) = delete;
  RdmaClient& operator=(const RdmaClient&) = delete;

  // Makes `count` connections, each of which ends as soon as it is established; `at_once` are under way at a
  // time.
  RdmaTimes measure(std::size_t count, std::size_t at_once);
  // Makes `count` connections that stay, then ends them all.
  HeldTimes hold(std::size_t count, std::size_t at_once);

 private:
  using Clock = std::chrono::steady_clock;
  struct Connection {
    Clock::time_point begin = Clock::now();
  };

  void start();
  // Takes one event and does the next step.
  void advance();
  void establish(rdma_cm_id& id);
  void end(rdma_cm_id& id);

  std::string address_;
  std::uint16_t port_;
  rdma_event_channel* channel_;
  apps::CqOwner cq_;
  bool stay_open_ = false;
  std::size_t ended_ = 0;
  std::vector<double> times_us_;  // of each that was established
  std::vector<rdma_cm_id*> open_;
};

}  // namespace urnic::bench
