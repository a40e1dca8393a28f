// The attributes of a method of ioctl(2) (abi::UverbsAttribute), as its handler reads and answers them.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "device_model/abi/uverbs_messages.hpp"
#include "device_model/control/mlx5/command.hpp"

namespace urnic::control::mlx5 {

class MethodAttributes {
 public:
  // Reads the command's part, which outlives this.
  explicit MethodAttributes(Command& command);

  // The records are none, an attribute comes twice, or one that was asked for has another size.
  bool wrong() const { return wrong_; }
  // Empty: it is not there, or is of another size.
  template <class Number>
  std::optional<Number> number(std::uint16_t id) {
    static_assert(std::is_trivially_copyable_v<Number>);
    const Attribute* const found = find(id);
    if (found == nullptr) return std::nullopt;
    if (found->data.size() != sizeof(Number)) {
      wrong_ = true;
      return std::nullopt;
    }
    Number value;
    std::memcpy(&value, found->data.data(), sizeof value);
    return value;
  }
  // Bytes that the program takes as an answer; empty: it does not ask for this.
  std::optional<std::size_t> room(std::uint16_t id) const;

  // As much as there is room for; nothing if the program does not ask for it.
  void answer(std::uint16_t id, std::span<const std::byte> value);
  template <class Value>
  void answer(std::uint16_t id, const Value& value) {
    answer(id, std::as_bytes(std::span(&value, 1)));
  }
  // In the attribute itself, as a number of 64 bits.
  void answer_handle(std::uint16_t id, std::uint32_t handle) { answer(id, std::uint64_t{handle}); }

 private:
  struct Attribute {
    abi::UverbsAttribute head;
    std::span<const std::byte> data;
  };
  // No method that the device knows has more.
  static constexpr std::size_t kMost = 16;

  bool read(std::span<const std::byte> records);
  const Attribute* find(std::uint16_t id) const;

  Command& command_;
  std::array<Attribute, kMost> attributes_;
  std::size_t count_ = 0;
  bool wrong_ = false;
};

}  // namespace urnic::control::mlx5
