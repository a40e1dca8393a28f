#include "tools/pvrdma_mux/guest.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <optional>

namespace urnic::pvrdma_mux::test {
namespace {

struct Connection {
  Connection() {
    int ends[2];
    BOOST_REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    qemu = memory::Descriptor(ends[0]);
    guest.emplace(memory::Descriptor(ends[1]));
  }
  void write(const void* bytes, std::size_t size) {
    BOOST_REQUIRE(send(qemu.get(), bytes, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size));
  }

  memory::Descriptor qemu;
  std::optional<Guest> guest;
};

MuxMessage message(std::uint32_t length) {
  MuxMessage made{};
  made.length = length;
  return made;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(guest)

BOOST_AUTO_TEST_CASE(messages_arrive_whole_however_they_are_divided) {
  Connection connection;
  const MuxMessage two[]{message(1), message(2)};
  const auto* const bytes = reinterpret_cast<const char*>(two);
  BOOST_TEST(!connection.guest->next());
  for (std::size_t at = 0; at < sizeof two; at += 48) {
    BOOST_TEST(!connection.guest->has_gone());
    connection.write(bytes + at, std::min<std::size_t>(48, sizeof two - at));
    if (at + 48 < sizeof(MuxMessage)) BOOST_TEST(!connection.guest->next());
    if (at + 48 < sizeof(MuxMessage)) BOOST_TEST(connection.guest->is_waiting());
  }
  BOOST_TEST(connection.guest->next()->length == 1u);
  BOOST_TEST(connection.guest->next()->length == 2u);
  BOOST_TEST(!connection.guest->next());
  BOOST_TEST(!connection.guest->is_waiting());
}

BOOST_AUTO_TEST_CASE(a_closed_connection_is_a_guest_that_has_gone) {
  Connection connection;
  connection.write("abc", 3);
  connection.qemu.reset();
  BOOST_TEST(!connection.guest->next());
  BOOST_TEST(connection.guest->has_gone());
}

BOOST_AUTO_TEST_CASE(a_guest_that_reads_nothing_loses_whole_messages) {
  Connection connection;
  for (int i = 0; i < 100000 && !connection.guest->has_gone(); ++i) connection.guest->send(message(7));
  MuxMessage read;
  ssize_t size = 0;
  while ((size = recv(connection.qemu.get(), &read, sizeof read, 0)) == sizeof read)
    BOOST_REQUIRE(read.length == 7u);
  // Nothing is left, or a part, behind which there will be nothing.
  BOOST_TEST((size < 0 || connection.guest->has_gone()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::pvrdma_mux::test
