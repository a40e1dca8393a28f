#include "device_model/capture/pcapng_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace urnic::capture {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

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
constexpr std::uint16_t kEthernet = 1;  // LINKTYPE_ETHERNET
constexpr char kNanoseconds = 9;        // timestamps count 10^-9 seconds
constexpr std::uint32_t kNoSnapshotLimit = 0;

memory::Descriptor open_file(const std::string& path) {
  if (path == "-") return memory::Descriptor(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  return memory::Descriptor(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
}

}  // namespace

PcapngFile::PcapngFile(const std::string& path, std::string_view application)
    : path_(path == "-" ? "standard output" : path), file_(open_file(path)) {
  if (!file_) throw std::system_error(errno, std::system_category(), "capture file " + path_);
  buffer_.reserve(kBufferBytes);
  write_section_header(application);
  flush();
}

PcapngFile::~PcapngFile() {
  try {
    if (error_ == 0) flush();
  } catch (const std::system_error&) {
    // The file has been cut to its whole blocks; there is nobody left to tell.
  }
}

void PcapngFile::write_section_header(std::string_view application) {
  begin_block(kSectionHeader);
  put_32(kByteOrderMagic);
  put_16(1);  // version 1.0
  put_16(0);
  put_32(0xFFFF'FFFF);  // how long the section is, 64 bits: not said, for it is not known
  put_32(0xFFFF'FFFF);
  put_option(kApplication, application);
  put_option(kEndOfOptions, {});
  end_block();
}

void PcapngFile::describe_interfaces(std::span<const Interface> interfaces) {
  if (error_ != 0) fail(error_);
  for (const Interface& interface : interfaces) {
    begin_block(kInterfaceDescription);
    put_16(kEthernet);
    put_16(0);
    put_32(kNoSnapshotLimit);
    put_option(kInterfaceName, interface.name);
    put_option(kInterfaceText, interface.description);
    put_option(kTimestampResolution, std::string_view(&kNanoseconds, 1));
    put_option(kEndOfOptions, {});
    end_block();
  }
  flush();
}

void PcapngFile::write(const CapturedFrame& frame) {
  constexpr std::size_t kLongestBlock = 128 + kMaxFrameBytes + kMaxCommentBytes;
  if (error_ != 0) fail(error_);
  if (frame.bytes.size() > kMaxFrameBytes || frame.comment.size() > kMaxCommentBytes) fail(EMSGSIZE);
  if (buffer_.size() + kLongestBlock > kBufferBytes) flush();
  const auto length = static_cast<std::uint32_t>(frame.bytes.size());
  begin_block(kEnhancedPacket);
  put_32(frame.interface);
  put_32(static_cast<std::uint32_t>(frame.nanoseconds >> 32));
  put_32(static_cast<std::uint32_t>(frame.nanoseconds));
  put_32(length);  // as captured, and as it was
  put_32(length);
  put_padded(frame.bytes.data(), frame.bytes.size());
  if (!frame.comment.empty()) {
    put_option(kComment, frame.comment);
    put_option(kEndOfOptions, {});
  }
  end_block();
  ++records_;
}

void PcapngFile::flush() {
  if (error_ != 0) fail(error_);
  std::size_t written = 0;
  while (written < buffer_.size()) {
    const ssize_t count = ::write(file_.get(), buffer_.data() + written, buffer_.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(errno);
    written += static_cast<std::size_t>(count);
  }
  flushed_ += written;
  buffer_.clear();
}

void PcapngFile::fail(int error) {
  if (error_ == 0) {
    error_ = error;
    buffer_.clear();
    // A pipe cannot be cut; then its reader meets the partial block.
    if (ftruncate(file_.get(), static_cast<off_t>(flushed_)) != 0) errno = 0;
  }
  throw std::system_error(error_, std::system_category(), "capture file " + path_);
}

void PcapngFile::begin_block(std::uint32_t type) {
  block_ = buffer_.size();
  put_32(type);
  put_32(0);  // its length, once it is known
}

// A block has its length at both ends.
void PcapngFile::end_block() {
  const auto length = static_cast<std::uint32_t>(buffer_.size() - block_ + sizeof(std::uint32_t));
  std::memcpy(buffer_.data() + block_ + sizeof(std::uint32_t), &length, sizeof length);
  put_32(length);
}

void PcapngFile::put_16(std::uint16_t value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  buffer_.insert(buffer_.end(), bytes, bytes + sizeof value);
}

void PcapngFile::put_32(std::uint32_t value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  buffer_.insert(buffer_.end(), bytes, bytes + sizeof value);
}

void PcapngFile::put_padded(const void* bytes, std::size_t size) {
  const auto* first = static_cast<const std::byte*>(bytes);
  buffer_.insert(buffer_.end(), first, first + size);
  buffer_.resize((buffer_.size() - block_ + 3) / 4 * 4 + block_);
}

void PcapngFile::put_option(std::uint16_t code, std::string_view value) {
  put_16(code);
  put_16(static_cast<std::uint16_t>(value.size()));
  put_padded(value.data(), value.size());
}

}  // namespace urnic::capture
