// A tag-matching SRQ's list of tagged buffers, whose program is the test.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device_model/engine/receives/srq_tag_matching.hpp"
#include "tests/unit/engine/test_srq.hpp"

namespace urnic::engine::test {

class TestTags {
 public:
  static constexpr std::uint32_t kSlots = 64;
  static constexpr std::uint64_t kEveryBit = ~std::uint64_t{0};

  TestTags(Program& program, TestSrq& srq, std::uint32_t doorbell, std::uint32_t max_tags,
           std::uint32_t cqes = 256);
  ~TestTags();

  // Without the doorbell, and with it.
  void write(const abi::TagOperation& operation);
  void post(const abi::TagOperation& operation);
  void add(std::uint32_t entry, std::uint64_t tag, std::uint64_t mask,
           std::span<const abi::ScatterGather> sges, std::uint8_t flags = 0, std::uint32_t unexpected = 0);
  void remove(std::uint32_t entry, std::uint8_t flags = abi::tag_operation_signaled);
  void sync(std::uint32_t unexpected);
  // What the device made of the operation posted last but `back`.
  const abi::TagOperation& posted(std::uint32_t back = 0) const;

  std::vector<abi::TagOperation> operations{kSlots};
  abi::TagMatchingIndices indices{};
  TestCq cq;
  std::unique_ptr<TagMatching> device_end;

 private:
  Program& program_;
  std::uint32_t doorbell_;
};

}  // namespace urnic::engine::test
