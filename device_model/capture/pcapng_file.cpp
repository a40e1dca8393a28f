#include "device_model/capture/pcapng_file.hpp"

#include <array>
#include <cstring>

namespace urnic::capture {

namespace {

// Block types and option codes of the draft, sections 4.1 to 4.3.
constexpr std::uint32_t kSectionHeader = 0x0A0D0D0A;
constexpr std::uint32_t kInterfaceDescription = 1;
constexpr std::uint32_t kEnhancedPacket = 6;
constexpr std::uint32_t kByteOrderMagic = 0x1A2B3C4D;
constexpr std::uint16_t kEndOfOptions = 0;
constexpr std::uint16_t kComment = 1;
constexpr std::uint16_t kInterfaceName = 2;
constexpr std::uint16_t kInterfaceText = 3;
constexpr std::uint16_t kApplication = 4;
constexpr std::uint16_t kTimestampResolution = 9;
constexpr char kNanoseconds = 9;  // timestamps count 10^-9 seconds

struct BlockHeader {
  std::uint32_t type;
  std::uint32_t length;  // of the whole block; repeated at the block's end
};
constexpr std::size_t kBlockFrame = sizeof(BlockHeader) + sizeof(std::uint32_t);

struct EnhancedPacketHeader {
  BlockHeader block;
  std::uint32_t interface;
  std::uint32_t nanoseconds_high;
  std::uint32_t nanoseconds_low;
  std::uint32_t captured_length;
  std::uint32_t original_length;
};
static_assert(sizeof(EnhancedPacketHeader) == 28);

struct OptionHeader {
  std::uint16_t code;
  std::uint16_t length;  // of the value, which is padded to 32 bits
};

constexpr std::size_t padding(std::size_t size) { return (4 - size % 4) % 4; }
constexpr std::array<std::byte, 3> kPadding{};

void append(std::vector<std::byte>& body, const void* bytes, std::size_t size) {
  const auto* first = static_cast<const std::byte*>(bytes);
  body.insert(body.end(), first, first + size);
}

template <class Number>
void append_number(std::vector<std::byte>& body, Number number) {
  append(body, &number, sizeof number);
}

void append_option(std::vector<std::byte>& body, std::uint16_t code, std::string_view value) {
  const OptionHeader header{code, static_cast<std::uint16_t>(value.size())};
  append(body, &header, sizeof header);
  append(body, value.data(), value.size());
  append(body, kPadding.data(), padding(value.size()));
}

std::size_t comment_bytes(std::string_view comment) {
  if (comment.empty()) return 0;
  return sizeof(OptionHeader) + comment.size() + padding(comment.size()) + sizeof(OptionHeader);
}

}  // namespace

PcapngFile::PcapngFile(const std::string& path, std::string_view application, std::uint32_t snapshot_bytes)
    : file_(path), snapshot_bytes_(snapshot_bytes) {
  std::vector<std::byte> body;
  append_number(body, kByteOrderMagic);
  append_number(body, std::uint16_t{1});  // version 1.0
  append_number(body, std::uint16_t{0});
  append_number(body, ~std::uint64_t{0});  // length of the section: unknown
  append_option(body, kApplication, application);
  append_option(body, kEndOfOptions, {});
  write_block(kSectionHeader, body);
  flush();
}

void PcapngFile::describe_interfaces(std::span<const Interface> interfaces) {
  for (const Interface& interface : interfaces) {
    std::vector<std::byte> body;
    append_number(body, interface.link_type);
    append_number(body, std::uint16_t{0});
    append_number(body, snapshot_bytes_);
    append_option(body, kInterfaceName, interface.name);
    append_option(body, kInterfaceText, interface.description);
    append_option(body, kTimestampResolution, std::string_view(&kNanoseconds, 1));
    append_option(body, kEndOfOptions, {});
    write_block(kInterfaceDescription, body);
  }
  flush();
}

void PcapngFile::write_block(std::uint32_t type, const std::vector<std::byte>& body) {
  const BlockHeader header{type, static_cast<std::uint32_t>(body.size() + kBlockFrame)};
  file_.begin_record();
  file_.put(&header, sizeof header);
  file_.put(body.data(), body.size());
  file_.put(&header.length, sizeof header.length);
}

void PcapngFile::write(const CapturedFrame& frame) {
  const std::size_t size = frame.bytes.size();
  const std::size_t block = sizeof(EnhancedPacketHeader) + size + padding(size) +
                            comment_bytes(frame.comment) + sizeof(std::uint32_t);
  const EnhancedPacketHeader header{{kEnhancedPacket, static_cast<std::uint32_t>(block)},
                                    frame.interface,
                                    static_cast<std::uint32_t>(frame.nanoseconds >> 32),
                                    static_cast<std::uint32_t>(frame.nanoseconds),
                                    static_cast<std::uint32_t>(size),
                                    static_cast<std::uint32_t>(frame.original_bytes)};
  file_.begin_record();
  file_.put(&header, sizeof header);
  file_.refer(frame.bytes);
  file_.put(kPadding.data(), padding(size));
  if (!frame.comment.empty()) {
    const OptionHeader option{kComment, static_cast<std::uint16_t>(frame.comment.size())};
    constexpr OptionHeader kEnd{kEndOfOptions, 0};
    file_.put(&option, sizeof option);
    file_.put(frame.comment.data(), frame.comment.size());
    file_.put(kPadding.data(), padding(frame.comment.size()));
    file_.put(&kEnd, sizeof kEnd);
  }
  file_.put(&header.block.length, sizeof header.block.length);
}

}  // namespace urnic::capture
