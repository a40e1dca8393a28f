// The TCP port of an agent that serves connections. Who connects can make every verbs call, so a connection
// is let in only with the token.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "device_model/memory/descriptor.hpp"

namespace urnic::script {

class TokenGate {
 public:
  // `address`: PORT, which is one of 127.0.0.1, or IPV4:PORT. Throws std::runtime_error: the address is none,
  // or cannot be used.
  TokenGate(const std::string& address, std::string token);

  // Waits for a connection whose first line was "token " and the token. Throws std::runtime_error.
  memory::Descriptor next();

 private:
  // Connections that have not shown it yet. The oldest makes way for the next one beyond so many.
  static constexpr std::size_t kMostWaiting = 16;
  static constexpr std::chrono::seconds kPatience{5};
  static constexpr std::size_t kLongestLine = 256;
  using Clock = std::chrono::steady_clock;

  struct Waiting {
    memory::Descriptor connection;
    Clock::time_point until;
    std::string received{};
    bool ended = false;
  };

  void wait() const;
  void accept_one();
  // True: it has shown the token.
  bool look_at(Waiting& waiting) const;

  const std::string line_;  // that is expected
  memory::Descriptor listener_;
  std::vector<Waiting> waiting_;  // in the order of their coming
};

}  // namespace urnic::script
