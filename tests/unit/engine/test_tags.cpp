#include "tests/unit/engine/test_tags.hpp"

#include <algorithm>

namespace urnic::engine::test {

TestTags::TestTags(Program& program, TestSrq& srq, std::uint32_t doorbell, std::uint32_t max_tags,
                   std::uint32_t cqes)
    : cq(cqes, &program.channel.device_end(), &program.async_events.device_end(), 8000),
      program_(program),
      doorbell_(doorbell) {
  device_end = std::make_unique<TagMatching>(TagMatchingConfig{.queue = srq.device_end.get(),
                                                               .completions = cq.device_end.get(),
                                                               .operations = operations.data(),
                                                               .slots = kSlots,
                                                               .indices = &indices,
                                                               .max_tags = max_tags});
  program.engine.execute([&] { program.doorbell_set.attach(doorbell_, *device_end); });
}

TestTags::~TestTags() {
  program_.engine.execute([&] { program_.doorbell_set.detach(doorbell_); });
}

void TestTags::write(const abi::TagOperation& operation) {
  const std::uint32_t producer = indices.producer.load();
  operations[producer % kSlots] = operation;
  indices.producer.store(producer + 1, std::memory_order_release);
}

void TestTags::post(const abi::TagOperation& operation) {
  write(operation);
  program_.doorbells->ring(doorbell_);
}

void TestTags::add(std::uint32_t entry, std::uint64_t tag, std::uint64_t mask,
                   std::span<const abi::ScatterGather> sges, std::uint8_t flags, std::uint32_t unexpected) {
  abi::TagOperation operation{};
  operation.opcode = static_cast<std::uint8_t>(abi::TagOpcode::add);
  operation.flags = flags;
  operation.sge_count = static_cast<std::uint16_t>(sges.size());
  operation.entry = entry;
  operation.unexpected_count = unexpected;
  operation.tag = tag;
  operation.mask = mask;
  std::copy(sges.begin(), sges.end(), operation.sges);
  post(operation);
}

void TestTags::remove(std::uint32_t entry, std::uint8_t flags) {
  abi::TagOperation operation{};
  operation.opcode = static_cast<std::uint8_t>(abi::TagOpcode::remove);
  operation.flags = flags;
  operation.entry = entry;
  post(operation);
}

void TestTags::sync(std::uint32_t unexpected) {
  abi::TagOperation operation{};
  operation.opcode = static_cast<std::uint8_t>(abi::TagOpcode::sync);
  operation.flags = abi::tag_operation_signaled | abi::tag_operation_sync;
  operation.unexpected_count = unexpected;
  post(operation);
}

const abi::TagOperation& TestTags::posted(std::uint32_t back) const {
  return operations[(indices.producer.load() - 1 - back) % kSlots];
}

}  // namespace urnic::engine::test
