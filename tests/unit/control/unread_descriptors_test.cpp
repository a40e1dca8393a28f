// Descriptors in messages that are not read.
#include "device_model/control/loop/unread_descriptors.hpp"

#include <sys/socket.h>

#include <array>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <span>

#include "device_model/control/loop/message_socket.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control::test {

BOOST_AUTO_TEST_SUITE(unread_descriptors)

struct Ends {
  explicit Ends(int type) {
    std::array<int, 2> ends{};
    BOOST_REQUIRE(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()) == 0);
    ours = memory::Descriptor(ends[0]);
    theirs = memory::Descriptor(ends[1]);
    look_from_the_first(ours.get());
  }
  void send(std::size_t bytes) const { send_message(theirs.get(), std::span(text).first(bytes), {}); }
  void send_itself(std::size_t bytes) const {
    send_message(theirs.get(), std::span(text).first(bytes), {{theirs.get()}});
  }
  bool found() const { return finds_descriptors(ours.get()); }

  memory::Descriptor ours, theirs;
  std::array<std::byte, 100'000> text{};
};

BOOST_DATA_TEST_CASE(each_message_is_looked_at, boost::unit_test::data::make({SOCK_SEQPACKET, SOCK_STREAM}),
                     type) {
  const Ends ends(type);
  BOOST_TEST(!ends.found());
  for (const std::size_t bytes : {1, 100'000, 17}) ends.send(bytes);
  BOOST_TEST(!ends.found());
  ends.send_itself(17);
  BOOST_TEST(ends.found());
  look_from_the_first(ends.ours.get());
  BOOST_TEST(ends.found());
}

BOOST_AUTO_TEST_CASE(empty_messages_hide_none) {
  const Ends ends(SOCK_SEQPACKET);
  for (int i = 0; i < 3; ++i) ends.send(0);
  BOOST_TEST(!ends.found());
  for (int i = 0; i < 3; ++i) ends.send(0);
  ends.send_itself(17);
  shutdown(ends.theirs.get(), SHUT_WR);
  BOOST_TEST(ends.found());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
