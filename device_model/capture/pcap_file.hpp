// A capture file as Wireshark and tcpdump read it: classic pcap (draft-ietf-opsawg-pcap) with nanosecond
// timestamps.
#pragma once

#include <cstdint>
#include <string>

#include "device_model/capture/frame_file.hpp"
#include "device_model/capture/gathered_file.hpp"

namespace urnic::capture {

// Has no place for interfaces and comments. Written by hand, since libpcap copies every frame into a buffer.
class PcapFile final : public FrameFile {
 public:
  // Creates or truncates `path`; "-" is standard output. The file's header is in the file when this returns.
  // `snapshot_bytes`: frames are cut behind so many bytes; 0: they are not. Throws std::system_error, with
  // the path.
  explicit PcapFile(const std::string& path, std::uint32_t snapshot_bytes = 0,
                    LinkType link_type = LinkType::ethernet);

  // All are of the file's link type.
  void describe_interfaces(std::span<const Interface>) override {}
  void write(const CapturedFrame& frame) override;
  void flush() override { file_.flush(); }

 private:
  GatheredFile file_;
};

}  // namespace urnic::capture
