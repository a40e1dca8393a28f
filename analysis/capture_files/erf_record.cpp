#include "analysis/capture_files/erf_record.hpp"

#include <algorithm>
#include <string>

#include "analysis/capture_files/capture_error.hpp"
#include "wire/byte_order.hpp"

namespace urnic::analysis {
namespace {

constexpr std::size_t kHeaderBytes = 16;
constexpr std::size_t kTypeAt = 8;
constexpr std::size_t kRecordLengthAt = 10;
constexpr std::size_t kWireLengthAt = 14;
constexpr std::size_t kFurtherHeaderBytes = 8;
// Of a type, and of the first byte of a further header: another one follows.
constexpr unsigned kFurtherHeader = 0x80;
constexpr unsigned kTypeInfiniband = 21;

unsigned byte_at(std::span<const std::byte> record, std::size_t at) {
  return std::to_integer<unsigned>(record[at]);
}

// Behind all headers; behind the record's end if they are cut.
std::size_t end_of_headers(std::span<const std::byte> record) {
  std::size_t end = kHeaderBytes;
  bool another = (byte_at(record, kTypeAt) & kFurtherHeader) != 0;
  for (; another && end < record.size(); end += kFurtherHeaderBytes)
    another = (byte_at(record, end) & kFurtherHeader) != 0;
  return end;
}

}  // namespace

ErfPacket infiniband_packet(std::span<const std::byte> record) {
  if (record.size() < kHeaderBytes) return {};
  const unsigned type = byte_at(record, kTypeAt) & ~kFurtherHeader;
  if (type != kTypeInfiniband) {
    throw CaptureError("an ERF record of type " + std::to_string(type) + "; read is InfiniBand (" +
                       std::to_string(kTypeInfiniband) + ")");
  }
  const std::size_t length = wire::load_be16(&record[kRecordLengthAt]);
  if (length < kHeaderBytes)
    throw CaptureError("an ERF record says that it has " + std::to_string(length) + " bytes");
  const std::size_t end = end_of_headers(record);
  const std::size_t there = std::min(length, record.size());
  if (end > there) return {};
  const std::uint16_t original = wire::load_be16(&record[kWireLengthAt]);
  return {record.subspan(end, std::min<std::size_t>(there - end, original)), original};
}

}  // namespace urnic::analysis
