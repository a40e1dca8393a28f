// Which sockets are trusted: those on which a process of this user listens.
#define BOOST_TEST_DYN_LINK
#include "trust/peer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <string>

#include "device_model/memory/descriptor.hpp"
#include "tests/unit/control/temporary_directory.hpp"
#include "tests/unit/trust/other_user.hpp"

namespace urnic::trust::test {
namespace {

struct WithSocket {
  control::test::TemporaryDirectory folder;
  sockaddr_un address{};
  memory::Descriptor listener{socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};

  WithSocket() {
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, (folder.path() / "socket").c_str());
    BOOST_REQUIRE(bind(listener.get(), name(), sizeof address) == 0);
  }
  const sockaddr* name() const { return reinterpret_cast<const sockaddr*>(&address); }
  memory::Descriptor connected() const {
    memory::Descriptor client(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    BOOST_REQUIRE(connect(client.get(), name(), sizeof address) == 0);
    return client;
  }
};

BOOST_FIXTURE_TEST_SUITE(peer, WithSocket)

BOOST_AUTO_TEST_CASE(a_socket_of_this_user) {
  BOOST_REQUIRE(listen(listener.get(), 1) == 0);
  BOOST_TEST(peer_is_own_user(connected().get()));
}

BOOST_AUTO_TEST_CASE(no_socket_at_all) {
  const memory::Descriptor other(open("/dev/null", O_RDONLY | O_CLOEXEC));
  BOOST_TEST(!peer_is_own_user(other.get()));
  BOOST_TEST(!peer_is_own_user(-1));
}

// The listener's user counts, not the owner of the file that the socket is bound to.
BOOST_AUTO_TEST_CASE(another_users_socket_under_this_users_name,
                     *boost::unit_test::precondition(needs_root)) {
  BOOST_REQUIRE(as_other_user([&] { return listen(listener.get(), 1); }) == 0);
  BOOST_TEST(!peer_is_own_user(connected().get()));
}

BOOST_AUTO_TEST_CASE(roots_socket_as_another_user_sees_it, *boost::unit_test::precondition(needs_root)) {
  BOOST_REQUIRE(listen(listener.get(), 1) == 0);
  BOOST_REQUIRE(chmod(folder.path().c_str(), 0755) == 0 && chmod(address.sun_path, 0666) == 0);
  const int believed = as_other_user([&] {
    const memory::Descriptor client(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (connect(client.get(), name(), sizeof address) != 0) return 2;
    return peer_is_own_user(client.get()) ? 1 : 0;
  });
  BOOST_TEST(believed == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::trust::test
