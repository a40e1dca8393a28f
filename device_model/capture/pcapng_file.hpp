// A capture file as Wireshark reads it, with several interfaces and comments on packets: pcapng
// (draft-ietf-opsawg-pcapng), one section, nanosecond timestamps, Ethernet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "device_model/capture/frame_file.hpp"

namespace urnic::capture {

// Written by hand, for libpcap writes classic files only. Blocks are put together in a buffer and handed to
// the kernel as whole blocks.
class PcapngFile : public FrameFile {
 public:
  // Creates or truncates `path`; "-" is standard output. The section's header is in the file when this
  // returns. `application` is what the file says it was written by. Throws std::system_error, with the path.
  PcapngFile(const std::string& path, std::string_view application);
  // Flushes; an error is lost here, so who cares calls flush() first.
  ~PcapngFile() override;

  void describe_interfaces(std::span<const Interface> interfaces) override;
  // frame.interface is below the number of interfaces described.
  void write(const CapturedFrame& frame) override;
  void flush() override;

  std::uint64_t records() const { return records_; }

 private:
  void write_section_header(std::string_view application);
  // A block is begun with its type, filled by the put_ functions and ended with its length. An option is a
  // code, a length and a value padded to 32 bits.
  void begin_block(std::uint32_t type);
  void end_block();
  void put_16(std::uint16_t value);
  void put_32(std::uint32_t value);
  void put_padded(const void* bytes, std::size_t size);
  void put_option(std::uint16_t code, std::string_view value);
  [[noreturn]] void fail(int error);

  std::string path_;
  memory::Descriptor file_;
  std::vector<std::byte> buffer_;  // whole blocks, and the one that is being put together
  std::size_t block_ = 0;          // where in the buffer that one begins
  std::uint64_t flushed_ = 0;      // bytes of the file that are whole blocks
  std::uint64_t records_ = 0;
  int error_ = 0;
};

}  // namespace urnic::capture
