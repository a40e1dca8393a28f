// The end of a context, in portions between which other programs are served.
#include "device_model/control/objects/program_context.hpp"

#include <boost/test/unit_test.hpp>

#include "device_model/control/objects/removal.hpp"
#include "tests/unit/control/direct_program.hpp"

namespace urnic::control::test {
namespace context_end {

constexpr std::size_t kObjects = 1000;
constexpr std::size_t kQueuePairs = 100;
constexpr std::size_t kQueuePairsAtOnce = 16;

struct WithObjects {
  Machine machine;
  OpenProgram bystander{machine};
  OpenProgram program{machine};
  std::vector<std::byte> memory = std::vector<std::byte>(4096);

  WithObjects() {
    for (std::size_t i = 0; i < kQueuePairs; ++i) program.create_qp(program.pd, program.cq);
    for (std::size_t i = 0; i < kObjects; ++i) {
      abi::RegisterMrReply region{};
      program.register_mr(program.pd, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE, region);
      abi::AllocateMwReply window{};
      program.call(ControlOpcode::allocate_mw, abi::AllocateMwRequest{program.pd, IBV_MW_TYPE_2}, window);
      program.create_cq();
    }
  }
  ObjectCounts counts() { return program.session().context->counts(); }
};

std::size_t all_but_queue_pairs(const ObjectCounts& counts) { return counts.mr + counts.mw + counts.cq; }

BOOST_FIXTURE_TEST_SUITE(context_end, WithObjects)

BOOST_AUTO_TEST_CASE(no_portion_takes_more_than_its_share) {
  BOOST_REQUIRE_EQUAL(counts().qp, kQueuePairs);
  BOOST_REQUIRE_EQUAL(all_but_queue_pairs(counts()), 3 * kObjects + 1);
  abi::CreateQpReply own = bystander.create_qp(bystander.pd, bystander.cq);
  abi::QueryQpReply answer{};
  ObjectCounts before = counts();
  while (program.session().context->remove_portion()) {
    const ObjectCounts after = counts();
    BOOST_TEST(before.qp - after.qp <= kQueuePairsAtOnce);
    BOOST_TEST(all_but_queue_pairs(before) - all_but_queue_pairs(after) <= kPortion);
    BOOST_TEST(bystander.call(ControlOpcode::query_qp, abi::HandleRequest{own.handle, 0}, answer) == 0);
    before = after;
  }
  BOOST_TEST(counts().qp == 0u);
  BOOST_TEST(all_but_queue_pairs(counts()) == 0u);
}

BOOST_AUTO_TEST_CASE(a_context_may_end_in_the_middle_of_it) {
  const ServedDevice& device = *machine.fabric.devices()[0];
  BOOST_REQUIRE_EQUAL(device.queue_pairs.used(), kQueuePairs);
  for (int i = 0; i < 3; ++i) BOOST_TEST(program.session().context->remove_portion());
  program.session().context.reset();
  BOOST_TEST(device.queue_pairs.used() == 0u);
  BOOST_TEST(device.memory_regions.used() == 0u);
  BOOST_TEST(device.memory_windows.used() == 0u);
  BOOST_TEST(device.completion_queues.used() == 1u);  // the bystander's
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace context_end
}  // namespace urnic::control::test
