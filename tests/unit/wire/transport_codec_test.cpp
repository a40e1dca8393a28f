#include "wire/transport_codec.hpp"

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <initializer_list>

#include "sample_frames.hpp"

namespace urnic::wire::test {
namespace {

Bytes from_hex(std::initializer_list<unsigned> values) {
  Bytes bytes;
  for (unsigned value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

Bytes encoded_transport(Opcode opcode, std::uint8_t pad = 0) {
  Bytes bytes(transport_header_size(opcode));
  encode_transport(transport_for(opcode), pad, bytes.data());
  return bytes;
}

Bytes extended(std::uint8_t opcode) {
  const Bytes bytes = encoded_transport(Opcode{opcode});
  return {bytes.begin() + kBthBytes, bytes.end()};
}

// `transport_for(opcode)` with defaults for the members that the opcode does not send.
TransportHeaders only_what_is_sent(Opcode opcode) {
  const TransportHeaders all = transport_for(opcode);
  const unsigned present = traits(opcode).headers;
  TransportHeaders sent;
  sent.bth = all.bth;
  if (present & has_deth) sent.deth = all.deth;
  if (present & has_xrceth) sent.xrceth = all.xrceth;
  if (present & has_reth) sent.reth = all.reth;
  if (present & has_atomic_eth) sent.atomic_eth = all.atomic_eth;
  if (present & has_aeth) sent.aeth = all.aeth;
  if (present & has_atomic_ack_eth) sent.atomic_original = all.atomic_original;
  if (present & has_immediate) sent.immediate = all.immediate;
  if (present & has_ieth) sent.invalidate = all.invalidate;
  if (present & has_selective_ack) sent.selective_ack_eth = all.selective_ack_eth;
  return sent;
}

BOOST_AUTO_TEST_SUITE(transport_codec)

BOOST_AUTO_TEST_CASE(bth_has_the_layout_of_9_2) {
  // Solicited, not migrated, pad 2; P_Key; FECN and reserved bits; destination; AckReq and reserved bits;
  // PSN.
  BOOST_TEST(encoded_transport(Opcode{0x04}, 2) ==
             from_hex({0x04, 0xA0, 0x80, 0x01, 0xAD, 0xAB, 0xCD, 0xEF, 0xEA, 0x98, 0x76, 0x54}));
  TransportHeaders plain;
  plain.bth.opcode = Opcode{0x11};
  plain.bth.becn = true;
  Bytes bytes(16);
  encode_transport(plain, 0, bytes.data());
  BOOST_TEST(Bytes(bytes.begin(), bytes.begin() + 12) ==
             from_hex({0x11, 0x40, 0xFF, 0xFF, 0x40, 0, 0, 0, 0, 0, 0, 0}));
}

BOOST_AUTO_TEST_CASE(extended_headers_have_the_layouts_of_9_3) {
  const Bytes deth = from_hex({0x80, 0x01, 0, 0, 0x5A, 0x12, 0x34, 0x56});
  BOOST_TEST(extended(0x64) == deth);
  const Bytes reth =
      from_hex({0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF, 0});
  BOOST_TEST(extended(0x06) == reth);
  BOOST_TEST(extended(0x13) ==
             from_hex({0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0xCC, 0xBB, 0xAA, 0x99, 0x01, 0x02,
                       0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18}));
  BOOST_TEST(extended(0x12) ==
             from_hex({0x1F, 0x31, 0x32, 0x33, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48}));
  BOOST_TEST(extended(0x05) == from_hex({0x51, 0x52, 0x53, 0x54}));
  BOOST_TEST(extended(0x17) == from_hex({0x61, 0x62, 0x63, 0x64}));
  BOOST_TEST(extended(0xA0) == from_hex({0xA5, 0x65, 0x43, 0x21}));
}

BOOST_AUTO_TEST_CASE(chains_keep_the_order_of_table_38) {
  const auto chain = [](std::initializer_list<std::uint8_t> opcodes) {
    Bytes bytes;
    for (std::uint8_t opcode : opcodes) {
      const Bytes part = extended(opcode);
      bytes.insert(bytes.end(), part.begin(), part.end());
    }
    return bytes;
  };
  BOOST_TEST(extended(0x0B) == chain({0x06, 0x05}));        // RETH, ImmDt
  BOOST_TEST(extended(0x65) == chain({0x64, 0x05}));        // DETH, ImmDt
  BOOST_TEST(extended(0xAB) == chain({0xA0, 0x06, 0x05}));  // XRCETH, RETH, ImmDt
  BOOST_TEST(extended(0xB3) == chain({0xA0, 0x13}));        // XRCETH, AtomicETH
  BOOST_TEST(extended(0xB7) == chain({0xA0, 0x17}));        // XRCETH, IETH
}

BOOST_AUTO_TEST_CASE(every_opcode_decodes_to_what_was_encoded) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const Opcode opcode{static_cast<std::uint8_t>(byte)};
    const Bytes bytes = encoded_transport(opcode, 3);
    TransportHeaders read;
    parse_bth(bytes.data(), read.bth);
    parse_extended(bytes.data() + kBthBytes, read);
    TransportHeaders expected = only_what_is_sent(opcode);
    expected.bth.pad = 3;
    BOOST_TEST_CONTEXT(name(opcode)) { BOOST_TEST((read == expected)); }
  }
}

BOOST_AUTO_TEST_CASE(fields_are_cut_to_their_width) {
  TransportHeaders wide = transport_for(Opcode{0xA0});
  wide.bth.destination.value = 0xFF000001;
  wide.bth.reserved6 = 0xC0;
  wide.bth.reserved7 = 0x80;
  wide.bth.fecn = wide.bth.ack_request = false;
  wide.xrceth = {.reserved = 0, .srq_number = 0xFF000002};
  Bytes bytes(transport_header_size(wide.bth.opcode));
  encode_transport(wide, 4, bytes.data());
  TransportHeaders read;
  parse_bth(bytes.data(), read.bth);
  parse_extended(bytes.data() + kBthBytes, read);
  BOOST_TEST(read.bth.destination.value == 1u);
  BOOST_TEST(!read.bth.fecn);
  BOOST_TEST(!read.bth.becn);
  BOOST_TEST(!read.bth.ack_request);
  BOOST_TEST(int{read.bth.pad} == 0);
  BOOST_TEST(int{read.xrceth.reserved} == 0);
  BOOST_TEST(read.xrceth.srq_number == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::wire::test
