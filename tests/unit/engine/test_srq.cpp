#include "tests/unit/engine/test_srq.hpp"

#include <cstring>

namespace urnic::engine::test {

TestSrq::TestSrq(Program& program, std::uint32_t count, transport::PdId pd, XrcDomain* domain,
                 CompletionQueue* cq)
    : SharedReceivesEnd(program, count, pd, domain, cq), program_(program) {
  program.engine.execute([&] { device_end->install(); });
}

TestSrq::~TestSrq() {
  program_.engine.execute([&] { device_end.reset(); });
}

void TestSrq::arm(std::uint32_t limit) {
  program_.engine.execute([&] { device_end->arm(limit); });
}

void TestSrq::grow(std::uint32_t count) {
  std::vector<std::byte> more_slots(std::size_t{count} * kSlotSize);
  std::memcpy(more_slots.data(), slots.data(), slots.size());
  std::vector<std::uint32_t> more_posted(count);
  program_.engine.execute([&] { device_end->grow(more_slots.data(), more_posted.data(), count); });
  slots = std::move(more_slots);
  posted = std::move(more_posted);
  slot_count = count;
}

}  // namespace urnic::engine::test
