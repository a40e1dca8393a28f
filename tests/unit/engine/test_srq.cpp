#include "tests/unit/engine/test_srq.hpp"

#include <cstring>

namespace urnic::engine::test {

TestSrq::TestSrq(Program& program, std::uint32_t count, transport::PdId pd, XrcDomain* domain,
                 CompletionQueue* cq)
    : slot_count(count), slots(std::size_t{count} * kSlotSize), posted(count), program_(program) {
  device_end = std::make_unique<SharedReceiveQueue>(
      SharedReceiveQueueConfig{.device = &program.device.resources(),
                               .pd = pd,
                               .slots = slots.data(),
                               .posted = posted.data(),
                               .slot_count = count,
                               .slot_size = kSlotSize,
                               .producer = &indices.producer,
                               .async_events = &program.async_events.device_end(),
                               .user_handle = kUserHandle,
                               .xrc_domain = domain,
                               .cq = cq,
                               .several_processes = &program.several_processes});
  program.engine.execute([&] { device_end->install(); });
}

TestSrq::~TestSrq() {
  program_.engine.execute([&] { device_end.reset(); });
}

void TestSrq::write(std::uint32_t slot, std::span<const abi::ScatterGather> sges) {
  std::byte* const place = slots.data() + std::size_t{slot} * kSlotSize;
  const abi::ReceiveWqe head{.sge_count = static_cast<std::uint32_t>(sges.size()), .reserved = {}};
  std::memcpy(place, &head, sizeof head);
  if (!sges.empty()) std::memcpy(place + sizeof head, sges.data(), sges.size_bytes());
}

void TestSrq::publish(std::uint32_t number) {
  const std::uint32_t producer = indices.producer.load();
  posted[producer & (slot_count - 1)] = number;
  indices.producer.store(producer + 1, std::memory_order_release);
}

void TestSrq::post(std::uint32_t slot, std::span<const abi::ScatterGather> sges) {
  write(slot, sges);
  publish(slot);
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
