// Watches the engines, and whoever waits for one, from a thread of its own: an engine that copies from or to
// memory which does not answer stands still, and with it the control thread, as soon as it asks the engine
// for something. The device process must then still say what is wrong, and end when it is told to.
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

// An engine that has not moved for a while although it has something to do.
struct StuckEngine {
  std::uint32_t number = 0;
  std::vector<std::string> devices;
  std::chrono::seconds since{0};
  pid_t pid = 0;  // whose memory it is copying from or to; 0: it does something else
  std::string program;
};

// For logs and answers.
std::string sentence_about(const StuckEngine& engine);

class EngineWatch {
 public:
  struct Options {
    std::chrono::milliseconds period{1000};  // between two looks
    unsigned looks = 3;                      // at an engine that has not moved, before it counts as stuck
    // What the end may take while an engine is stuck, and otherwise: many QPs take their time.
    std::chrono::milliseconds stuck_end{5000};
    std::chrono::milliseconds longest_end{30000};
    // Ends the process without the help of other threads, because they do not move; null: that is not wanted.
    std::function<void(const std::string& reason)> end_at_once;
  };

  // Fabric and disposal outlive it.
  EngineWatch(const Fabric& fabric, DescriptorDisposal& disposal, const Options& options);
  ~EngineWatch();
  EngineWatch(const EngineWatch&) = delete;
  EngineWatch& operator=(const EngineWatch&) = delete;

  // What it shall do instead of the control thread while that stands still: take connections of the admin
  // socket, and end the process at a signal that nobody reads. The descriptors stay the caller's and open;
  // -1: none.
  void stand_in(int admin_socket, int signals);
  // The process is about to end: it is ended at once if that takes long.
  void expect_end();

  // Any thread.
  std::vector<StuckEngine> stuck() const;
  // The answer to an admin's request while an engine is stuck; empty if none is. A "down" gets its answer
  // from whoever called, who sees to the end.
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
  unsigned unread_signals_ = 0;  // looks in a row that found one
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
