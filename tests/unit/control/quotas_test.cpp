// What a program may take of the device process, and what the others still can.
#include "device_model/control/fabric/quotas.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <system_error>
#include <vector>

#include "tests/unit/control/direct_program.hpp"
#include "tests/unit/control/temporary_directory.hpp"

namespace urnic::control::test {
namespace {

Allowances small(std::uint64_t program, std::uint64_t all) {
  Allowances allowances;
  allowances.fill({program, all});
  return allowances;
}

// 0, or the errno with which it is refused.
int error_of(Account& account, std::vector<Charge>& kept, Resource resource, std::uint64_t count,
             std::uint64_t bytes = 0) {
  try {
    kept.push_back(account.charge(resource, count, bytes));
    return 0;
  } catch (const std::system_error& error) {
    return error.code().value();
  }
}

BOOST_AUTO_TEST_SUITE(quotas)

BOOST_AUTO_TEST_CASE(a_program_shares_a_gibibyte_unless_said_otherwise) {
  Quotas quotas(default_allowances());
  const Allowance shared = quotas.allowance(Resource::shared_memory);
  BOOST_TEST(shared.all == quotas.allowance(Resource::memory).all);
  BOOST_TEST(shared.program == std::min(shared.all / 2, std::uint64_t{1} << 30));
  Allowances given = default_allowances();
  given[static_cast<std::size_t>(Resource::shared_memory)] = {3ull << 30, 4ull << 30};
  BOOST_TEST(Quotas(given).allowance(Resource::shared_memory).program == 3ull << 30);
}

BOOST_AUTO_TEST_CASE(what_is_charged_is_given_back) {
  Quotas quotas(small(50, 100));
  {
    const auto account = quotas.account(1);
    const Charge charge = account->charge(Resource::contexts, 2, 30);
    BOOST_TEST(quotas.used(Resource::contexts) == 2u);
    BOOST_TEST(quotas.used(Resource::memory) == 30u);
    BOOST_TEST(account->used(Resource::memory) == 30u);
  }
  BOOST_TEST(quotas.used(Resource::contexts) == 0u);
  BOOST_TEST(quotas.used(Resource::memory) == 0u);
}

BOOST_AUTO_TEST_CASE(a_process_has_one_account) {
  Quotas quotas(small(50, 100));
  const auto account = quotas.account(1);
  BOOST_TEST(quotas.account(1) == account);
  BOOST_TEST(quotas.account(2) != account);
}

BOOST_AUTO_TEST_CASE(a_charge_that_does_not_fit_takes_nothing) {
  Quotas quotas(small(50, 100));
  std::vector<Charge> kept;
  const auto account = quotas.account(1);
  BOOST_TEST(error_of(*account, kept, Resource::contexts, 1, 51) == ENOMEM);
  BOOST_TEST(error_of(*account, kept, Resource::descriptors, 51, 1) == EMFILE);
  BOOST_TEST(error_of(*account, kept, Resource::queue_pairs, 51, 1) == ENOMEM);
  for (std::size_t i = 0; i < kResources; ++i) BOOST_TEST(quotas.used(static_cast<Resource>(i)) == 0u);
}

BOOST_AUTO_TEST_CASE(the_limit_is_what_a_program_may_have) {
  Quotas quotas(small(10, 1000));
  std::vector<Charge> kept;
  const auto account = quotas.account(1);
  for (int i = 0; i < 10; ++i) BOOST_TEST(error_of(*account, kept, Resource::captures, 1) == 0);
  BOOST_TEST(error_of(*account, kept, Resource::captures, 1) == EMFILE);
  BOOST_TEST(error_of(*quotas.account(2), kept, Resource::captures, 1) == 0);
  kept.clear();
  BOOST_TEST(error_of(*account, kept, Resource::captures, 10) == 0);
}

// However many programs take all they can, the next one that asks gets something.
BOOST_AUTO_TEST_CASE(something_is_left_for_a_bystander) {
  Quotas quotas(small(1000, 1000));
  std::vector<Charge> kept;
  std::vector<std::shared_ptr<Account>> greedy;
  for (pid_t pid = 1; pid <= 6; ++pid) {
    greedy.push_back(quotas.account(pid));
    while (error_of(*greedy.back(), kept, Resource::descriptors, 1) == 0) {
    }
    BOOST_TEST(greedy.back()->used(Resource::descriptors) > 0u, pid);
  }
  BOOST_TEST(greedy.front()->used(Resource::descriptors) == 500u);
  BOOST_TEST(error_of(*quotas.account(7), kept, Resource::descriptors, 5) == 0);
}

BOOST_AUTO_TEST_CASE(sixty_four_programs_share_evenly) {
  Quotas quotas(small(1000, 65 * 16));
  std::vector<Charge> kept;
  std::vector<std::shared_ptr<Account>> all;
  for (pid_t pid = 1; pid <= 64; ++pid) {
    all.push_back(quotas.account(pid));
    BOOST_TEST(error_of(*all.back(), kept, Resource::queue_pairs, 16) == 0, pid);
  }
}

BOOST_AUTO_TEST_CASE(a_program_gives_back_all_that_its_objects_cost) {
  Machine machine;
  Quotas& quotas = machine.fabric.quotas();
  {
    OpenProgram program(machine);
    const auto qp = program.create_qp(program.pd, program.cq);
    BOOST_TEST(qp.handle != 0u);
    BOOST_TEST(quotas.used(Resource::contexts) == 1u);
    BOOST_TEST(quotas.used(Resource::queue_pairs) == 1u);
    BOOST_TEST(quotas.used(Resource::completion_queues) == 1u);
    BOOST_TEST(quotas.used(Resource::memory) > object_bytes::kQueuePair);
  }
  for (std::size_t i = 0; i < kResources; ++i) {
    BOOST_TEST(quotas.used(static_cast<Resource>(i)) == 0u, kResourceNames[i]);
  }
}

BOOST_AUTO_TEST_CASE(the_defaults_serve_sixteen_thousand_queue_pairs) {
  Quotas quotas(default_allowances());
  const auto of = [&](Resource resource) { return quotas.allowance(resource); };
  BOOST_TEST(of(Resource::queue_pairs).program >= 16384u);
  BOOST_TEST(of(Resource::completion_queues).program >= 16384u);
  BOOST_TEST(of(Resource::admin_connections).all >= 65u);
  for (std::size_t i = 0; i < kResources; ++i) {
    BOOST_TEST(of(static_cast<Resource>(i)).program > 0u);
    BOOST_TEST(of(static_cast<Resource>(i)).all >= of(static_cast<Resource>(i)).program);
  }
}

// A group whose limit is `path`'s. `period` of 0: each call looks.
struct Group {
  TemporaryDirectory directory;

  Group() {
    std::ofstream(directory.path() / "groups") << "0::/\n";
    std::ofstream(directory.path() / "mounts")
        << "30 1 0:28 / " << directory.path().string() << " rw - cgroup2 cgroup2 rw\n";
  }
  void limit(std::uint64_t bytes) const { std::ofstream(directory.path() / "memory.max") << bytes << "\n"; }
  ProgramsMemory memory() const {
    return ProgramsMemory(
        control_groups::ControlGroups({directory.path() / "groups", directory.path() / "mounts"}),
        std::chrono::milliseconds(0));
  }
};

BOOST_AUTO_TEST_CASE(memory_follows_the_control_group) {
  constexpr std::uint64_t kMebibyte = 1 << 20;
  const Group group;
  group.limit(64 * kMebibyte);
  Quotas quotas(default_allowances(), group.memory());
  const auto account = quotas.account(1);
  std::vector<Charge> kept;
  BOOST_TEST(quotas.allowance(Resource::memory).all == 32 * kMebibyte);
  BOOST_TEST(quotas.allowance(Resource::memory).program == 16 * kMebibyte);
  BOOST_TEST(error_of(*account, kept, Resource::contexts, 1, 10 * kMebibyte) == 0);
  group.limit(16 * kMebibyte);  // less than what is taken
  BOOST_TEST(error_of(*account, kept, Resource::contexts, 1, 1) == ENOMEM);
  BOOST_TEST(error_of(*account, kept, Resource::contexts, 1, 0) == 0);
  group.limit(128 * kMebibyte);
  BOOST_TEST(error_of(*account, kept, Resource::contexts, 1, 10 * kMebibyte) == 0);
}

BOOST_AUTO_TEST_CASE(memory_of_the_configuration_does_not) {
  const Group group;
  group.limit(64 << 20);
  Allowances allowances = default_allowances();
  allowances[static_cast<std::size_t>(Resource::memory)] = {3, 7};
  Quotas all(allowances, group.memory());
  BOOST_TEST(all.allowance(Resource::memory).all == 7u);
  BOOST_TEST(all.allowance(Resource::memory).program == 3u);
  allowances[static_cast<std::size_t>(Resource::memory)] = {3, 0};
  Quotas programs(allowances, group.memory());
  BOOST_TEST(programs.allowance(Resource::memory).all == std::uint64_t{32} << 20);
  BOOST_TEST(programs.allowance(Resource::memory).program == 3u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::control::test
