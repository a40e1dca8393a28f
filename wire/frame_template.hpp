// The encoder of a sender whose packets all have the same network headers, such as a connected QP: the bytes
// of these headers are made once; each packet copies them and patches lengths and checksum. Of RoCEv2 and of
// InfiniBand.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/frame.hpp"
#include "wire/internet_checksum.hpp"
#include "wire/network_codec.hpp"

namespace urnic::wire {

class FrameTemplate {
 public:
  explicit FrameTemplate(const NetworkHeaders& network);

  // Like wire::encode with the constructor's network headers. Does not change the template: threads may share
  // it.
  Frame encode(const TransportHeaders& transport, std::span<const std::byte> payload, FrameStorage& storage,
               Icrc check = Icrc::made) const;
  // The sender's LID; of an InfiniBand packet only.
  Lid source() const;
  void set_source(Lid source);

  // How long `encode` makes the frame of a packet with this opcode.
  std::size_t frame_bytes(Opcode opcode, std::size_t payload_bytes) const;

 private:
  std::array<std::byte, kMaxNetworkHeaderBytes> network_{};
  void complete_ip(std::byte* headers, std::size_t udp_bytes) const;

  LinkLayer link_layer_;
  std::size_t network_bytes_;
  std::size_t ethernet_bytes_;  // in front of the IP header
  InternetSum ipv4_sum_;        // over the IPv4 header with total length and checksum 0
  bool ipv4_;
  bool with_udp_checksum_;
};

}  // namespace urnic::wire
