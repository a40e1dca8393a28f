// From the bytes of a command to its function.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "device_model/abi/rdma_cm_messages.hpp"
#include "device_model/control/rdma_cm/commands.hpp"

namespace urnic::control::rdma_cm {

struct Answer {
  int error = 0;
  std::size_t length = 0;
  std::size_t further_length = 0;
  alignas(8) std::array<std::byte, abi::kMaxRdmaCmAnswer> storage{};
  alignas(8) std::array<std::byte, abi::kMaxFurtherAnswers> further{};  // further_answers.hpp

  std::span<const std::byte> bytes() const { return std::span(storage).first(length); }
  std::span<const std::byte> further_bytes() const { return std::span(further).first(further_length); }
};

// Runs the command, with its header at the beginning, that a program has written. What is too short, unknown
// or refused harms nothing: the answer has the errno and no bytes.
void dispatch(Session& session, std::span<const std::byte> command, Answer& answer);

}  // namespace urnic::control::rdma_cm
