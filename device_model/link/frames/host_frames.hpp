// Frames of a round for the host, in the form that its TAP interface takes. TCP segments that follow each
// other become one, as a NIC's large receive offload makes them (Linux: generic receive offload): the kernel
// takes it with one system call, and passes it through its layers once.
#pragma once

#include <sys/uio.h>

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
  explicit HostFrames(std::size_t most_bytes);

  // The bytes of a frame in one piece stay in place until `clear`; a frame in several pieces is copied.
  // False: too many bytes wait, and it is lost.
  bool add(const wire::Frame& frame);
  bool empty() const { return entries_.empty(); }
  void clear();

  // Calls `take` with the pieces of each frame, behind its TapHeader, in order.
  template <typename Take>
  void for_each(Take take) {
    for (const Entry& each : entries_) take(finish(each));
  }

 private:
  struct Entry {
    // In `heads_`: the TapHeader, and the headers of a segment or all of a copied frame.
    std::size_t head = 0;
    std::size_t head_bytes = 0;
    std::size_t first_piece = 0;  // in `pieces_`: kept for the head, then what follows it
    std::size_t pieces = 1;
    std::size_t frame_bytes = 0;
    std::size_t segment_bytes = 0;  // of TCP payload in a segment; 0: no segment that may be joined
    std::uint32_t next_sequence = 0;
    bool is_open = false;  // another segment may follow
    TcpLayout layout{};
  };

  bool joins_last(std::span<const std::byte> frame, const TcpLayout& layout);
  void begin_entry(std::size_t frame_bytes);
  void append_to_head(std::span<const std::byte> bytes);
  void refer_to(std::span<const std::byte> bytes);
  // Of an entry that is a segment.
  std::span<std::byte> headers_of(const Entry& entry) {
    return {heads_.data() + entry.head + sizeof(TapHeader), entry.head_bytes - sizeof(TapHeader)};
  }
  std::span<const iovec> finish(const Entry& entry);

  const std::size_t most_;
  std::size_t waiting_bytes_ = 0;
  std::vector<std::byte> heads_;
  std::vector<iovec> pieces_;
  std::vector<Entry> entries_;
};

}  // namespace urnic::link
