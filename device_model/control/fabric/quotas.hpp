// How much of the device process's resources programs may take: each, and all together. Only a program at its
// limit is refused.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "device_model/control/fabric/loan.hpp"
#include "device_model/control/fabric/programs_memory.hpp"

namespace urnic::control {

enum class Resource : std::uint8_t {
  descriptors,        // of this process
  memory,             // bytes: queues, and this process's own objects
  contexts,           // opened devices
  queue_pairs,        // of all devices
  completion_queues,  // of all devices
  admin_connections,
  captures,
  rdma_cm_ids,    // identifiers of rdma_cm and the groups that they have joined
  shared_memory,  // bytes of registered memory that the device process has made (shared_pages.hpp)
};
inline constexpr std::size_t kResources = 9;
inline constexpr std::array<std::string_view, kResources> kResourceNames{
    "descriptors",       "memory",   "contexts",    "queue_pairs",  "completion_queues",
    "admin_connections", "captures", "rdma_cm_ids", "shared_memory"};

// A resource in bytes, whose allowance of 0 is what ProgramsMemory says.
constexpr bool is_in_bytes(Resource resource) {
  return resource == Resource::memory || resource == Resource::shared_memory;
}

struct Allowance {
  std::uint64_t program = 0;  // each program
  std::uint64_t all = 0;      // all programs together
};
using Allowances = std::array<Allowance, kResources>;

// RLIMIT_NOFILE for descriptors; of both kinds of memory 0, which stands for what ProgramsMemory says. One
// program may have half of each.
Allowances default_allowances();

class Account;

// Control thread only, as everything here.
class Quotas {
 public:
  // Memory of 0 is what `memory` says, for a program half of all.
  explicit Quotas(const Allowances& allowances, ProgramsMemory memory = ProgramsMemory())
      : allowances_(allowances), memory_(std::move(memory)) {}
  Quotas(const Quotas&) = delete;
  Quotas& operator=(const Quotas&) = delete;

  // The account of the process `pid`. Processes that a PID namespace hides (0) share one account. It must not
  // outlive this object.
  std::shared_ptr<Account> account(pid_t pid);

  // As of now.
  Allowance allowance(Resource resource);
  std::uint64_t used(Resource resource) const { return used_[index(resource)]; }

  // How often programs have been refused something so far, and of which resource the last time.
  std::uint64_t refusals() const { return refusals_; }
  Resource last_refused() const { return last_refused_; }

 private:
  friend class Account;
  static std::size_t index(Resource resource) { return static_cast<std::size_t>(resource); }

  Allowances allowances_;
  ProgramsMemory memory_;
  std::array<std::uint64_t, kResources> used_{};
  std::uint64_t refusals_ = 0;
  Resource last_refused_ = Resource::memory;
  std::unordered_map<pid_t, std::weak_ptr<Account>> accounts_;
};

// What a program has taken.
struct Taken {
  Resource counted = Resource::memory;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  // of memory
};
using Charge = Loan<Account, Taken, std::shared_ptr<Account>>;

// One program's account.
class Account : public std::enable_shared_from_this<Account> {
 public:
  explicit Account(Quotas& quotas) : quotas_(quotas) {}

  // Takes `count` of `counted` and `bytes` of memory, both or none. Throws std::system_error above the
  // program's limit: EMFILE for descriptors, connections and captures, ENOMEM for the rest.
  Charge charge(Resource counted, std::uint64_t count, std::uint64_t bytes = 0);
  // Whether `charge` would take as much. For what a program has not asked for, so that nothing is refused.
  bool has_room(Resource resource, std::uint64_t amount) const { return may_take(resource, amount); }
  void give_back(const Taken& taken);
  std::uint64_t used(Resource resource) const { return used_[Quotas::index(resource)]; }

  // The program's closed contexts that are being taken down.
  std::uint32_t endings() const { return endings_; }
  void begin_ending() { ++endings_; }
  void finish_ending() { --endings_; }

 private:
  bool may_take(Resource resource, std::uint64_t amount) const;
  [[noreturn]] void refuse(Resource resource);
  void add(Resource resource, std::uint64_t amount);

  Quotas& quotas_;
  std::array<std::uint64_t, kResources> used_{};
  std::uint32_t endings_ = 0;
};

// Memory that an object takes in this process beside its queues, in bytes, rounded up generously.
namespace object_bytes {
inline constexpr std::uint64_t kContext = 64 * 1024;
inline constexpr std::uint64_t kQueuePair = 8 * 1024;
inline constexpr std::uint64_t kQueue = 2 * 1024;     // completion queues, shared receive queues
inline constexpr std::uint64_t kKey = 512;            // memory regions and windows
inline constexpr std::uint64_t kRdmaCmId = 8 * 1024;  // with its connection and its events
}  // namespace object_bytes

}  // namespace urnic::control
