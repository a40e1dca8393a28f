// Requests that a program has sent and that wait for their answers.
#pragma once

#include <rdma/ib_user_mad.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "device_model/control/gsi/gsi.hpp"
#include "wire/mad/mad_header.hpp"

namespace urnic::control {

// As a program reads and writes it. With the old header it goes without the last 8 bytes of the header.
struct UmadPacket {
  ib_user_mad_hdr header{};
  wire::mad::Mad mad{};
};

struct PendingRequest {
  UmadPacket packet;  // as the program wrote it, but for the transaction id
  GsiAddress to;
  std::uint32_t repetitions = 0;  // still to be made
  std::chrono::steady_clock::time_point due{};
};

class PendingRequests {
 public:
  using Clock = std::chrono::steady_clock;
  // Of one file. A request is repeated no faster than every kShortestTimeout, so a program cannot flood the
  // network with what it wrote once.
  static constexpr std::size_t kMost = 256;
  static constexpr std::chrono::milliseconds kShortestTimeout{10};

  // A transaction id, and the class it is of.
  using Key = std::pair<std::uint64_t, wire::mad::ManagementClass>;

  // 0; EINVAL: one like it waits already; ENOMEM: too many wait.
  int check(const Key& key) const;
  void add(const Key& key, const PendingRequest& request, Clock::time_point now);
  // The same for a request that is still being sent: it is not due before `has_left`. Its answer may come
  // earlier.
  void add_leaving(const Key& key, const PendingRequest& request);
  void has_left(const Key& key, Clock::time_point now);
  // The request that a response from `peer` answers; empty: none.
  std::optional<PendingRequest> take(const Key& key, const wire::Gid& peer);
  void drop(const Key& key) { requests_.erase(key); }
  void drop_agent(std::uint32_t id);

  std::optional<Clock::time_point> next_due() const;
  using Told = std::function<void(const PendingRequest&)>;
  // Calls `repeat` with each request that is due once more, and `give_up` with each whose time is over. Both
  // may lead to `take`, `drop` and `has_left`, of any request.
  void expire(Clock::time_point now, const Told& repeat, const Told& give_up);

 private:
  void expire_one(const Key& key, Clock::time_point now, const Told& repeat, const Told& give_up);

  std::map<Key, PendingRequest> requests_;
};

}  // namespace urnic::control
