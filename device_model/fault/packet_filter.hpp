// A libpcap filter expression, compiled once.
#pragma once

#include <pcap/pcap.h>

#include <cstddef>
#include <span>
#include <string>

#include "wire/frame.hpp"

namespace urnic::fault {

class PacketFilter {
 public:
  // For Ethernet frames; an empty expression matches all. Throws std::runtime_error with libpcap's message.
  explicit PacketFilter(const std::string& expression);
  ~PacketFilter();
  PacketFilter(const PacketFilter&) = delete;
  PacketFilter& operator=(const PacketFilter&) = delete;

  // `headers` are the first bytes of `frame`. An expression that reads behind them does not match, and none
  // matches a packet of InfiniBand.
  bool matches(std::span<const std::byte> headers, const wire::Frame& frame) const;

 private:
  bpf_program program_{};
  bool any_;
};

}  // namespace urnic::fault
