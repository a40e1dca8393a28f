#include "device_model/control/loop/message_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <iterator>

#include "tests/unit/control/many_descriptors.hpp"

namespace urnic::control::test {
namespace {

struct WithSockets {
  WithSockets() {
    std::array<int, 2> ends{};
    BOOST_REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0);
    ours = memory::Descriptor(ends[0]);
    theirs = memory::Descriptor(ends[1]);
  }
  static std::ptrdiff_t open_descriptors() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  }
  bool send(std::size_t bytes, std::size_t descriptors) {
    const std::vector<int> handed(descriptors, STDERR_FILENO);
    return send_message(theirs.get(), std::vector<std::byte>(bytes), handed);
  }
  memory::Descriptor ours;
  memory::Descriptor theirs;
  Message message;
};

BOOST_FIXTURE_TEST_SUITE(message_socket, WithSockets)

BOOST_AUTO_TEST_CASE(a_message_comes_with_its_descriptors) {
  BOOST_REQUIRE(send(100, 4));
  BOOST_REQUIRE((receive_message(ours.get(), message) == ReceiveResult::message));
  BOOST_TEST(message.length == 100u);
  BOOST_REQUIRE(message.descriptors.size() == 4u);
  for (const auto& descriptor : message.descriptors) {
    BOOST_TEST((fcntl(descriptor.get(), F_GETFD) & FD_CLOEXEC) != 0);
  }
  BOOST_TEST((receive_message(ours.get(), message) == ReceiveResult::nothing));
}

BOOST_AUTO_TEST_CASE(too_long_is_unusable) {
  BOOST_REQUIRE(send(abi::kMaxControlMessage, 0));
  BOOST_TEST((receive_message(ours.get(), message) == ReceiveResult::message));
  BOOST_REQUIRE(send(abi::kMaxControlMessage + 1, 0));
  BOOST_TEST((receive_message(ours.get(), message) == ReceiveResult::unusable));
}

BOOST_AUTO_TEST_CASE(too_many_descriptors_are_unusable_and_leak_nothing) {
  const auto before = open_descriptors();
  BOOST_REQUIRE(send_many_descriptors(theirs.get(), std::vector<int>(20, STDERR_FILENO)));
  BOOST_TEST((receive_message(ours.get(), message) == ReceiveResult::unusable));
  message.descriptors.clear();
  BOOST_TEST(open_descriptors() == before);
}

BOOST_AUTO_TEST_CASE(the_end_is_seen) {
  theirs.reset();
  BOOST_TEST((receive_message(ours.get(), message) == ReceiveResult::closed));
  BOOST_TEST(!send_message(ours.get(), std::vector<std::byte>(4), {}));
}

BOOST_AUTO_TEST_CASE(who_does_not_read_does_not_block_the_sender) {
  std::size_t sent = 0;
  while (send(1000, 0)) BOOST_REQUIRE(++sent < 100'000u);
  BOOST_TEST(errno == EAGAIN);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::control::test
