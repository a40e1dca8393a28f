// A whole packet, in three pieces so that a payload is never copied to be framed: headers | payload | pad and
// ICRC. Encoding and parsing between bytes and header structs. A packet of RoCEv2 is an Ethernet frame; one
// of InfiniBand begins with its LRH, and its VCRC, which each link makes anew, is not part of it
// (infiniband/variant_crc.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/headers.hpp"
#include "wire/network_headers.hpp"
#include "wire/parse_error.hpp"

namespace urnic::wire {

// Ethernet 14, VLAN tag 4, IPv6 40, UDP 8, BTH 12 and the longest chain of extended headers.
inline constexpr std::size_t kMaxHeaderBytes = 128;
inline constexpr std::size_t kMaxTrailerBytes = 3 + 4;
inline constexpr std::size_t kMaxPayloadBytes = 4096;  // the largest path MTU

// Views. The bytes belong to the maker of the frame and live until the call that got the frame returns.
//
// A frame that stays within a process may owe its ICRC, as Linux owes check sums on the loopback interface:
// nothing can change it on the way, so `parse` takes it as right, and it is made only where somebody looks.
struct Frame {
  // From the Ethernet destination or the LRH to the last extended header.
  std::span<const std::byte> headers;
  std::span<const std::byte> payload;  // without pad
  std::span<const std::byte> trailer;  // 0 to 3 pad bytes, then the ICRC's 4 bytes
  // Where the ICRC that is owed belongs, in `trailer`; null: the one that is there counts. Who reads
  // `trailer` calls `pay_icrc` first.
  std::byte* owed_icrc = nullptr;
  LinkLayer link_layer = LinkLayer::ethernet;
  std::size_t size() const { return headers.size() + payload.size() + trailer.size(); }
};

// Storage for the pieces of a frame that are not payload.
struct FrameStorage {
  std::array<std::byte, kMaxHeaderBytes> headers;
  std::array<std::byte, kMaxTrailerBytes> trailer;
};

enum class Icrc : std::uint8_t {
  made,
  owed,  // unless the frame has a UDP checksum, which covers it
};

// Makes the ICRC that `frame` owes, if it owes any. Its bytes change, not the views of it.
void pay_icrc(const Frame& frame);

// Copies the pieces of `frame` one after the other to `to`, which has room for frame.size() bytes, and makes
// the ICRC that is owed there, of the copy: a payload that its program changes meanwhile still has a right
// one.
void copy_whole(const Frame& frame, std::byte* to);

// Writes headers, checksums, pad and ICRC for `payload` into `storage` and returns the frame made of them.
// `transport.bth.pad` is not read: the pad follows from the payload's length. The IPv4 header checksum is
// computed; the UDP checksum is 0 if `network.udp_checksum` is 0, else the right one. The returned frame
// refers to `storage` and `payload`. payload.size() must be at most kMaxPayloadBytes. A sender of many
// packets with the same network headers keeps a FrameTemplate instead.
Frame encode(const NetworkHeaders& network, const TransportHeaders& transport,
             std::span<const std::byte> payload, FrameStorage& storage);

// What `parse` reads from a frame.
struct ParsedFrame {
  NetworkHeaders network;
  TransportHeaders transport;
  std::span<const std::byte> payload;  // without pad; inside the bytes that were parsed
};

// Parses a frame that is already in pieces, as the built-in switch hands it on. Nothing in `frame` is
// trusted. The payload is read for the ICRC and never copied. The opcode is checked last, after the ICRC:
// with a reserved opcode all bytes behind the BTH count as payload. On an error `parsed` holds what was read
// before the error; transport headers that the opcode does not use keep the values they had. The pieces must
// be divided as the headers say, else the error is `truncated`: a fault injector that changes a frame's
// opcode, pad count or lengths joins the frame into one piece first. A frame that is whole in
// `frame.headers`, with the other pieces empty, is parsed as one piece.
ParseError parse(const Frame& frame, ParsedFrame& parsed);

// Parses an Ethernet frame that lies in one piece, as a capture file or a socket delivers it. Bytes behind
// the IP packet's end (Ethernet padding to 60 bytes) are ignored.
ParseError parse(std::span<const std::byte> bytes, ParsedFrame& parsed);

}  // namespace urnic::wire
