// Frames of a round for the host, in the form that its TAP interface takes. TCP segments that follow each
// other become one, as a NIC's large receive offload makes them (Linux: generic receive offload): the kernel
// takes it with one system call, and passes it through its layers once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device_model/link/frames/tap_header.hpp"
#include "device_model/link/frames/tcp_layout.hpp"
#include "wire/frame.hpp"

namespace urnic::link {

class HostFrames {
 public:
  // Bytes that wait at most.
  explicit HostFrames(std::size_t most_bytes) : most_(most_bytes) {}

  // Copies the frame. False: too many bytes wait, and it is lost.
  bool add(const wire::Frame& frame);
  bool empty() const { return entries_.empty(); }
  void clear();

  // Calls `take` with each frame, behind its TapHeader, in order.
  template <typename Take>
  void for_each(Take take) {
    for (const Entry& each : entries_) take(finish(each));
  }

 private:
  struct Entry {
    std::size_t begin = 0;  // of its TapHeader
    std::size_t frame_bytes = 0;
    std::size_t segment_bytes = 0;  // of TCP payload in a segment; 0: no segment that may be joined
    std::uint32_t next_sequence = 0;
    bool is_open = false;    // another segment may follow
    bool is_joined = false;  // of several segments
    TcpLayout layout{};
  };

  bool joins_last(std::span<const std::byte> frame, const TcpLayout& layout);
  void append(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  std::span<std::byte> frame_of(const Entry& entry) {
    return {bytes_.data() + entry.begin + sizeof(TapHeader), entry.frame_bytes};
  }
  std::span<const std::byte> finish(const Entry& entry);

  const std::size_t most_;
  std::vector<std::byte> bytes_;
  std::vector<Entry> entries_;
};

}  // namespace urnic::link
