// Makes a script's calls with a real device: an ordinary verbs program.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "script/agent/agent_device.hpp"
#include "script/call.hpp"

namespace urnic::script {

class Agent {
 public:
  explicit Agent(AgentDevice& device) : device_(device) {}
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // What cannot be done is an answer, too.
  Answer call(const Call& call);

 private:
  template <class Object>
  using Named = std::map<std::string, Object, std::less<>>;

  struct FreesBytes {
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };
  struct Region {
    std::unique_ptr<std::byte, FreesBytes> bytes;
    std::uint64_t length = 0;
    std::uint32_t lkey = 0;
    Owned<ibv_mr> mr;  // null once it is deregistered
  };
  struct SharedReceives {
    Owned<ibv_cq> cq;  // of an XRC queue
    Owned<ibv_srq> srq;
  };
  struct QueuePair {
    Owned<ibv_cq> send_cq;
    Owned<ibv_cq> receive_cq;
    Owned<ibv_qp> qp;
    Call made_by;  // with its attributes
    std::uint32_t notifications = 0;
  };

  Answer carry_out(const Call& call);
  bool is_known(const std::string& name) const;

  // agent_objects.cpp
  Answer make_region(const Call& call);
  Answer make_window(const Call& call);
  Answer make_shared_receives(const Call& call);
  Answer make_address_handle(const Call& call);
  Answer make_queue_pair(const Call& call);
  Owned<ibv_qp> create(const Call& call, const QueuePair& queue_pair);
  void move_to(const QueuePair& queue_pair, ibv_qp_state state, const Call& call) const;
  Answer modify(const Call& call);
  Answer destroy(const Call& call);

  // agent_work.cpp
  Answer post_send(const Call& call);
  Answer post_atomic_write(const QueuePair& queue_pair, const Call& call);
  Answer bind(const Call& call, ibv_send_wr& request);
  Answer post_receive(const Call& call);
  Answer poll(const Call& call, ibv_cq* cq);
  Answer poll_of(const Call& call);
  Answer next_event();
  Answer arm(const Call& call);
  Answer notified(const Call& call);
  Answer write_memory(const Call& call);
  Answer read_memory(const Call& call);
  std::vector<ibv_sge> sges_of(const Call& call) const;

  AgentDevice& device_;
  // The order matters: what is used by others is destroyed behind them.
  Named<Region> regions_;
  Named<Owned<ibv_mw>> windows_;
  Named<Owned<ibv_ah>> address_handles_;
  Named<SharedReceives> shared_receives_;
  Named<QueuePair> queue_pairs_;
};

}  // namespace urnic::script
