// The commands of the kernel's uverbs ABI that a device with the mlx5 face knows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_model/control/mlx5/command.hpp"

namespace urnic::control::mlx5 {

struct CommandRow {
  std::uint32_t number;  // with IB_USER_VERBS_CMD_FLAG_EXTENDED; or abi::uverbs_method
  // The least bytes of the command's parts, without the driver's. If the command came in one part, the
  // driver's begins there.
  std::size_t core_input;
  std::size_t core_answer;
  int (*run)(Command&);
  bool before_context = false;
};

// Null: there is no such command.
const CommandRow* find_command(std::uint32_t number);

}  // namespace urnic::control::mlx5
