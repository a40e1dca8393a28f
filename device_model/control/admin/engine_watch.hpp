// Watches the engines, and the threads that wait for one, from a thread of its own. An engine stops while it
// copies memory that does not answer, and the control thread stops with its next request to the engine. The
// device process must then still tell the cause, and end when it is told to.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "device_model/control/loop/descriptor_disposal.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

class Fabric;

// An engine that has work but has not moved for a while.
struct StuckEngine {
  std::uint32_t number = 0;
  std::vector<std::string> devices;
  std::chrono::seconds since{0};
  pid_t pid = 0;  // whose memory it is copying; 0: not copying
  std::string program;
};

// A message for logs and answers.
std::string sentence_about(const StuckEngine& engine);

class EngineWatch {
 public:
  struct Options {
    std::chrono::milliseconds period{1000};  // between two checks
    unsigned looks = 3;                      // checks without movement after which an engine is stuck
    // Time limits of the process's end: while an engine is stuck, and otherwise (many QPs take time).
    std::chrono::milliseconds stuck_end{5000};
    std::chrono::milliseconds longest_end{30000};
    // Ends the process without other threads, because these are stuck; null: never.
    std::function<void(const std::string& reason)> end_at_once;
  };

  // Fabric and disposal outlive it.
  EngineWatch(const Fabric& fabric, DescriptorDisposal& disposal, const Options& options);
  ~EngineWatch();
  EngineWatch(const EngineWatch&) = delete;
  EngineWatch& operator=(const EngineWatch&) = delete;

  // The descriptors to serve while the control thread is stuck: connections of the admin socket, and signals,
  // which end the process. They belong to the caller and stay open; -1: none.
  void stand_in(int admin_socket, int signals);
  // The process is about to end; if that takes too long, the watch ends it.
  void expect_end();

  // Any thread.
  std::vector<StuckEngine> stuck() const;
  // The answer to an admin's request while an engine is stuck; empty if none is. The caller carries out a
  // "down".
  std::optional<nlohmann::json> answer(const nlohmann::json& request) const;

 private:
  struct Look {
    std::uint64_t heartbeat = 0;
    unsigned unchanged = 0;
    bool reported = false;
    std::chrono::steady_clock::time_point since{};
  };

  void run();
  void look_at_engines();
  void look_at_signals();
  void look_at_end();
  void serve_admins();
  void serve(int connection);

  const Fabric& fabric_;
  DescriptorDisposal& disposal_;
  const Options options_;
  std::vector<Look> looks_;
  unsigned unread_signals_ = 0;  // checks in a row that found an unread signal
  mutable std::mutex mutex_;
  std::condition_variable stopped_;
  bool stopping_ = false;
  std::vector<StuckEngine> stuck_;
  int admin_socket_ = -1;
  int signals_ = -1;
  std::optional<std::chrono::steady_clock::time_point> end_begun_;
  std::thread thread_;
};

}  // namespace urnic::control
