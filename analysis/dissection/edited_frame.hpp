// A frame whose fields are set by name. What is not set follows from the rest: lengths, checksums, ICRC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/dissection/field_value.hpp"
#include "wire/headers.hpp"
#include "wire/network_headers.hpp"

namespace urnic::analysis {

class EditedFrame {
 public:
  // The right frame of these headers and payload (wire::encode), of InfiniBand with its VCRC. Its opcode says
  // which headers it has from then on, whatever `bth.opcode` is set to.
  EditedFrame(const wire::NetworkHeaders& network, const wire::TransportHeaders& transport,
              std::span<const std::byte> payload);
  // Any frame, or packet of InfiniBand from its LRH to its VCRC.
  explicit EditedFrame(std::vector<std::byte> frame, wire::LinkLayer link_layer = wire::LinkLayer::ethernet);

  // Whether the frame has this field. Throws FieldError if no header has it.
  bool has(std::string_view field) const;
  // Throw FieldError: there is no such field, the frame does not have it, or the value does not fit.
  void set(std::string_view field, std::string_view text);
  void set(std::string_view field, const FieldValue& value);
  void set_number(std::string_view field, std::uint64_t number);

  // Makes right what follows from other bytes and was not set itself: ip.len, ipv6.plen, udp.length,
  // ip.checksum, udp.checksum (unless it is 0: none), lrh.pktlen, grh.paylen, icrc, vcrc. Returns the frame.
  // May be called again after more changes.
  const std::vector<std::byte>& finish();

 private:
  bool was_set(const char* field) const;
  void finish_network();
  void finish_infiniband();
  void set_length(const char* field, std::size_t length);
  void finish_icrc();

  std::vector<std::byte> frame_;
  Dissection shape_;  // of the frame as it was made
  std::vector<const Field*> set_;
};

}  // namespace urnic::analysis
