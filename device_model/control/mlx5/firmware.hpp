// The firmware that the device says it has.
#pragma once

#include <cstdint>

namespace urnic::control::mlx5 {

// 22.35.1012, one that ConnectX-6 Dx cards have; as libmlx5 takes it apart (mlx5_query_device_ex).
inline constexpr std::uint64_t kFirmwareVersion = 22ull << 32 | 35ull << 16 | 1012;

}  // namespace urnic::control::mlx5
