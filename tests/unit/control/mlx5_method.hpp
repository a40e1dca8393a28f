// A method of ioctl(2) as the kernel stand-in passes it on (abi::UverbsAttribute), made and answered
// attribute by attribute.
#pragma once

#include <optional>

#include "device_model/abi/uverbs_messages.hpp"
#include "tests/unit/control/mlx5_program.hpp"

namespace urnic::control::test {

class UverbsMethod {
 public:
  UverbsMethod(std::uint32_t object, std::uint32_t method)
      : command{.number = abi::uverbs_method(object, method), .core_room = 512} {}

  UverbsMethod& add(std::uint16_t id, const Bytes& data, std::uint16_t room = 0) {
    const Bytes head = bytes_of(abi::UverbsAttribute{id, static_cast<std::uint16_t>(data.size()), room, 0});
    command.core.insert(command.core.end(), head.begin(), head.end());
    command.core.insert(command.core.end(), data.begin(), data.end());
    command.core.resize((command.core.size() + 7) / 8 * 8);
    return *this;
  }
  template <class Value>
  UverbsMethod& with(std::uint16_t id, const Value& value) {
    return add(id, bytes_of(value));
  }
  UverbsMethod& asking(std::uint16_t id, std::uint16_t room = 8) { return add(id, {}, room); }

  int run(Mlx5Program& program) {
    const int error = program.run(command);
    answer_ = program.core;
    return error;
  }
  // What came of an attribute; empty: nothing, or something of another size.
  template <class Value>
  std::optional<Value> answer(std::uint16_t id) const {
    for (std::size_t at = 0; at + sizeof(abi::UverbsAttribute) <= answer_.size();) {
      abi::UverbsAttribute head;
      std::memcpy(&head, answer_.data() + at, sizeof head);
      at += sizeof head;
      if (head.id == id && head.length == sizeof(Value)) {
        Value value;
        std::memcpy(&value, answer_.data() + at, sizeof value);
        return value;
      }
      at += (head.length + 7u) / 8 * 8;
    }
    return std::nullopt;
  }
  std::uint32_t handle(std::uint16_t id) const {
    return static_cast<std::uint32_t>(answer<std::uint64_t>(id).value_or(0));
  }

  KernelCommand command;

 private:
  Bytes answer_;
};

}  // namespace urnic::control::test
