// Takes one segment after the other off the front of a WQE's private copy.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

#include "device_model/abi/mlx5/send_wqe.hpp"

namespace urnic::engine::mlx5 {

class SegmentReader {
 public:
  explicit SegmentReader(std::span<std::byte> wqe) : rest_(wqe) {}

  bool empty() const { return rest_.empty(); }
  std::span<std::byte> rest() const { return rest_; }

  // False: too few bytes are left.
  template <typename Segment>
  bool read(Segment& segment) const {
    static_assert(std::is_trivially_copyable_v<Segment>);
    if (rest_.size() < sizeof segment) return false;
    std::memcpy(&segment, rest_.data(), sizeof segment);
    return true;
  }
  template <typename Segment>
  bool take(Segment& segment) {
    return read(segment) && skip(sizeof segment);
  }
  bool skip(std::size_t bytes) {
    if (rest_.size() < bytes) return false;
    rest_ = rest_.subspan(bytes);
    return true;
  }

 private:
  std::span<std::byte> rest_;
};

// `bytes` filled up to whole units.
constexpr std::size_t in_units(std::size_t bytes) {
  return (bytes + abi::mlx5::kUnitBytes - 1) / abi::mlx5::kUnitBytes * abi::mlx5::kUnitBytes;
}

}  // namespace urnic::engine::mlx5
