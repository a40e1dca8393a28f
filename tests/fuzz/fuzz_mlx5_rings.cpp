// Any bytes as the rings of a program that drives its device as libmlx5 does: a send ring, a receive ring and
// a shared receive ring. Whatever is there, requests refer to private memory alone, their lengths add up, no
// more is taken than was posted, and what is shown to people can be read.
//
// An input is one byte each for the service and the sizes of the rings, two for each of the three producer
// indices, and the rings.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "device_model/engine/mlx5_rings/receive_ring.hpp"
#include "device_model/engine/mlx5_rings/send_ring.hpp"
#include "device_model/engine/mlx5_rings/shared_receive_ring.hpp"
#include "device_model/transport/message_memory.hpp"
#include "tests/fuzz/require.hpp"

namespace {

using namespace urnic::engine::mlx5;
using urnic::abi::mlx5::SharedBig32;
using urnic::engine::PostedSharedReceives;
using urnic::fuzz::require;
using urnic::transport::ReceiveRequest;
using urnic::transport::SendRequest;
using urnic::transport::Sge;

class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  std::uint32_t byte() {
    if (bytes_.empty()) return 0;
    const std::uint8_t value = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return value;
  }
  std::uint32_t half() { return byte() << 8 | byte(); }
  // In memory of exactly this length, so that the sanitizer sees a read behind it.
  std::vector<std::byte> ring(std::size_t size) {
    std::vector<std::byte> made(size);
    const std::size_t given = std::min(size, bytes_.size());
    if (given != 0) std::memcpy(made.data(), bytes_.data(), given);
    bytes_ = bytes_.subspan(given);
    return made;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

bool is_within(const void* at, std::size_t bytes, const std::vector<std::byte>& ring) {
  const auto* const begin = static_cast<const std::byte*>(at);
  return bytes != 0 && !ring.empty() && begin < ring.data() + ring.size() && begin + bytes > ring.data();
}

std::uint64_t length_of(std::span<const Sge> sges) {
  std::uint64_t length = 0;
  for (const Sge& sge : sges) length += sge.length;
  return length;
}

// The sum of all bytes, so that each is read.
void read_all(std::span<const std::byte> bytes) {
  unsigned sum = 0;
  for (const std::byte byte : bytes) sum += std::to_integer<unsigned>(byte);
  require(sum <= bytes.size() * 255, "a byte is larger than 255");
}

void check_sends(Input& input, std::uint32_t service, std::uint32_t blocks, std::uint32_t producer) {
  const std::vector<std::byte> ring = input.ring(std::size_t{blocks} * 64);
  SharedBig32 record{};
  record.store(producer, std::memory_order_relaxed);
  SendRing device({.ring = ring.data(),
                   .blocks = blocks,
                   .producer = &record,
                   .service = static_cast<urnic::transport::QpService>(service)});
  device.doorbell();
  device.queued();
  std::uint32_t taken = 0;
  for (SendRequest request; device.next(request); ++taken) {
    require(taken < blocks, "more WQEs than blocks");
    require(request.index == taken, "indices do not follow each other");
    require(request.sges.size() <= urnic::transport::kMaxSges, "too many segments");
    require(request.length == request.inline_data.size() + length_of(request.sges), "a wrong length");
    require(!request.malformed || request.length == 0, "a malformed request has data");
    require(request.is_inline == !request.inline_data.empty(), "inline or not");
    require(!is_within(request.inline_data.data(), request.inline_data.size(), ring),
            "inline data is shared");
    require(!is_within(request.sges.data(), request.sges.size_bytes(), ring), "segments are shared");
    read_all(request.inline_data);
    if (taken % 3 == 0) device.retire(request.index);
  }
  device.queued();
  device.reset();
}

void check_receives(Input& input, std::uint32_t slots, std::uint32_t stride, std::uint32_t producer) {
  const std::vector<std::byte> ring = input.ring(std::size_t{slots} * stride);
  SharedBig32 record{};
  record.store(producer, std::memory_order_relaxed);
  ReceiveRing device({.ring = ring.data(), .slots = slots, .stride = stride, .producer = &record});
  device.queued();
  std::uint32_t taken = 0;
  for (ReceiveRequest request; device.next(request); ++taken) {
    require(taken < slots, "more WQEs than slots");
    require(request.sges.size() <= stride / 16, "more segments than a slot has");
    require(request.length == length_of(request.sges), "a wrong length");
    require(!is_within(request.sges.data(), request.sges.size_bytes(), ring), "segments are shared");
  }
  require(device.available() == 0, "what is available can be taken");
}

void check_shared_receives(Input& input, std::uint32_t slots, std::uint32_t stride, std::uint32_t producer) {
  const std::vector<std::byte> ring = input.ring(std::size_t{slots} * stride);
  SharedBig32 record{};
  record.store(producer, std::memory_order_relaxed);
  SharedReceiveRing device(
      {.slots = ring.data(), .slot_count = slots, .stride = stride, .producer = &record});
  std::uint32_t slot = 0;
  std::uint32_t taken = 0;
  for (; device.next(slot) == PostedSharedReceives::Look::found; ++taken) {
    require(taken < slots, "more WQEs than slots");
    if (slot >= slots) continue;
    ReceiveRequest request;
    device.read(slot, request);
    require(request.sges.size() <= stride / 16 - 1, "more segments than a slot has");
    require(request.length == length_of(request.sges), "a wrong length");
    require(!is_within(request.sges.data(), request.sges.size_bytes(), ring), "segments are shared");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input({data, size});
  const std::uint32_t service = input.byte() % 6;
  const std::uint32_t sizes = input.byte();
  const std::uint32_t count = 1u << sizes % 6;
  const std::uint32_t stride = 32u << sizes / 8 % 4;
  const std::uint32_t sends = input.half();
  const std::uint32_t receives = input.half();
  const std::uint32_t shared = input.half();
  check_sends(input, service, count, sends);
  check_receives(input, count, stride, receives);
  check_shared_receives(input, count, stride, shared);
  return 0;
}
