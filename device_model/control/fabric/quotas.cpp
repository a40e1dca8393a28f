#include "device_model/control/fabric/quotas.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

#include "device_model/control/fabric/limits.hpp"

namespace urnic::control {
namespace {

// The device process's own descriptors: engines, sysfs, the log, sockets.
constexpr std::uint64_t kOwnDescriptors = 128;

std::uint64_t descriptors_of_programs() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kOwnDescriptors;
  return limit.rlim_cur > 2 * kOwnDescriptors ? limit.rlim_cur - kOwnDescriptors : limit.rlim_cur / 2;
}

// A fork copies what a program shares (docs/decisions/shared-pages.md): a second for each GiB.
constexpr std::uint64_t kMostShared = std::uint64_t{1} << 30;

Allowance half_for_each(std::uint64_t all) { return {all / 2, all}; }

}  // namespace

Allowances default_allowances() {
  Allowances allowances;
  const auto set = [&](Resource resource, const Allowance& value) {
    allowances[static_cast<std::size_t>(resource)] = value;
  };
  set(Resource::descriptors, half_for_each(descriptors_of_programs()));
  set(Resource::contexts, half_for_each(16384));
  set(Resource::queue_pairs, half_for_each(limits::kMaxQp));
  set(Resource::completion_queues, half_for_each(limits::kMaxCq));
  set(Resource::admin_connections, half_for_each(1024));
  set(Resource::captures, half_for_each(32));
  // librdmacm numbers up to 65535 in each program.
  set(Resource::rdma_cm_ids, half_for_each(131072));
  return allowances;
}

Allowance Quotas::allowance(Resource resource) {
  Allowance allowance = allowances_[index(resource)];
  if (!is_in_bytes(resource)) return allowance;
  if (allowance.all == 0) allowance.all = memory_.bytes();
  if (allowance.program != 0) return allowance;
  allowance.program = allowance.all / 2;
  if (resource == Resource::shared_memory) allowance.program = std::min(allowance.program, kMostShared);
  return allowance;
}

std::shared_ptr<Account> Quotas::account(pid_t pid) {
  std::erase_if(accounts_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<Account>& known = accounts_[pid];
  std::shared_ptr<Account> account = known.lock();
  if (account == nullptr) known = account = std::make_shared<Account>(*this);
  return account;
}

Charge Account::charge(Resource counted, std::uint64_t count, std::uint64_t bytes) {
  if (!may_take(counted, count)) refuse(counted);
  if (!may_take(Resource::memory, bytes)) refuse(Resource::memory);
  add(counted, count);
  add(Resource::memory, bytes);
  return {shared_from_this(), {counted, count, bytes}};
}

void Account::refuse(Resource resource) {
  ++quotas_.refusals_;
  quotas_.last_refused_ = resource;
  const bool memory = is_in_bytes(resource) || resource == Resource::queue_pairs ||
                      resource == Resource::completion_queues || resource == Resource::rdma_cm_ids;
  const std::string_view name = kResourceNames[Quotas::index(resource)];
  throw std::system_error(memory ? ENOMEM : EMFILE, std::generic_category(),
                          "the program's share of the device process's " + std::string(name));
}

// Modulo 2^64: adding the negative amount subtracts.
void Account::give_back(const Taken& taken) {
  add(taken.counted, -taken.count);
  add(Resource::memory, -taken.bytes);
}

// A program may not have more than is left for all others. So something is always left for the next program,
// whatever others have taken (dynamic thresholds, Choudhury and Hahne, 1998).
bool Account::may_take(Resource resource, std::uint64_t amount) const {
  const Allowance allowance = quotas_.allowance(resource);
  if (amount > allowance.all) return false;
  const std::uint64_t own = used(resource) + amount;
  const std::uint64_t all = quotas_.used(resource) + amount;
  return amount == 0 || (own <= allowance.program && all <= allowance.all && own <= allowance.all - all);
}

void Account::add(Resource resource, std::uint64_t amount) {
  used_[Quotas::index(resource)] += amount;
  quotas_.used_[Quotas::index(resource)] += amount;
}

}  // namespace urnic::control
