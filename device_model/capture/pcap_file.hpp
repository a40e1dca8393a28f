// A capture file as Wireshark and tcpdump read it: classic pcap with nanosecond timestamps, Ethernet.
#pragma once

#include <pcap/pcap.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device_model/capture/capture_ring.hpp"

namespace urnic::capture {

// Only whole records are handed to the kernel, so that a file whose writer was killed is whole.
class PcapFile {
 public:
  // Creates or truncates `path`; "-" is standard output. The file's header is in the file when this returns.
  // Throws std::system_error, with the path.
  explicit PcapFile(const std::string& path);
  // Flushes; an error is lost here, so who cares calls flush() first.
  ~PcapFile();
  PcapFile(const PcapFile&) = delete;
  PcapFile& operator=(const PcapFile&) = delete;

  // Buffers the frame; now and then writes the buffer out. Call flush when no frame follows at once. Throws
  // std::system_error if the file cannot be written (disk full): the file then ends behind the last whole
  // record that went to it, and every later call throws too.
  void write(const CapturedFrame& frame);
  void flush();

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
