// Packets out of the bytes of a capture file, as they arrive: classic pcap (microseconds and nanoseconds,
// both byte orders; draft-ietf-opsawg-pcap) and pcapng (draft-ietf-opsawg-pcapng). No I/O: capture_file.hpp
// reads files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/capture_files/captured_packet.hpp"

namespace urnic::analysis {

// How the records of one kind of file are read.
class CaptureFormat;

// Nothing in the bytes is trusted. Holds at most the bytes given to `feed` that no packet was made of, and
// one record.
class CaptureParser {
 public:
  // A record of more bytes than this is an error: neither tcpdump nor Wireshark writes longer ones.
  static constexpr std::size_t kMostRecordBytes = 16 << 20;

  CaptureParser();
  ~CaptureParser();
  CaptureParser(const CaptureParser&) = delete;
  CaptureParser& operator=(const CaptureParser&) = delete;

  // Adds the next bytes of the file.
  void feed(std::span<const std::byte> bytes);
  // Takes the next packet; false if more bytes are needed for one. Throws CaptureError, at this call and all
  // later ones, if the bytes are no capture or a damaged one.
  bool next(CapturedPacket& packet);

  // All interfaces that the file has described so far; a classic file has one without a name. Grows while
  // `next` is called. A second section's interfaces follow those of the first.
  const std::vector<CaptureInterface>& interfaces() const;
  // Bytes that were fed and belong to no whole record yet. If the file has ended, it ends within a record.
  std::size_t rest() const { return data_.size() - begin_; }
  // Packets so far.
  std::uint64_t packets() const { return packets_; }

 private:
  bool recognise();
  [[noreturn]] void fail(const std::string& what);

  std::vector<std::byte> data_;  // what was fed, from begin_ on not yet used
  std::size_t begin_ = 0;
  std::uint64_t position_ = 0;  // of begin_ in the file
  std::uint64_t packets_ = 0;
  std::unique_ptr<CaptureFormat> format_;
  std::string error_;
};

}  // namespace urnic::analysis
