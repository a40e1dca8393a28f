// CM datagrams that are not what a decoder was asked for, and lengths that lie.
#include "wire/mad/cm_messages.hpp"

#include <boost/test/unit_test.hpp>
#include <vector>

#include "mad_samples.hpp"

namespace urnic::wire::mad::test {
namespace {

Mad with_byte(Mad mad, std::size_t at, unsigned value) {
  mad[at] = static_cast<std::byte>(value);
  return mad;
}

// What both decoders say, which must agree.
MadError judge(std::span<const std::byte> mad) {
  Req req;
  CmMessage any;
  const MadError error = decode(mad, req);
  BOOST_TEST(decode(mad, any) == error);
  return error;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cm_messages)

BOOST_AUTO_TEST_CASE(a_wrong_header_is_named_after_its_first_error) {
  const Mad req = encode(Req{}, kTransaction);
  BOOST_TEST(judge(req) == MadError::none);
  BOOST_TEST(judge(with_byte(req, 0, 2)) == MadError::wrong_base_version);
  BOOST_TEST(judge(with_byte(req, 1, 0x04)) == MadError::wrong_class);
  BOOST_TEST(judge(with_byte(req, 2, 1)) == MadError::wrong_class_version);
  BOOST_TEST(judge(with_byte(req, 2, 3)) == MadError::wrong_class_version);
  BOOST_TEST(judge(with_byte(req, 3, 0x01)) == MadError::wrong_method);
  BOOST_TEST(judge(with_byte(req, 3, 0x83)) == MadError::wrong_method);
  BOOST_TEST(judge(with_byte(req, 17, 0x0F)) == MadError::wrong_attribute);
  BOOST_TEST(judge(with_byte(req, 17, 0x1B)) == MadError::wrong_attribute);
  BOOST_TEST(judge(with_byte(req, 16, 0x01)) == MadError::wrong_attribute);
  BOOST_TEST(judge(with_byte(with_byte(req, 1, 0x04), 17, 0x1B)) == MadError::wrong_class);
}

BOOST_AUTO_TEST_CASE(only_256_bytes_are_a_datagram) {
  const Mad req = encode(Req{}, kTransaction);
  for (std::size_t size = 0; size < kMadBytes; ++size) {
    // Of exactly this size, so that a sanitizer sees a read behind it.
    const std::vector<std::byte> part(req.begin(), req.begin() + static_cast<long>(size));
    BOOST_TEST(judge(part) == MadError::wrong_size);
    MadHeader header;
    BOOST_TEST(decode(part, header) == MadError::wrong_size);
  }
  std::vector<std::byte> longer(req.begin(), req.end());
  longer.push_back(std::byte{0});
  BOOST_TEST(judge(longer) == MadError::wrong_size);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(each_message_is_found_by_its_attribute, Message, CmTypes) {
  const Mad mad = filled<Message>(std::byte{0xA5});
  CmMessage any;
  BOOST_TEST(decode(mad, any) == MadError::none);
  BOOST_TEST((std::get<Message>(any) == decoded<Message>(mad)));
  MadHeader header;
  BOOST_TEST(decode(mad, header) == MadError::none);
  BOOST_TEST((header.transaction == kTransaction));
  BOOST_TEST(header.attribute.value == static_cast<std::uint16_t>(Message::kAttribute));
  BOOST_TEST((header.management_class == ManagementClass::communication));
  BOOST_TEST(int{header.class_version} == 2);
  BOOST_TEST((header.method == Method::send));
  BOOST_TEST((header.status == MadStatus::ok));
}

BOOST_AUTO_TEST_CASE(a_refused_datagram_leaves_the_message_alone) {
  Req req;
  req.local_id = {7};
  const Req before = req;
  BOOST_TEST(decode(encode(Rep{}, kTransaction), req) == MadError::wrong_attribute);
  BOOST_TEST((req == before));
  CmMessage any = req;
  BOOST_TEST(decode(with_byte(encode(Rep{}, kTransaction), 17, 0x30), any) == MadError::wrong_attribute);
  BOOST_TEST((std::get<Req>(any) == before));
}

BOOST_AUTO_TEST_CASE(a_lying_length_of_information_is_kept_but_not_used) {
  Rej rej;
  rej.information.length = 127;
  const Rej lying = decoded<Rej>(encode(rej, kTransaction));
  BOOST_TEST(int{lying.information.length} == 127);
  BOOST_TEST(lying.information.used().size() == 72u);
  BOOST_TEST((lying.information.used().data() == lying.information.bytes.data()));
  SidrRep reply;
  reply.information.length = 255;
  BOOST_TEST(decoded<SidrRep>(encode(reply, kTransaction)).information.used().size() == 72u);
  Apr apr;
  apr.information.length = 73;
  BOOST_TEST(decoded<Apr>(encode(apr, kTransaction)).information.used().size() == 72u);
  apr.information.length = 72;
  BOOST_TEST(decoded<Apr>(encode(apr, kTransaction)).information.used().size() == 72u);
  apr.information.length = 3;
  BOOST_TEST(decoded<Apr>(encode(apr, kTransaction)).information.used().size() == 3u);
}

BOOST_AUTO_TEST_CASE(only_three_messages_have_ece) {
  constexpr Ece kEce{.vendor_id = 0xABCDEF, .options = 0x10203040};
  Req req;
  req.ece = kEce;
  BOOST_TEST((decoded<Req>(encode(req, kTransaction)).ece == kEce));
  Rep rep;
  rep.ece = kEce;
  BOOST_TEST((decoded<Rep>(encode(rep, kTransaction)).ece == kEce));
  SidrRep reply;
  reply.ece = kEce;
  BOOST_TEST((decoded<SidrRep>(encode(reply, kTransaction)).ece == kEce));
  for (const Mad& mad : {encode(req, kTransaction), encode(rep, kTransaction), encode(reply, kTransaction)}) {
    MadHeader header;
    decode(mad, header);
    BOOST_TEST(header.attribute_modifier == 0x10203040u);
  }
}

BOOST_AUTO_TEST_CASE(errors_have_phrases) {
  for (unsigned a = 0; a <= static_cast<unsigned>(MadError::wrong_attribute); ++a) {
    BOOST_TEST(describe(static_cast<MadError>(a)) != std::string("unknown error"));
    for (unsigned b = 0; b < a; ++b) {
      BOOST_TEST(describe(static_cast<MadError>(a)) != std::string(describe(static_cast<MadError>(b))));
    }
  }
  BOOST_TEST(describe(static_cast<MadError>(200)) == std::string("unknown error"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::wire::mad::test
