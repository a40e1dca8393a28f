// A packet as a capture file holds it, and the interface on which it was seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "wire/network_headers.hpp"

namespace urnic::analysis {

// What the bytes of a packet begin with (LINKTYPE_ values of pcap and pcapng).
enum class LinkType : std::uint16_t {
  ethernet = 1,
  raw_ip = 101,
  linux_cooked = 113,
  erf = 197,  // of InfiniBand (erf_record.hpp)
  ipv4 = 228,
  ipv6 = 229,
  infiniband = 247,  // from the LRH on
  linux_cooked2 = 276,
};

// Whether packets of this type can be read (link_frame.hpp).
bool is_supported(LinkType type);

// Where urnic saw a packet on its way (docs/captures.md). `unknown`: the file does not say, as files of other
// programs and classic files do not.
enum class CapturePoint : std::uint8_t { unknown, before, after, dropped };

struct CaptureInterface {
  std::string name;         // "urnic0/before"; empty in a file without names
  std::string description;  // in words, or empty
  LinkType link = LinkType::ethernet;
  CapturePoint point = CapturePoint::unknown;  // by the name's end
  std::string device;                          // "urnic0", if the name tells a point
};

// The interface of that name; device and point follow from it.
CaptureInterface named_interface(std::string name, std::string description,
                                 LinkType link = LinkType::ethernet);

// Views: `bytes` and `comment` belong to the reader and live until its next call.
struct CapturedPacket {
  std::uint64_t number = 0;          // in the file, from 1, as Wireshark counts
  std::int64_t nanoseconds = 0;      // since the Unix epoch; 0 if the file has no time for the packet
  std::uint32_t interface = 0;       // index into the reader's interfaces
  std::uint32_t original_bytes = 0;  // on the wire; more than bytes.size() if the packet was cut short
  // An Ethernet frame, also of a link type without one; or of InfiniBand a packet from its LRH to its VCRC.
  std::span<const std::byte> bytes;
  wire::LinkLayer link_layer = wire::LinkLayer::ethernet;
  std::string_view comment;  // without control characters; several are joined by "; "
};

}  // namespace urnic::analysis
