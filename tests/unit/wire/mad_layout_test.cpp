// Where each field of the CM's messages lies, written down here a second time (IBTA 12.6, 12.8, 12.11): a
// field of ones changes exactly its own bits.
#include <array>
#include <boost/test/unit_test.hpp>
#include <concepts>
#include <limits>
#include <type_traits>
#include <vector>

#include "mad_samples.hpp"

namespace urnic::wire::mad::test {
namespace {

// `width` bits from bit `bit` of byte `byte` of the body on; bit 0 is the most significant one. `fill` sets
// all bits of the member, also those that the field has no room for.
template <class Message>
struct FieldCase {
  const char* name;
  std::size_t byte, bit, width;
  void (*fill)(Message&);
};
template <class Message>
using Fields = std::vector<FieldCase<Message>>;

void ones(std::unsigned_integral auto& number) {
  number = std::numeric_limits<std::decay_t<decltype(number)>>::max();
}
template <class Code>
requires std::is_enum_v<Code>
void ones(Code& code) { code = static_cast<Code>(std::numeric_limits<std::underlying_type_t<Code>>::max()); }
void ones(bool& flag) { flag = true; }
void ones(Psn& psn) { psn = Psn{0xFFFFFFFF}; }
void ones(Gid& gid) { gid.bytes.fill(0xFF); }
template <std::size_t kSize>
void ones(std::array<std::byte, kSize>& bytes) {
  bytes.fill(std::byte{0xFF});
}
template <class Wrapped>
requires requires(Wrapped wrapped) { wrapped.value = 0; }
void ones(Wrapped& wrapped) { ones(wrapped.value); }

// One line of a table: the member's name is its expression.
#define FIELD(byte, bit, width, member)                        \
  {                                                            \
#member, byte, bit, width, [](auto& m) { ones(m.member); } \
  }
// A piece of a member that is split.
#define PIECE(byte, width, member, piece)                                   \
  {                                                                         \
#member " & " #piece, byte, 0, width, [](auto& m) { m.member = piece; } \
  }

template <class Message>
Fields<Message> fields();

template <>
Fields<Req> fields() {
  return {FIELD(0, 0, 32, local_id),
          FIELD(5, 0, 24, ece.vendor_id),
          FIELD(8, 0, 64, service),
          FIELD(16, 0, 64, local_ca_guid),
          FIELD(28, 0, 32, local_qkey),
          FIELD(32, 0, 24, local_qpn),
          FIELD(35, 0, 8, responder_resources),
          FIELD(36, 0, 24, local_eecn),
          FIELD(39, 0, 8, initiator_depth),
          FIELD(40, 0, 24, remote_eecn),
          FIELD(43, 0, 5, remote_cm_response_timeout),
          FIELD(43, 5, 2, transport_service),
          FIELD(43, 7, 1, end_to_end_flow_control),
          FIELD(44, 0, 24, starting_psn),
          FIELD(47, 0, 5, local_cm_response_timeout),
          FIELD(47, 5, 3, retry_count),
          FIELD(48, 0, 16, pkey),
          FIELD(50, 0, 4, path_mtu),
          FIELD(50, 4, 1, rdc_exists),
          FIELD(50, 5, 3, rnr_retry_count),
          FIELD(51, 0, 4, max_cm_retries),
          FIELD(51, 4, 1, srq),
          FIELD(51, 5, 3, extended_transport),
          FIELD(52, 0, 16, primary.local_lid),
          FIELD(54, 0, 16, primary.remote_lid),
          FIELD(56, 0, 128, primary.local_gid),
          FIELD(72, 0, 128, primary.remote_gid),
          FIELD(88, 0, 20, primary.flow_label),
          FIELD(91, 2, 6, primary.packet_rate),
          FIELD(92, 0, 8, primary.traffic_class),
          FIELD(93, 0, 8, primary.hop_limit),
          FIELD(94, 0, 4, primary.service_level),
          FIELD(94, 4, 1, primary.subnet_local),
          FIELD(95, 0, 5, primary.local_ack_timeout),
          FIELD(96, 0, 16, alternate.local_lid),
          FIELD(98, 0, 16, alternate.remote_lid),
          FIELD(100, 0, 128, alternate.local_gid),
          FIELD(116, 0, 128, alternate.remote_gid),
          FIELD(132, 0, 20, alternate.flow_label),
          FIELD(135, 2, 6, alternate.packet_rate),
          FIELD(136, 0, 8, alternate.traffic_class),
          FIELD(137, 0, 8, alternate.hop_limit),
          FIELD(138, 0, 4, alternate.service_level),
          FIELD(138, 4, 1, alternate.subnet_local),
          FIELD(139, 0, 5, alternate.local_ack_timeout),
          FIELD(139, 5, 1, sap_supported),
          FIELD(140, 0, 92 * 8, private_data)};
}

template <>
Fields<Mra> fields() {
  return {FIELD(0, 0, 32, local_id), FIELD(4, 0, 32, remote_id), FIELD(8, 0, 2, acknowledged),
          FIELD(9, 0, 5, service_timeout), FIELD(10, 0, 222 * 8, private_data)};
}

template <>
Fields<Rej> fields() {
  return {FIELD(0, 0, 32, local_id),          FIELD(4, 0, 32, remote_id),
          FIELD(8, 0, 2, rejected),           FIELD(9, 0, 7, information.length),
          FIELD(10, 0, 16, reason),           FIELD(12, 0, 72 * 8, information.bytes),
          FIELD(84, 0, 148 * 8, private_data)};
}

template <>
Fields<Rep> fields() {
  return {FIELD(0, 0, 32, local_id),
          FIELD(4, 0, 32, remote_id),
          FIELD(8, 0, 32, local_qkey),
          FIELD(12, 0, 24, local_qpn),
          PIECE(15, 8, ece.vendor_id, 0xFF0000),
          FIELD(16, 0, 24, local_eecn),
          PIECE(19, 8, ece.vendor_id, 0x00FF00),
          FIELD(20, 0, 24, starting_psn),
          PIECE(23, 8, ece.vendor_id, 0x0000FF),
          FIELD(24, 0, 8, responder_resources),
          FIELD(25, 0, 8, initiator_depth),
          FIELD(26, 0, 5, target_ack_delay),
          FIELD(26, 5, 2, failover_accepted),
          FIELD(26, 7, 1, end_to_end_flow_control),
          FIELD(27, 0, 3, rnr_retry_count),
          FIELD(27, 3, 1, srq),
          FIELD(28, 0, 64, local_ca_guid),
          FIELD(36, 0, 196 * 8, private_data)};
}

template <>
Fields<Rtu> fields() {
  return {FIELD(0, 0, 32, local_id), FIELD(4, 0, 32, remote_id), FIELD(8, 0, 224 * 8, private_data)};
}

template <>
Fields<Dreq> fields() {
  return {FIELD(0, 0, 32, local_id), FIELD(4, 0, 32, remote_id), FIELD(8, 0, 24, remote_qpn),
          FIELD(12, 0, 220 * 8, private_data)};
}

template <>
Fields<Drep> fields() {
  return {FIELD(0, 0, 32, local_id), FIELD(4, 0, 32, remote_id), FIELD(8, 0, 224 * 8, private_data)};
}

template <>
Fields<SidrReq> fields() {
  return {FIELD(0, 0, 32, request_id), FIELD(4, 0, 16, pkey), FIELD(8, 0, 64, service),
          FIELD(16, 0, 216 * 8, private_data)};
}

template <>
Fields<SidrRep> fields() {
  return {FIELD(0, 0, 32, request_id),
          FIELD(4, 0, 8, status),
          FIELD(5, 0, 8, information.length),
          PIECE(6, 16, ece.vendor_id, 0xFFFF00),
          FIELD(8, 0, 24, qpn),
          PIECE(11, 8, ece.vendor_id, 0x0000FF),
          FIELD(12, 0, 64, service),
          FIELD(20, 0, 32, qkey),
          FIELD(24, 0, 72 * 8, information.bytes),
          FIELD(96, 0, 136 * 8, private_data)};
}

template <>
Fields<Lap> fields() {
  return {FIELD(0, 0, 32, local_id),
          FIELD(4, 0, 32, remote_id),
          FIELD(12, 0, 24, remote_qpn),
          FIELD(15, 0, 5, remote_cm_response_timeout),
          FIELD(20, 0, 16, alternate.local_lid),
          FIELD(22, 0, 16, alternate.remote_lid),
          FIELD(24, 0, 128, alternate.local_gid),
          FIELD(40, 0, 128, alternate.remote_gid),
          FIELD(56, 0, 20, alternate.flow_label),
          FIELD(59, 0, 8, alternate.traffic_class),
          FIELD(60, 0, 8, alternate.hop_limit),
          FIELD(61, 2, 6, alternate.packet_rate),
          FIELD(62, 0, 4, alternate.service_level),
          FIELD(62, 4, 1, alternate.subnet_local),
          FIELD(63, 0, 5, alternate.local_ack_timeout),
          FIELD(64, 0, 168 * 8, private_data)};
}

template <>
Fields<Apr> fields() {
  return {FIELD(0, 0, 32, local_id),
          FIELD(4, 0, 32, remote_id),
          FIELD(8, 0, 8, information.length),
          FIELD(9, 0, 8, status),
          FIELD(12, 0, 72 * 8, information.bytes),
          FIELD(84, 0, 148 * 8, private_data)};
}

#undef FIELD
#undef PIECE

void set_bits(Mad& mad, std::size_t byte, std::size_t bit, std::size_t width) {
  const std::size_t first = (kMadHeaderBytes + byte) * 8 + bit;
  for (std::size_t at = first; at < first + width; ++at) {
    mad.at(at / 8) |= static_cast<std::byte>(0x80 >> at % 8);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mad_layout)

BOOST_AUTO_TEST_CASE_TEMPLATE(a_field_of_ones_sets_its_own_bits, Message, CmTypes) {
  const Mad zero = filled<Message>(std::byte{0});
  for (const FieldCase<Message>& field : fields<Message>()) {
    BOOST_TEST_CONTEXT(field.name) {
      Message message = decoded<Message>(zero);
      field.fill(message);
      Mad expected = zero;
      set_bits(expected, field.byte, field.bit, field.width);
      BOOST_TEST(encode(message, kTransaction) == expected);
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(set_bits_are_read_as_the_field, Message, CmTypes) {
  const Mad zero = filled<Message>(std::byte{0});
  for (const FieldCase<Message>& field : fields<Message>()) {
    BOOST_TEST_CONTEXT(field.name) {
      Mad mad = zero;
      set_bits(mad, field.byte, field.bit, field.width);
      Message expected = decoded<Message>(zero);
      field.fill(expected);
      // Encoding cuts the member to the field's width; other fields must have stayed zero.
      const Message message = decoded<Message>(mad);
      BOOST_TEST((message == decoded<Message>(encode(expected, kTransaction))));
      BOOST_TEST((message != decoded<Message>(zero)));
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(no_other_bit_is_sent_or_read, Message, CmTypes) {
  Mad expected = filled<Message>(std::byte{0});
  for (const FieldCase<Message>& field : fields<Message>()) {
    set_bits(expected, field.byte, field.bit, field.width);
  }
  const Mad ones = filled<Message>(std::byte{0xFF});
  BOOST_TEST(encode(decoded<Message>(ones), kTransaction) == expected);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::wire::mad::test
