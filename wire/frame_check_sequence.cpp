#include "wire/frame_check_sequence.hpp"

#include <cstdint>

#include "wire/icrc.hpp"

namespace urnic::wire {

std::array<std::byte, kFrameCheckBytes> frame_check_sequence(std::span<const std::byte> frame) {
  const std::uint32_t crc = crc32(frame);
  std::array<std::byte, kFrameCheckBytes> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(crc >> (8 * i));
  return bytes;
}

}  // namespace urnic::wire
