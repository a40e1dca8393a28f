// A capture file as Wireshark and tcpdump read it: classic pcap with nanosecond timestamps, Ethernet.
#pragma once

#include <pcap/pcap.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device_model/capture/frame_file.hpp"

namespace urnic::capture {

// It has no place for interfaces and comments.
class PcapFile final : public FrameFile {
 public:
  // Creates or truncates `path`; "-" is standard output. The file's header is in the file when this returns.
  // Throws std::system_error, with the path.
  explicit PcapFile(const std::string& path);
  // Flushes; an error is lost here, so who cares calls flush() first.
  ~PcapFile() override;

  void describe_interfaces(std::span<const Interface>) override {}
  void write(const CapturedFrame& frame) override;
  void flush() override;

  std::uint64_t records() const { return records_; }

 private:
  struct ClosePcap {
    void operator()(pcap_t* handle) const { pcap_close(handle); }
  };
  struct CloseDump {
    void operator()(pcap_dumper_t* dump) const { pcap_dump_close(dump); }
  };
  [[noreturn]] void fail(int error);

  std::string path_;
  std::vector<char> buffer_;  // outlives dump_, whose stream uses it
  std::unique_ptr<pcap_t, ClosePcap> handle_;
  std::unique_ptr<pcap_dumper_t, CloseDump> dump_;
  std::size_t buffered_ = 0;
  std::uint64_t flushed_ = 0;  // bytes of the file that are whole records
  std::uint64_t records_ = 0;
  int error_ = 0;
};

}  // namespace urnic::capture
