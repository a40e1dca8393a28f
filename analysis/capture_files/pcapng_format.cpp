// pcapng (draft-ietf-opsawg-pcapng, section 4).
#include <cstring>
#include <utility>

#include "analysis/capture_files/capture_format.hpp"
#include "analysis/capture_files/capture_parser.hpp"
#include "terminal/harmless_text.hpp"

namespace urnic::analysis {
namespace {

constexpr std::uint32_t kSectionHeader = 0x0A0D0D0A;  // reads the same in both byte orders
constexpr std::uint32_t kInterfaceDescription = 1;
constexpr std::uint32_t kObsoletePacket = 2;
constexpr std::uint32_t kSimplePacket = 3;
constexpr std::uint32_t kEnhancedPacket = 6;
constexpr std::uint32_t kByteOrderMagic = 0x1A2B3C4D;

constexpr std::uint16_t kEndOfOptions = 0;
constexpr std::uint16_t kComment = 1;
constexpr std::uint16_t kInterfaceName = 2;
constexpr std::uint16_t kInterfaceText = 3;
constexpr std::uint16_t kTimestampResolution = 9;
constexpr std::uint16_t kTimestampOffset = 14;

constexpr std::size_t kBlockHeaderBytes = 8;
constexpr std::size_t kLeastBlockBytes = 12;
constexpr std::size_t kByteOrderOffset = 8;
// Comments are for people; a longer one is cut.
constexpr std::size_t kMostCommentBytes = 4096;

constexpr std::size_t padded(std::size_t size) { return (size + 3) & ~std::size_t{3}; }

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// For terminals.
std::string harmless(std::string_view text) {
  return terminal::harmless(std::string(text.substr(0, kMostCommentBytes)), ' ');
}

// What a section says of an interface beyond CaptureInterface.
struct Clock {
  std::uint64_t units_per_second = 1'000'000;
  std::int64_t offset_seconds = 0;
};

// if_tsresol: a negative power of ten, or of two if the first bit is set.
std::uint64_t units_per_second(std::uint8_t resolution) {
  const unsigned exponent = resolution & 0x7F;
  const bool binary = (resolution & 0x80) != 0;
  if (exponent > (binary ? 63U : 19U))
    throw CaptureError("an interface's timestamps are finer than 64 bits can count");
  if (binary) return std::uint64_t{1} << exponent;
  std::uint64_t units = 1;
  for (unsigned i = 0; i < exponent; ++i) units *= 10;
  return units;
}

std::int64_t nanoseconds_of(std::uint64_t units, const Clock& clock) {
  const std::uint64_t seconds = units / clock.units_per_second;
  __extension__ using Wide = unsigned __int128;
  const auto rest = static_cast<std::uint64_t>(Wide{units % clock.units_per_second} * 1'000'000'000 /
                                               clock.units_per_second);
  // Of two times that are read, 64 bits hold the difference.
  constexpr std::uint64_t kMostSeconds = 0xFFFF'FFFF;  // as in a pcap file
  const Wide after_epoch = Wide{seconds} + static_cast<Wide>(clock.offset_seconds);
  if (after_epoch > kMostSeconds)
    throw CaptureError("a packet's time is not between the years 1970 and 2106");
  return static_cast<std::int64_t>(after_epoch) * 1'000'000'000 + static_cast<std::int64_t>(rest);
}

class PcapngFormat final : public CaptureFormat {
 public:
  std::size_t record_bytes(std::span<const std::byte> bytes) override;
  bool read(std::span<const std::byte> record, CapturedPacket& packet) override;

 private:
  void begin_section(std::span<const std::byte> block);
  void read_interface(std::span<const std::byte> block);
  bool read_enhanced(std::span<const std::byte> block, CapturedPacket& packet);
  bool read_simple(std::span<const std::byte> block, CapturedPacket& packet);
  void set_packet(std::span<const std::byte> bytes, std::uint32_t captured, std::uint32_t original,
                  CapturedPacket& packet);
  // Calls `use(code, value)` for each option in `bytes`.
  template <class Use>
  void read_options(std::span<const std::byte> bytes, Use use) const;

  ByteOrder order_;
  std::size_t first_interface_ = 0;  // of the section
  std::vector<Clock> clocks_;        // of all interfaces
  std::string comment_;
};

std::size_t PcapngFormat::record_bytes(std::span<const std::byte> bytes) {
  if (bytes.size() < kLeastBlockBytes) return 0;
  if (order_.u32(bytes, 0) == kSectionHeader) {
    const bool big = ByteOrder(true).u32(bytes, kByteOrderOffset) == kByteOrderMagic;
    order_ = ByteOrder(big);
    if (order_.u32(bytes, kByteOrderOffset) != kByteOrderMagic)
      throw CaptureError("a pcapng section header without the byte-order magic 0x1A2B3C4D");
  }
  const std::uint32_t length = order_.u32(bytes, 4);
  if (length < kLeastBlockBytes || length % 4 != 0 || length > CaptureParser::kMostRecordBytes)
    throw CaptureError("a pcapng block says that it has " + std::to_string(length) + " bytes");
  return length;
}

bool PcapngFormat::read(std::span<const std::byte> record, CapturedPacket& packet) {
  if (order_.u32(record, record.size() - 4) != record.size())
    throw CaptureError("the two lengths of a pcapng block differ");
  const auto block = record.first(record.size() - 4).subspan(kBlockHeaderBytes);
  switch (order_.u32(record, 0)) {
    case kSectionHeader:
      begin_section(block);
      return false;
    case kInterfaceDescription:
      read_interface(block);
      return false;
    case kEnhancedPacket:
      return read_enhanced(block, packet);
    case kSimplePacket:
      return read_simple(block, packet);
    case kObsoletePacket:
      throw CaptureError("a pcapng packet block of the obsolete kind 2; write the file anew: editcap IN OUT");
    default:  // statistics, name resolution, secrets, other makers' blocks
      return false;
  }
}

void PcapngFormat::begin_section(std::span<const std::byte> block) {
  if (block.size() < 16) throw CaptureError("a pcapng section header is cut short");
  const std::uint16_t major = order_.u16(block, 4);
  if (major != 1) throw CaptureError("pcapng version " + std::to_string(major) + "; version 1 is read");
  first_interface_ = interfaces().size();
}

void PcapngFormat::read_interface(std::span<const std::byte> block) {
  if (block.size() < 8) throw CaptureError("a pcapng interface description is cut short");
  CaptureInterface interface {
    .name = {}, .description = {}, .link = static_cast<LinkType>(order_.u16(block, 0)), .device = {}
  };
  Clock clock;
  read_options(block.subspan(8), [&](std::uint16_t code, std::span<const std::byte> value) {
    if (code == kInterfaceName) interface.name = harmless(text_of(value));
    if (code == kInterfaceText) interface.description = harmless(text_of(value));
    if (code == kTimestampResolution && !value.empty())
      clock.units_per_second = units_per_second(std::to_integer<std::uint8_t>(value[0]));
    if (code == kTimestampOffset && value.size() == 8) {
      const std::uint64_t low = order_.u32(value, 0);
      const std::uint64_t high = order_.u32(value, 4);
      const bool big = ByteOrder(true).u32(value, 0) == low;
      clock.offset_seconds = static_cast<std::int64_t>(big ? low << 32 | high : high << 32 | low);
    }
  });
  add_interface(std::move(interface));
  clocks_.push_back(clock);
}

bool PcapngFormat::read_enhanced(std::span<const std::byte> block, CapturedPacket& packet) {
  if (block.size() < 20) throw CaptureError("a pcapng packet block is cut short");
  const std::uint64_t interface = first_interface_ + order_.u32(block, 0);
  if (interface >= interfaces().size())
    throw CaptureError("a packet of interface " + std::to_string(order_.u32(block, 0)) +
                       ", which the section has not described");
  packet.interface = static_cast<std::uint32_t>(interface);
  const std::uint64_t units = std::uint64_t{order_.u32(block, 4)} << 32 | order_.u32(block, 8);
  packet.nanoseconds = nanoseconds_of(units, clocks_[interface]);
  const std::uint32_t captured = order_.u32(block, 12);
  set_packet(block.subspan(20), captured, order_.u32(block, 16), packet);
  comment_.clear();
  read_options(block.subspan(20 + padded(captured)),
               [&](std::uint16_t code, std::span<const std::byte> value) {
                 if (code != kComment || comment_.size() > kMostCommentBytes) return;
                 if (!comment_.empty()) comment_ += "; ";
                 comment_ += harmless(text_of(value));
               });
  packet.comment = comment_;
  return true;
}

bool PcapngFormat::read_simple(std::span<const std::byte> block, CapturedPacket& packet) {
  if (block.size() < 4) throw CaptureError("a pcapng packet block is cut short");
  if (first_interface_ == interfaces().size())
    throw CaptureError("a packet before the section has described an interface");
  packet.interface = static_cast<std::uint32_t>(first_interface_);
  packet.nanoseconds = 0;
  packet.comment = {};
  const std::uint32_t original = order_.u32(block, 0);
  const std::size_t there = block.size() - 4;
  const auto captured = static_cast<std::uint32_t>(original < there ? original : there);
  set_packet(block.subspan(4), captured, original, packet);
  return true;
}

void PcapngFormat::set_packet(std::span<const std::byte> bytes, std::uint32_t captured,
                              std::uint32_t original, CapturedPacket& packet) {
  if (padded(captured) > bytes.size())
    throw CaptureError("a packet of " + std::to_string(captured) +
                       " bytes in a pcapng block that is shorter");
  set_bytes(packet, bytes.first(captured), original);
}

template <class Use>
void PcapngFormat::read_options(std::span<const std::byte> bytes, Use use) const {
  while (bytes.size() >= 4) {
    const std::uint16_t code = order_.u16(bytes, 0);
    const std::size_t length = order_.u16(bytes, 2);
    if (code == kEndOfOptions) return;
    if (4 + padded(length) > bytes.size())
      throw CaptureError("an option of " + std::to_string(length) +
                         " bytes in a pcapng block that is shorter");
    use(code, bytes.subspan(4, length));
    bytes = bytes.subspan(4 + padded(length));
  }
}

}  // namespace

std::unique_ptr<CaptureFormat> pcapng_format(std::span<const std::byte> beginning) {
  if (ByteOrder().u32(beginning, 0) != kSectionHeader) return nullptr;
  return std::make_unique<PcapngFormat>();
}

}  // namespace urnic::analysis
