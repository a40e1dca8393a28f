#include "device_model/capture/erf_record.hpp"

#include <algorithm>

#include "wire/byte_order.hpp"
#include "wire/infiniband/variant_crc.hpp"

namespace urnic::capture {
namespace {

using wire::infiniband::kVariantCrcBytes;

constexpr std::byte kTypeInfiniband{21};
constexpr std::byte kVariableLength{4};  // the record is as long as it says
constexpr std::byte kTruncated{8};

// Seconds in the upper half, in the lower one parts of a second; the least significant byte first.
void store_time(std::uint64_t nanoseconds, std::byte* to) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const std::uint64_t time = nanoseconds / kSecond << 32 | (nanoseconds % kSecond << 32) / kSecond;
  for (unsigned i = 0; i < 8; ++i) to[i] = static_cast<std::byte>(time >> 8 * i);
}

}  // namespace

std::size_t erf_record_bytes(std::size_t packet_bytes, std::size_t kept) {
  const std::size_t there = kept == packet_bytes ? kept + kVariantCrcBytes : kept;
  return kErfHeaderBytes + ((there + 7) & ~std::size_t{7});
}

void complete_erf_record(std::span<std::byte> record, std::size_t packet_bytes, std::size_t kept,
                         std::uint64_t nanoseconds) {
  store_time(nanoseconds, record.data());
  record[8] = kTypeInfiniband;
  record[9] = kept == packet_bytes ? kVariableLength : kVariableLength | kTruncated;
  wire::store_be16(record.data() + 10, static_cast<std::uint16_t>(record.size()));
  wire::store_be16(record.data() + 12, 0);  // packets lost in front of this one: the capture's file says it
  wire::store_be16(record.data() + 14, static_cast<std::uint16_t>(packet_bytes + kVariantCrcBytes));
  const auto packet = record.subspan(kErfHeaderBytes);
  std::fill(packet.begin() + static_cast<std::ptrdiff_t>(kept), packet.end(), std::byte{0});
  if (kept == packet_bytes) wire::infiniband::store_variant_crc(packet.first(kept), packet.data() + kept);
}

ErfPacket packet_in_erf_record(std::span<const std::byte> record) {
  if (record.size() <= kErfHeaderBytes) return {};
  const std::size_t original = wire::load_be16(record.data() + 14);
  const auto packet = record.subspan(kErfHeaderBytes);
  return {packet.first(std::min(packet.size(), original)), original};
}

}  // namespace urnic::capture
