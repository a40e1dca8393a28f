#include "tools/pvrdma_mux/conversations.hpp"

#include <boost/test/unit_test.hpp>

#include "wire/mad/cm_messages.hpp"
#include "wire/mad/ip_cm_header.hpp"

namespace urnic::pvrdma_mux::test {
namespace {

namespace mad = wire::mad;

constexpr wire::Gid kGuest{{0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
constexpr wire::Gid kOtherGuest{{0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};
constexpr wire::Gid kPeer{{0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3}};
constexpr wire::Gid kOtherPeer{{0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4}};

mad::Mad request(std::uint32_t number, const wire::Gid& peer) {
  mad::Req req;
  req.local_id.value = number;
  req.primary.remote_gid = peer;
  return mad::encode(req, {1});
}

template <typename Message>
mad::Mad answer(std::uint32_t local, std::uint32_t remote) {
  Message message;
  message.local_id.value = local;
  message.remote_id.value = remote;
  return mad::encode(message, {1});
}

mad::Mad service_request(std::uint32_t number, const wire::Gid& peer) {
  mad::SidrReq request;
  request.request_id.value = number;
  mad::IpCmHeader header;
  header.ip_version = mad::IpVersion::v6;
  header.destination = peer;
  mad::encode(header, request.private_data);
  return mad::encode(request, {1});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(conversations)

BOOST_AUTO_TEST_CASE(a_request_names_its_destination_and_what_follows_goes_there) {
  Conversations known;
  BOOST_TEST((known.destination(kGuest, request(7, kPeer)) == kPeer));
  known.arrived(kGuest, kPeer, answer<mad::Rep>(99, 7));
  BOOST_TEST((known.destination(kGuest, answer<mad::Rtu>(7, 99)) == kPeer));
  BOOST_TEST((known.destination(kGuest, answer<mad::Dreq>(7, 99)) == kPeer));
  known.arrived(kGuest, kPeer, answer<mad::Dreq>(99, 7));
  BOOST_TEST((known.destination(kGuest, answer<mad::Drep>(7, 99)) == kPeer));
  BOOST_TEST(known.size() == 1u);
}

BOOST_AUTO_TEST_CASE(answers_go_to_who_has_asked) {
  Conversations known;
  known.arrived(kGuest, kPeer, request(5, kGuest));
  known.arrived(kGuest, kOtherPeer, request(6, kGuest));
  BOOST_TEST((known.destination(kGuest, answer<mad::Rep>(70, 6)) == kOtherPeer));
  BOOST_TEST((known.destination(kGuest, answer<mad::Rej>(0, 5)) == kPeer));
  BOOST_TEST((known.destination(kGuest, answer<mad::Mra>(71, 5)) == kPeer));
}

// Two peers may give two connections one number.
BOOST_AUTO_TEST_CASE(one_number_of_two_peers_is_two_conversations) {
  Conversations known;
  known.arrived(kGuest, kPeer, request(5, kGuest));
  BOOST_TEST((known.destination(kGuest, answer<mad::Rep>(70, 5)) == kPeer));
  known.arrived(kGuest, kOtherPeer, request(5, kGuest));
  BOOST_TEST((known.destination(kGuest, answer<mad::Rep>(71, 5)) == kOtherPeer));
  BOOST_TEST((known.destination(kGuest, answer<mad::Dreq>(70, 5)) == kPeer));
}

BOOST_AUTO_TEST_CASE(a_repeated_request_begins_nothing_new) {
  Conversations known;
  for (int i = 0; i < 3; ++i) known.arrived(kGuest, kPeer, request(5, kGuest));
  for (int i = 0; i < 3; ++i) BOOST_TEST((known.destination(kGuest, request(5, kOtherPeer)) == kOtherPeer));
  BOOST_TEST(known.size() == 2u);
}

BOOST_AUTO_TEST_CASE(requests_for_a_service_name_their_destination_in_the_ip_header) {
  Conversations known;
  BOOST_TEST((known.destination(kGuest, service_request(3, kPeer)) == kPeer));
  known.arrived(kOtherGuest, kPeer, service_request(4, kOtherGuest));
  mad::SidrRep reply;
  reply.request_id.value = 4;
  BOOST_TEST((known.destination(kOtherGuest, mad::encode(reply, {1})) == kPeer));
  // Not a connection of that number.
  BOOST_TEST(!known.destination(kOtherGuest, answer<mad::Rep>(9, 4)));
}

BOOST_AUTO_TEST_CASE(what_answers_nothing_goes_nowhere) {
  Conversations known;
  BOOST_TEST(!known.destination(kGuest, answer<mad::Rtu>(7, 99)));
  BOOST_TEST(!known.destination(kGuest, request(7, {})));
  BOOST_TEST(!known.destination(kGuest, mad::Mad{}));
  BOOST_TEST(!known.destination(kGuest, std::span<const std::byte>{}));
  mad::SidrReq without_header;
  BOOST_TEST(!known.destination(kGuest, mad::encode(without_header, {1})));
  // Of another guest.
  BOOST_TEST((known.destination(kGuest, request(7, kPeer)) == kPeer));
  BOOST_TEST(!known.destination(kOtherGuest, answer<mad::Rtu>(7, 0)));
}

BOOST_AUTO_TEST_CASE(an_address_that_is_gone_takes_its_conversations_with_it) {
  Conversations known;
  known.arrived(kGuest, kPeer, request(5, kGuest));
  known.arrived(kOtherGuest, kPeer, request(6, kOtherGuest));
  known.forget(kGuest);
  BOOST_TEST(known.size() == 1u);
  BOOST_TEST(!known.destination(kGuest, answer<mad::Rep>(7, 5)));
  BOOST_TEST((known.destination(kOtherGuest, answer<mad::Rep>(7, 6)) == kPeer));
}

BOOST_AUTO_TEST_CASE(the_oldest_is_forgotten_when_there_are_too_many) {
  Conversations known;
  for (std::uint32_t number = 1; number <= Conversations::kMost + 1; ++number)
    known.arrived(kGuest, kPeer, request(number, kGuest));
  BOOST_TEST(known.size() == Conversations::kMost);
  BOOST_TEST(!known.destination(kGuest, answer<mad::Rej>(0, 1)));
  BOOST_TEST((known.destination(kGuest, answer<mad::Rej>(0, 2)) == kPeer));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::pvrdma_mux::test
