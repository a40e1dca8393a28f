// One command of the kernel's uverbs ABI (rdma/ib_user_verbs.h), as a handler sees it: the bytes that the
// program has sent and the room for the answer, each in a part of the command's own and one of the driver's.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "device_model/control/uverbs/session.hpp"

namespace urnic::control::mlx5 {

// A part of an answer: as much of what a handler gives as the program has room for.
class AnswerPart {
 public:
  AnswerPart() = default;
  explicit AnswerPart(std::size_t room) : room_(room) {}

  // In a program that knows less of the structure than this device, it ends earlier; as in the kernel.
  template <class T>
  void set(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof value <= kMost);
    length_ = std::min(room_, sizeof value);
    std::memcpy(bytes_.data(), &value, length_);
  }
  // Behind what is there; zeros fill it up to `length`. What finds no room is left out: no handler gives more
  // than there is room for in a message, and a program with less room than the answer has gets no more.
  void append(std::span<const std::byte> part, std::size_t length) {
    const std::size_t most = std::min(room_, kMost) - length_;
    if (length > most) return;
    std::fill_n(std::copy(part.begin(), part.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(length_)),
                length - part.size(), std::byte{0});
    length_ += length;
  }
  std::size_t room() const { return room_; }
  std::span<const std::byte> bytes() const { return std::span(bytes_).first(length_); }

 private:
  static constexpr std::size_t kMost = 512;

  std::size_t room_ = 0;
  std::size_t length_ = 0;
  std::array<std::byte, kMost> bytes_;
};

// What a handler returns that has put an offer to share memory into `region_pages`: the command comes again.
inline constexpr int kRegionPagesFirst = -3;

struct Command {
  Session& session;
  DescriptorExchange& descriptors;
  std::span<const std::byte> core_input;
  std::span<const std::byte> driver_input;
  AnswerPart core{};
  AnswerPart driver{};
  std::uint64_t channel_inode = 0;  // of the completion channel that CREATE_CQ names; 0: none
  const abi::OpenContextRequest* opening = nullptr;  // of GET_CONTEXT
  abi::ContextToken* token = nullptr;                // where GET_CONTEXT says it
  bool pages_shared = false;                         // the program has done what kPagesFirst asks for
  bool pages_refused = false;                        // it cannot: some are shared already, or huge
  abi::Sharing sharing = abi::Sharing::unwilling;    // of REG_MR
  abi::PageRange region_pages{};  // the answer names them: kRegionPagesFirst, or to be made
                                  // private again; length 0: none
};

// What a program has sent, at the beginning of a T; the rest of that is zero.
template <class T>
T begin_of(std::span<const std::byte> input) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value{};
  std::memcpy(&value, input.data(), std::min(input.size(), sizeof value));
  return value;
}

// Whether the program asks for more than a structure of `known` bytes says: other bytes than zero behind it.
inline bool asks_for_more(std::span<const std::byte> input, std::size_t known) {
  if (input.size() <= known) return false;
  const auto rest = input.subspan(known);
  return std::any_of(rest.begin(), rest.end(), [](std::byte each) { return each != std::byte{0}; });
}

}  // namespace urnic::control::mlx5
