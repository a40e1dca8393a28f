// Modes and operations as they are called in tables and messages.
#pragma once

#include <array>
#include <string_view>

#include "device_model/transport/recovery_settings.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::transport::lab {

inline constexpr std::array kModes{RecoveryMode::gbn, RecoveryMode::selective, RecoveryMode::irn,
                                   RecoveryMode::sack};
inline constexpr std::array kOperations{WorkOpcode::rdma_write, WorkOpcode::rdma_read, WorkOpcode::send};
inline constexpr std::array kOperationsWithAtomic{WorkOpcode::rdma_write, WorkOpcode::rdma_read,
                                                  WorkOpcode::send, WorkOpcode::atomic_fetch_add};

inline std::string_view name(RecoveryMode mode) {
  switch (mode) {
    case RecoveryMode::selective:
      return "selective";
    case RecoveryMode::irn:
      return "irn";
    case RecoveryMode::sack:
      return "sack";
    case RecoveryMode::gbn:
      break;
  }
  return "gbn";
}

inline std::string_view name(WorkOpcode operation) {
  switch (operation) {
    case WorkOpcode::rdma_read:
      return "read";
    case WorkOpcode::send:
      return "send";
    case WorkOpcode::atomic_fetch_add:
      return "atomic";
    default:
      return "write";
  }
}

}  // namespace urnic::transport::lab
