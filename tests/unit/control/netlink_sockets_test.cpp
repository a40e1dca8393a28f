// RDMA netlink: a program's socket to a device process.
#include <poll.h>

#include <boost/test/unit_test.hpp>

#include "tests/unit/control/netlink_conversation.hpp"
#include "tests/unit/control/running_process.hpp"

namespace urnic::control::test {
namespace {

// A program's socket to a device process.
struct WithSocket {
  RunningProcess process;
  memory::Descriptor socket = connect_to(process.directory().netlink_socket(), SOCK_SEQPACKET);

  void send(const Bytes& bytes) {
    BOOST_REQUIRE(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                  static_cast<ssize_t>(bytes.size()));
  }
  // The messages of the next datagram.
  std::vector<ReadMessage> receive() {
    Bytes bytes(65536);
    const ssize_t length = recv(socket.get(), bytes.data(), bytes.size(), 0);
    BOOST_REQUIRE(length > 0);
    BOOST_TEST(static_cast<std::size_t>(length) <= netlink::kMaxDatagram);
    bytes.resize(static_cast<std::size_t>(length));
    return read_messages(bytes);
  }
  static int error_of(const ReadMessage& message) {
    nlmsgerr error{};
    BOOST_REQUIRE(message.header.nlmsg_type == NLMSG_ERROR);
    BOOST_REQUIRE(message.payload.size() == sizeof error);
    std::memcpy(&error, message.payload.data(), sizeof error);
    BOOST_TEST(error.msg.nlmsg_seq == message.header.nlmsg_seq);
    return error.error;
  }
};

BOOST_FIXTURE_TEST_SUITE(netlink_sockets, WithSocket)

BOOST_AUTO_TEST_CASE(an_answer_and_its_acknowledgement_are_two_datagrams) {
  send(NetlinkRequest(RDMA_NLDEV_CMD_SYS_GET, NLM_F_REQUEST | NLM_F_ACK).bytes());
  const auto answer = receive();
  BOOST_REQUIRE(answer.size() == 1u);
  BOOST_TEST(answer[0].header.nlmsg_type == netlink::message_type(RDMA_NLDEV_CMD_SYS_GET));
  const auto acknowledgement = receive();
  BOOST_REQUIRE(acknowledgement.size() == 1u);
  BOOST_TEST(error_of(acknowledgement[0]) == 0);
}

BOOST_AUTO_TEST_CASE(a_dump_ends_with_done_and_has_no_acknowledgement) {
  send(NetlinkRequest(RDMA_NLDEV_CMD_GET, kDump | NLM_F_ACK).bytes());
  const auto dump = receive();
  BOOST_REQUIRE(dump.size() == 3u);
  BOOST_TEST(dump[2].header.nlmsg_type == NLMSG_DONE);
  BOOST_TEST(dump[2].header.nlmsg_flags == NLM_F_MULTI);
  BOOST_TEST(dump[2].payload.size() == sizeof(int));
  send(NetlinkRequest(RDMA_NLDEV_CMD_GET).bytes());
  BOOST_TEST(error_of(receive().at(0)) == -EINVAL);
}

BOOST_AUTO_TEST_CASE(a_search_that_finds_nothing_is_refused) {
  send(NetlinkRequest(RDMA_NLDEV_CMD_RES_QP_GET)
           .with(RDMA_NLDEV_ATTR_DEV_INDEX, 0)
           .with(RDMA_NLDEV_ATTR_RES_LQPN, 5)
           .bytes());
  BOOST_TEST(error_of(receive().at(0)) == -ENOENT);
  send(NetlinkRequest(RDMA_NLDEV_CMD_SYS_GET).bytes());
  BOOST_TEST(receive().at(0).header.nlmsg_type == netlink::message_type(RDMA_NLDEV_CMD_SYS_GET));
}

BOOST_AUTO_TEST_CASE(several_messages_in_one_datagram) {
  Bytes all;
  const nlmsghdr noop{sizeof noop, NLMSG_NOOP, NLM_F_REQUEST | NLM_F_ACK, 5, 0};
  append(all, &noop, sizeof noop);
  const nlmsghdr no_request{sizeof no_request, netlink::message_type(RDMA_NLDEV_CMD_SYS_GET), NLM_F_ACK, 6,
                            0};
  append(all, &no_request, sizeof no_request);
  const Bytes dump = NetlinkRequest(RDMA_NLDEV_CMD_GET, kDump).bytes();
  append(all, dump.data(), dump.size());
  const Bytes last = NetlinkRequest(RDMA_NLDEV_CMD_SYS_GET).bytes();
  append(all, last.data(), last.size());
  const nlmsghdr lying{1000, 0, 0, 0, 0};
  append(all, &lying, sizeof lying);
  send(all);
  for (const std::uint32_t sequence : {5u, 6u}) {
    const auto acknowledgement = receive();
    BOOST_TEST(error_of(acknowledgement.at(0)) == 0);
    BOOST_TEST(acknowledgement[0].header.nlmsg_seq == sequence);
  }
  BOOST_TEST(receive().size() == 3u);
  BOOST_TEST(receive().at(0).header.nlmsg_type == netlink::message_type(RDMA_NLDEV_CMD_SYS_GET));
}

BOOST_AUTO_TEST_CASE(nonsense_leaves_the_socket_usable) {
  for (const std::size_t length : {1u, 15u, 16u, 100u, 60000u}) {
    send(Bytes(length, std::byte{0xA5}));
    send(Bytes(length));
  }
  send(NetlinkRequest(RDMA_NLDEV_CMD_SYS_GET).bytes());
  BOOST_TEST(receive().at(0).header.nlmsg_type == netlink::message_type(RDMA_NLDEV_CMD_SYS_GET));
}

// A program that does not read its answers is not read from, and costs no memory without bound.
BOOST_AUTO_TEST_CASE(a_program_that_reads_no_answers) {
  const Bytes request = NetlinkRequest(RDMA_NLDEV_CMD_GET, kDump).bytes();
  int sent = 0;
  while (::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0) ++sent;
  BOOST_TEST(errno == EAGAIN);
  BOOST_TEST(sent > 100);
  auto other = connect_to(process.directory().netlink_socket(), SOCK_SEQPACKET);
  std::swap(socket, other);
  send(request);
  BOOST_TEST(receive().size() == 3u, "others are answered meanwhile");
  std::swap(socket, other);
  for (int i = 0; i < sent; ++i) BOOST_REQUIRE(receive().size() == 3u);
}

// It is gone once it has closed its socket, which is in a message that is not read.
BOOST_AUTO_TEST_CASE(a_program_that_reads_no_answers_and_sends_itself) {
  const Bytes request = NetlinkRequest(RDMA_NLDEV_CMD_GET, kDump).bytes();
  while (::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0) continue;
  for (int i = 0; i < 100 && !send_message(socket.get(), request, {{socket.get()}}); ++i) receive();
  pollfd end{socket.get(), 0, 0};
  BOOST_TEST(poll(&end, 1, 5000) == 1);
  BOOST_TEST((end.revents & POLLHUP) != 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::control::test
