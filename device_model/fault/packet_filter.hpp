// A libpcap filter expression, compiled once.
#pragma once

#include <pcap/pcap.h>

#include <cstddef>
#include <span>
#include <string>

namespace urnic::fault {

class PacketFilter {
 public:
  // For Ethernet frames; an empty expression matches all. Throws std::runtime_error with libpcap's message.
  explicit PacketFilter(const std::string& expression);
  ~PacketFilter();
  PacketFilter(const PacketFilter&) = delete;
  PacketFilter& operator=(const PacketFilter&) = delete;

  // `headers` are the first bytes of a frame of `frame_bytes`. An expression that reads behind them does not
  // match.
  bool matches(std::span<const std::byte> headers, std::size_t frame_bytes) const;

 private:
  bpf_program program_{};
  bool any_;
};

}  // namespace urnic::fault
