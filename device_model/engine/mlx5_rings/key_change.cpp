#include "device_model/engine/mlx5_rings/key_change.hpp"

#include <cstdint>

namespace urnic::engine::mlx5 {
namespace {

using abi::mlx5::DataSegment;
using abi::mlx5::KeyContextSegment;
using abi::mlx5::KeyControlSegment;

constexpr std::uint8_t kWindowFlags = abi::mlx5::kKeyInline | abi::mlx5::kKeyMustBeFree |
                                      abi::mlx5::kKeyAtOffset | abi::mlx5::kKeyOfThisQueuePair;
constexpr std::uint32_t kConsumerByte = 0xFF;  // of an R_Key: what a bind may choose (IBTA 10.6.3.3)

// Values of ibv_access_flags.
constexpr std::uint32_t kRemoteWrite = 2;
constexpr std::uint32_t kRemoteRead = 4;
constexpr std::uint32_t kRemoteAtomic = 8;
constexpr std::uint32_t kZeroBased = 32;

bool is_of_window(const KeyControlSegment& control) {
  constexpr std::uint64_t always = abi::mlx5::kFieldKey | abi::mlx5::kFieldFree;
  const std::uint64_t fields = control.fields.value();
  return (control.flags & ~kWindowFlags) == 0 && (control.flags & abi::mlx5::kKeyInline) != 0 &&
         (fields & always) == always && (fields & ~abi::mlx5::kWindowFields) == 0;
}

// Of the rights that a window has: remote ones. Programs that name the right of local writing, too, get what
// they get from a ConnectX: a window, which no local access goes by.
std::uint32_t access_of(const KeyContextSegment& context, std::uint64_t address) {
  std::uint32_t access = 0;
  if ((context.access & abi::mlx5::kKeyRemoteWrite) != 0) access |= kRemoteWrite;
  if ((context.access & abi::mlx5::kKeyRemoteRead) != 0) access |= kRemoteRead;
  if ((context.access & abi::mlx5::kKeyAtomic) != 0) access |= kRemoteAtomic;
  if (context.start.value() == 0 && address != 0) access |= kZeroBased;
  return access;
}

}  // namespace

bool decode_key_change(SegmentReader reader, wire::Rkey key, transport::SendRequest& request) {
  KeyControlSegment control;
  KeyContextSegment context;
  if (!reader.take(control) || !reader.take(context) || !is_of_window(control)) return false;
  const std::uint32_t chosen = context.qpn_and_key.value() & kConsumerByte;
  const bool unbinds = (context.free & abi::mlx5::kKeyIsFree) != 0;
  if (unbinds && (control.flags & abi::mlx5::kKeyOfThisQueuePair) != 0) {
    request.opcode = transport::WorkOpcode::local_invalidate;
    request.invalidate = key;
    return true;
  }
  request.opcode = transport::WorkOpcode::bind_memory_window;
  request.binding = {};
  request.binding.current = key;
  request.binding.next = wire::Rkey{(key.value & ~kConsumerByte) | chosen};
  if (unbinds) return true;
  DataSegment region;
  if (!reader.take(region)) return false;
  const std::uint64_t address = region.address.value();
  const bool starts_there = context.start.value() == address || context.start.value() == 0;
  if (!starts_there || context.length.value() == 0 || context.length.value() != region.length.value()) {
    return false;
  }
  request.binding.region = transport::Lkey{region.lkey.value()};
  request.binding.address = address;
  request.binding.length = context.length.value();
  request.binding.access = access_of(context, address);
  return true;
}

}  // namespace urnic::engine::mlx5
