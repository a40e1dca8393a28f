// Classic pcap (draft-ietf-opsawg-pcap, sections 4 and 5).
#include <optional>

#include "analysis/capture_files/capture_format.hpp"

namespace urnic::analysis {
namespace {

constexpr std::size_t kFileHeaderBytes = 24;
constexpr std::size_t kRecordHeaderBytes = 16;
constexpr std::uint32_t kMicroseconds = 0xA1B2C3D4;
constexpr std::uint32_t kNanoseconds = 0xA1B23C4D;
// libpcap's own limit (MAXIMUM_SNAPLEN).
constexpr std::uint32_t kMostPacketBytes = 262144;

class PcapFormat final : public CaptureFormat {
 public:
  PcapFormat(ByteOrder order, std::int64_t unit) : order_(order), unit_(unit) {}

  std::size_t record_bytes(std::span<const std::byte> bytes) override {
    if (interfaces().empty()) return kFileHeaderBytes;
    if (bytes.size() < kRecordHeaderBytes) return 0;
    const std::uint32_t captured = order_.u32(bytes, 8);
    if (captured > kMostPacketBytes) {
      throw CaptureError("a record says that it has " + std::to_string(captured) + " bytes; the most is " +
                         std::to_string(kMostPacketBytes));
    }
    return kRecordHeaderBytes + captured;
  }

  bool read(std::span<const std::byte> record, CapturedPacket& packet) override {
    if (interfaces().empty()) {
      read_file_header(record);
      return false;
    }
    packet.interface = 0;
    packet.comment = {};
    packet.nanoseconds = std::int64_t{order_.u32(record, 0)} * 1'000'000'000 + order_.u32(record, 4) * unit_;
    set_bytes(packet, record.subspan(kRecordHeaderBytes), order_.u32(record, 12));
    return true;
  }

 private:
  void read_file_header(std::span<const std::byte> header) {
    const std::uint16_t major = order_.u16(header, 4);
    if (major != 2) throw CaptureError("pcap version " + std::to_string(major) + "; version 2 is read");
    // The upper bits may say how long a frame check sequence is.
    const std::uint32_t link = order_.u32(header, 20) & 0xFFFF;
    add_interface({.name = {}, .description = {}, .link = static_cast<LinkType>(link), .device = {}});
  }

  ByteOrder order_;
  std::int64_t unit_;  // nanoseconds
};

}  // namespace

std::unique_ptr<CaptureFormat> pcap_format(std::span<const std::byte> beginning) {
  for (const bool big_endian : {false, true}) {
    const ByteOrder order(big_endian);
    const std::uint32_t magic = order.u32(beginning, 0);
    if (magic == kMicroseconds) return std::make_unique<PcapFormat>(order, 1000);
    if (magic == kNanoseconds) return std::make_unique<PcapFormat>(order, 1);
  }
  return nullptr;
}

}  // namespace urnic::analysis
