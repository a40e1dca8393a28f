// A libpcap expression, as tcpdump takes it, on Ethernet frames. libpcap knows none for packets of
// InfiniBand.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace urnic::analysis {

class PacketFilter {
 public:
  // Throws CaptureError with libpcap's words if the expression is none.
  explicit PacketFilter(const std::string& expression);
  ~PacketFilter();
  PacketFilter(PacketFilter&&) noexcept;
  PacketFilter& operator=(PacketFilter&&) = delete;

  // `frame`: as far as it was captured; `original_bytes` as on the wire.
  bool matches(std::span<const std::byte> frame, std::size_t original_bytes) const;

 private:
  struct Program;
  std::unique_ptr<Program> program_;
};

}  // namespace urnic::analysis
