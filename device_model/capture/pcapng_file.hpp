// A capture file as Wireshark reads it, with several interfaces and comments on packets: pcapng
// (draft-ietf-opsawg-pcapng), one section, nanosecond timestamps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "device_model/capture/frame_file.hpp"
#include "device_model/capture/gathered_file.hpp"

namespace urnic::capture {

// Written by hand, since libpcap writes classic files only.
class PcapngFile : public FrameFile {
 public:
  // Creates or truncates `path`; "-" is standard output. The section's header is in the file when this
  // returns. `application` is the writing program's name in the file. `snapshot_bytes`: frames are cut
  // behind so many bytes; 0: they are not. Throws std::system_error, with the path.
  PcapngFile(const std::string& path, std::string_view application, std::uint32_t snapshot_bytes = 0);

  void describe_interfaces(std::span<const Interface> interfaces) override;
  // frame.interface must be below the number of interfaces described.
  void write(const CapturedFrame& frame) override;
  void flush() override { file_.flush(); }

 private:
  void write_block(std::uint32_t type, const std::vector<std::byte>& body);

  GatheredFile file_;
  const std::uint32_t snapshot_bytes_;
};

}  // namespace urnic::capture
