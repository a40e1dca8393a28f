// How much of the device process programs may take: each, and all together. A program at its limit is
// refused; nobody else is.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "device_model/control/fabric/loan.hpp"

namespace urnic::control {

enum class Resource : std::uint8_t {
  descriptors,        // of this process
  memory,             // bytes: queues and what stands for an object here
  contexts,           // opened devices
  queue_pairs,        // of all devices
  completion_queues,  // of all devices
  admin_connections,
  captures,
};
inline constexpr std::size_t kResources = 7;
inline constexpr std::array<std::string_view, kResources> kResourceNames{
    "descriptors", "memory", "contexts", "queue_pairs", "completion_queues", "admin_connections", "captures"};

struct Allowance {
  std::uint64_t program = 0;  // each
  std::uint64_t all = 0;      // together
};
using Allowances = std::array<Allowance, kResources>;

// What this machine affords: descriptors by RLIMIT_NOFILE, memory by half of what the cgroup allows or the
// machine has. A program may have half of everything.
Allowances default_allowances();

class Account;

// Control thread only, as everything here.
class Quotas {
 public:
  explicit Quotas(const Allowances& allowances) : allowances_(allowances) {}
  Quotas(const Quotas&) = delete;
  Quotas& operator=(const Quotas&) = delete;

  // The account of the process `pid`. Processes that a PID namespace hides (0) share one. It must not outlive
  // this object.
  std::shared_ptr<Account> account(pid_t pid);

  const Allowance& allowance(Resource resource) const { return allowances_[index(resource)]; }
  std::uint64_t used(Resource resource) const { return used_[index(resource)]; }

 private:
  friend class Account;
  static std::size_t index(Resource resource) { return static_cast<std::size_t>(resource); }

  Allowances allowances_;
  std::array<std::uint64_t, kResources> used_{};
  std::unordered_map<pid_t, std::weak_ptr<Account>> accounts_;
};

// Something that a program has taken.
struct Taken {
  Resource counted = Resource::memory;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  // of memory
};
using Charge = Loan<Account, Taken, std::shared_ptr<Account>>;

// What one program has taken.
class Account : public std::enable_shared_from_this<Account> {
 public:
  explicit Account(Quotas& quotas) : quotas_(quotas) {}

  // Takes `count` of `counted` and `bytes` of memory, both or none. Throws std::system_error if that is more
  // than the program may have: ENOMEM, or EMFILE where descriptors, connections or captures are what is
  // short.
  Charge charge(Resource counted, std::uint64_t count, std::uint64_t bytes = 0);
  void give_back(const Taken& taken);
  std::uint64_t used(Resource resource) const { return used_[Quotas::index(resource)]; }

  // Contexts that the program has closed and that are being taken down.
  std::uint32_t endings() const { return endings_; }
  void begin_ending() { ++endings_; }
  void finish_ending() { --endings_; }

 private:
  bool may_take(Resource resource, std::uint64_t amount) const;
  void add(Resource resource, std::uint64_t amount);

  Quotas& quotas_;
  std::array<std::uint64_t, kResources> used_{};
  std::uint32_t endings_ = 0;
};

// What objects cost this process beside their queues, in bytes, rounded up generously.
namespace object_bytes {
inline constexpr std::uint64_t kContext = 64 * 1024;
inline constexpr std::uint64_t kQueuePair = 8 * 1024;
inline constexpr std::uint64_t kQueue = 2 * 1024;  // completion queues, shared receive queues
inline constexpr std::uint64_t kKey = 512;         // memory regions and windows
}  // namespace object_bytes

}  // namespace urnic::control
