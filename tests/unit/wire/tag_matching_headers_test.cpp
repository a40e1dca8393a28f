// How messages to a tag-matching SRQ begin: valid beginnings, and bytes that only resemble them.
#include "wire/tag_matching_headers.hpp"

#include <boost/test/unit_test.hpp>
#include <vector>

namespace urnic::wire {
namespace {

using Bytes = std::vector<std::byte>;

// `size` bytes whose opcode is `opcode` and whose others count up from 1.
Bytes message(std::uint8_t opcode, std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i);
  if (size != 0) bytes[0] = static_cast<std::byte>(opcode);
  return bytes;
}

TaggedMessageKind kind(std::uint8_t opcode, std::size_t size, bool whole = true) {
  return parse_tagged_message(message(opcode, size), whole).kind;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tag_headers)

BOOST_AUTO_TEST_CASE(fields_are_big_endian_and_in_their_places) {
  const TaggedMessage parsed = parse_tagged_message(message(1, 40), true);
  BOOST_REQUIRE(parsed.kind == TaggedMessageKind::rendezvous);
  BOOST_TEST(parsed.header.user_data == 0x04050607u);
  BOOST_TEST(parsed.header.tag == 0x08090A0B0C0D0E0Full);
  BOOST_TEST(parsed.rendezvous.address == 0x1011121314151617ull);
  BOOST_TEST(parsed.rendezvous.rkey.value == 0x18191A1Bu);
  BOOST_TEST(parsed.rendezvous.length == 0x1C1D1E1Fu);
  BOOST_TEST(parse_tagged_message(message(3, 16), true).header.tag == 0x08090A0B0C0D0E0Full);
}

BOOST_AUTO_TEST_CASE(an_eager_message_has_a_whole_header) {
  BOOST_TEST((kind(3, 15) == TaggedMessageKind::other));
  BOOST_TEST((kind(3, 16) == TaggedMessageKind::eager));
  BOOST_TEST((kind(3, 4096, false) == TaggedMessageKind::eager));
}

BOOST_AUTO_TEST_CASE(a_rendezvous_request_is_one_packet_of_32_to_64_bytes) {
  BOOST_TEST((kind(1, 31) == TaggedMessageKind::other));
  BOOST_TEST((kind(1, 32) == TaggedMessageKind::rendezvous));
  BOOST_TEST((kind(1, 64) == TaggedMessageKind::rendezvous));
  BOOST_TEST((kind(1, 65) == TaggedMessageKind::other));
  BOOST_TEST((kind(1, 64, false) == TaggedMessageKind::other));
}

BOOST_AUTO_TEST_CASE(without_a_tag_the_opcode_is_enough) {
  BOOST_TEST((kind(0, 1) == TaggedMessageKind::without_tag));
  BOOST_TEST((kind(0, 4096, false) == TaggedMessageKind::without_tag));
  BOOST_TEST((kind(2, 15) == TaggedMessageKind::other));
  BOOST_TEST((kind(2, 32) == TaggedMessageKind::without_tag));
}

BOOST_AUTO_TEST_CASE(anything_else_is_none) {
  BOOST_TEST((kind(3, 0) == TaggedMessageKind::other));
  for (std::uint32_t opcode = 4; opcode < 256; ++opcode) {
    BOOST_TEST((kind(static_cast<std::uint8_t>(opcode), 64) == TaggedMessageKind::other));
  }
}

BOOST_AUTO_TEST_CASE(the_end_of_a_rendezvous_repeats_its_headers) {
  const Bytes request = message(1, 64);
  const RendezvousFinish finish = make_rendezvous_finish(request);
  BOOST_TEST(finish.size() == 32u);
  BOOST_TEST((finish[0] == std::byte{2}));
  BOOST_TEST(std::equal(finish.begin() + 1, finish.end(), request.begin() + 1));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::wire
