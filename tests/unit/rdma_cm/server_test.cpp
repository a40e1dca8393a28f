// The node's sockets: channels, reply sockets, and messages that are none of theirs.
#include <arpa/inet.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <thread>

#include "device_model/control/fabric/configuration.hpp"
#include "device_model/control/loop/message_socket.hpp"
#include "device_model/control/rdma_cm/rdma_cm_server.hpp"
#include "tests/unit/control/temporary_directory.hpp"

namespace urnic::control::rdma_cm::test {

namespace {

using memory::Descriptor;

struct Reply {
  abi::RdmaCmReply header;
  std::array<std::byte, abi::kMaxRdmaCmAnswer + abi::kMaxFurtherAnswers> answer;
};

// The server on a thread of its own, as long as the fixture lives.
struct Served {
  control::test::TemporaryDirectory directory;
  EventLoop loop;
  DescriptorDisposal disposal;
  Fabric fabric{default_configuration()};
  Gsi gsi{loop, fabric};
  std::filesystem::path node = directory.path() / "rdma_cm";
  std::unique_ptr<RdmaCmServer> server = std::make_unique<RdmaCmServer>(
      loop, fabric, gsi, disposal, [] { return false; }, node);
  std::thread thread{[this] { loop.run(); }};

  ~Served() {
    loop.stop();
    thread.join();
    server.reset();
  }

  Descriptor open() const {
    Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, node.c_str(), sizeof address.sun_path - 1);
    BOOST_REQUIRE_EQUAL(connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return socket;
  }
};

bool is_readable(const Descriptor& socket, int milliseconds = 2000) {
  pollfd entry{socket.get(), POLLIN, 0};
  return poll(&entry, 1, milliseconds) == 1;
}

// Whether the server has closed the connection.
bool is_closed(const Descriptor& socket) {
  char byte;
  return is_readable(socket) && recv(socket.get(), &byte, 1, 0) <= 0;
}

std::vector<std::byte> request(abi::RdmaCmRequestKind kind, const abi::SocketName& reply = {},
                               std::span<const std::byte> command = {}, std::uint32_t options = 0,
                               const abi::SocketName& channel = {}) {
  abi::RdmaCmRequest header{};
  header.magic = abi::kRdmaCmMagic;
  header.kind = static_cast<std::uint32_t>(kind);
  header.reply = reply;
  header.channel = channel;
  header.command_length = static_cast<std::uint32_t>(command.size());
  header.option_length = options;
  std::vector<std::byte> message(sizeof header + command.size() + options);
  std::memcpy(message.data(), &header, sizeof header);
  std::copy(command.begin(), command.end(), message.begin() + sizeof header);
  return message;
}

void send_to(const Descriptor& socket, const std::vector<std::byte>& message) {
  BOOST_REQUIRE_EQUAL(send(socket.get(), message.data(), message.size(), MSG_NOSIGNAL),
                      static_cast<ssize_t>(message.size()));
}

// The next message on a reply socket; an error of -1 if there is none.
Reply receive(const Descriptor& socket) {
  Reply reply{};
  reply.header.error = -1;
  if (is_readable(socket)) recv(socket.get(), &reply, sizeof reply, 0);
  return reply;
}

struct ReplySocket {
  Descriptor socket;
  abi::SocketName name{};
  explicit ReplySocket(const Served& served) : socket(served.open()) {
    send_to(socket, request(abi::RdmaCmRequestKind::open_reply_socket));
    const Reply reply = receive(socket);
    BOOST_REQUIRE_EQUAL(reply.header.error, 0);
    BOOST_REQUIRE_EQUAL(reply.header.length, sizeof name);
    std::memcpy(&name, reply.answer.data(), sizeof name);
  }
};

template <class Body>
std::vector<std::byte> command(std::uint32_t number, const Body& body) {
  const rdma_ucm_cmd_hdr header{number, sizeof body, 440};
  std::vector<std::byte> bytes(sizeof header + sizeof body);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, &body, sizeof body);
  return bytes;
}

const std::vector<std::byte> kCreate =
    command(RDMA_USER_CM_CMD_CREATE_ID, rdma_ucm_create_id{7, 0, RDMA_PS_TCP, 2, {}});

std::vector<std::byte> own_event(std::uint32_t id) {
  WriteEventCommand body{};
  body.id = id;
  body.event = 19;
  return command(24, body);
}

struct SocketProgram {
  const Served& served;
  Descriptor channel = served.open();
  ReplySocket replies{served};
  bool takes_events = false;

  Reply run(const std::vector<std::byte>& bytes, const abi::SocketName& old = {}) {
    auto message = request(abi::RdmaCmRequestKind::command, replies.name, bytes, 0, old);
    const std::uint32_t takes = takes_events ? 1 : 0;
    std::memcpy(message.data() + offsetof(abi::RdmaCmRequest, takes_events), &takes, sizeof takes);
    send_to(channel, message);
    return receive(replies.socket);
  }
  abi::SocketName name_of_channel() {
    send_to(channel, request(abi::RdmaCmRequestKind::name_channel, replies.name));
    const Reply reply = receive(replies.socket);
    BOOST_TEST(reply.header.error == 0);
    abi::SocketName name{};
    std::memcpy(&name, reply.answer.data(), sizeof name);
    return name;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(server, Served)

BOOST_AUTO_TEST_CASE(commands_are_answered_on_the_reply_socket) {
  SocketProgram program{*this};
  for (std::uint32_t expected = 0; expected < 3; ++expected) {
    const Reply reply = program.run(kCreate);
    BOOST_TEST(reply.header.magic == abi::kRdmaCmMagic);
    BOOST_TEST(reply.header.error == 0);
    BOOST_TEST(reply.header.length == 4u);
    std::uint32_t id = 99;
    std::memcpy(&id, reply.answer.data(), sizeof id);
    BOOST_TEST(id == expected);
  }
  BOOST_TEST(!is_readable(program.channel, 0));
}

BOOST_AUTO_TEST_CASE(reply_sockets_have_names_of_their_own) {
  const ReplySocket first(*this);
  const ReplySocket second(*this);
  BOOST_TEST(std::memcmp(&first.name, &second.name, sizeof first.name) != 0);
}

// A program can see what changes, and change nothing.
BOOST_AUTO_TEST_CASE(the_page_of_changes_comes_with_a_reply_socket) {
  const Descriptor socket = open();
  send_to(socket, request(abi::RdmaCmRequestKind::open_reply_socket));
  BOOST_REQUIRE(is_readable(socket));
  Message message;
  BOOST_REQUIRE(receive_message(socket.get(), message) == ReceiveResult::message);
  BOOST_REQUIRE_EQUAL(message.descriptors.size(), 1u);
  const int page = message.descriptors.front().get();
  const auto map = [page](int rights) {
    return mmap(nullptr, abi::kIdentifierChangesBytes, rights, MAP_SHARED, page, 0);
  };
  BOOST_TEST(map(PROT_READ | PROT_WRITE) == MAP_FAILED);
  BOOST_TEST(ftruncate(page, 0) == -1);
  void* const place = map(PROT_READ);
  BOOST_REQUIRE(place != MAP_FAILED);
  BOOST_TEST(mprotect(place, abi::kIdentifierChangesBytes, PROT_READ | PROT_WRITE) == -1);
  const auto* const changes = static_cast<const abi::IdentifierChanges*>(place);
  SocketProgram program{*this};
  program.run(kCreate);
  const std::uint32_t before = changes->of(0);
  program.run(command(RDMA_USER_CM_CMD_DESTROY_ID, rdma_ucm_destroy_id{0, 0, 0}));
  BOOST_TEST(changes->of(0) != before);
  munmap(place, abi::kIdentifierChangesBytes);
}

BOOST_AUTO_TEST_CASE(further_answers_follow_the_answer) {
  SocketProgram program{*this};
  program.run(kCreate);
  rdma_ucm_resolve_ip resolve{};
  resolve.dst_addr.sin6_family = AF_INET;
  const std::uint32_t loopback = htonl(INADDR_LOOPBACK);
  std::memcpy(reinterpret_cast<char*>(&resolve.dst_addr) + 4, &loopback, sizeof loopback);
  resolve.timeout_ms = 1000;
  BOOST_TEST(program.run(command(RDMA_USER_CM_CMD_RESOLVE_IP, resolve)).header.error == 0);
  const Reply reply = program.run(command(RDMA_USER_CM_CMD_GET_EVENT, rdma_ucm_get_event{}));
  BOOST_TEST(reply.header.length == sizeof(rdma_ucm_event_resp));
  BOOST_TEST(reply.header.further_length ==
             sizeof(abi::FurtherAnswers) +
                 2 * (sizeof(abi::FurtherAnswer) + sizeof(rdma_ucm_query_addr_resp)));
  abi::FurtherAnswers head{99, 0};
  std::memcpy(&head, reply.answer.data() + reply.header.length, sizeof head);
  BOOST_TEST(head.identifier == 0u);
}

BOOST_AUTO_TEST_CASE(an_answer_without_a_reply_socket_is_lost) {
  SocketProgram program{*this};
  send_to(program.channel, request(abi::RdmaCmRequestKind::command, {}, kCreate));
  std::uint32_t id = 99;
  std::memcpy(&id, program.run(kCreate).answer.data(), sizeof id);
  BOOST_TEST(id == 1u);
  {
    const ReplySocket gone(*this);
    program.replies.name = gone.name;
  }
  BOOST_TEST(program.run(kCreate).header.error == -1);
}

BOOST_AUTO_TEST_CASE(nonsense_closes_the_connection) {
  const ReplySocket replies(*this);
  std::vector<std::byte> wrong_magic = request(abi::RdmaCmRequestKind::command, replies.name, kCreate);
  wrong_magic[0] ^= std::byte{1};
  std::vector<std::byte> too_long = request(abi::RdmaCmRequestKind::command, replies.name, kCreate);
  too_long.push_back({});
  std::vector<std::byte> too_short = request(abi::RdmaCmRequestKind::command, replies.name, kCreate);
  too_short.pop_back();
  const std::vector<std::byte> long_command(abi::kMaxRdmaCmCommand + 1);
  for (const auto& message :
       {std::vector<std::byte>(1), std::vector<std::byte>(sizeof(abi::RdmaCmRequest) - 1), wrong_magic,
        too_long, too_short, request(static_cast<abi::RdmaCmRequestKind>(9), replies.name),
        request(abi::RdmaCmRequestKind::command, replies.name, long_command),
        request(abi::RdmaCmRequestKind::command, replies.name, kCreate, abi::kMaxRdmaCmOption + 1),
        std::vector<std::byte>(4096)}) {
    const Descriptor channel = open();
    send_to(channel, message);
    BOOST_TEST(is_closed(channel));
  }
}

BOOST_AUTO_TEST_CASE(a_socket_has_one_use) {
  ReplySocket replies(*this);
  send_to(replies.socket, request(abi::RdmaCmRequestKind::command, replies.name, kCreate));
  BOOST_TEST(is_closed(replies.socket));
  SocketProgram program{*this};
  BOOST_TEST(program.run(kCreate).header.error == 0);
  send_to(program.channel, request(abi::RdmaCmRequestKind::open_reply_socket));
  BOOST_TEST(is_closed(program.channel));
}

BOOST_AUTO_TEST_CASE(descriptors_are_not_taken) {
  const Descriptor channel = open();
  int sent = 0;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof sent)] = {};
  std::vector<std::byte> bytes = request(abi::RdmaCmRequestKind::name_channel);
  iovec part{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof sent);
  std::memcpy(CMSG_DATA(rights), &sent, sizeof sent);
  BOOST_REQUIRE(sendmsg(channel.get(), &message, MSG_NOSIGNAL) > 0);
  BOOST_TEST(is_closed(channel));
}

BOOST_AUTO_TEST_CASE(events_make_the_channel_readable) {
  SocketProgram program{*this};
  program.run(kCreate);
  for (int i = 0; i < 20; ++i) BOOST_TEST(program.run(own_event(0)).header.error == 0);
  char tokens[64];
  int count = 0;
  while (recv(program.channel.get(), tokens, sizeof tokens, MSG_DONTWAIT) == 1) ++count;
  BOOST_TEST(count == static_cast<int>(abi::kMaxEventTokens));
  // One taken: one more comes.
  const auto get_event = command(RDMA_USER_CM_CMD_GET_EVENT, rdma_ucm_get_event{});
  BOOST_TEST(program.run(get_event).header.error == 0);
  BOOST_TEST(recv(program.channel.get(), tokens, sizeof tokens, MSG_DONTWAIT) == 1);
  const Reply destroyed = program.run(command(RDMA_USER_CM_CMD_DESTROY_ID, rdma_ucm_destroy_id{0, 0, 0}));
  BOOST_TEST(destroyed.header.discard == abi::kMaxEventTokens);
  BOOST_TEST(program.run(get_event).header.error == EAGAIN);
}

// By what the kernel says is unread in the socket.
BOOST_AUTO_TEST_CASE(who_takes_events_gets_them_with_their_tokens) {
  SocketProgram program{*this};
  program.takes_events = true;
  program.run(kCreate);
  abi::EventToken token{};
  const auto take = [&] {
    return recv(program.channel.get(), &token, sizeof token, MSG_DONTWAIT) == sizeof token;
  };
  for (std::uint32_t i = 1; i <= 40; ++i) {
    BOOST_TEST(program.run(own_event(0)).header.error == 0);
    BOOST_TEST(take());
    BOOST_TEST(token.magic == abi::kRdmaCmMagic);
    BOOST_TEST(token.number == i);
    rdma_ucm_event_resp event{};
    std::memcpy(&event, token.event, sizeof event);
    BOOST_TEST(event.event == 19u);
    BOOST_TEST(!take());
  }
  for (int i = 0; i < 3; ++i) program.run(own_event(0));
  BOOST_TEST(take());
  BOOST_TEST(token.magic == abi::kRdmaCmMagic);
  BOOST_TEST(take());
  BOOST_TEST(token.magic == 0u);
  const auto get_event = command(RDMA_USER_CM_CMD_GET_EVENT, rdma_ucm_get_event{});
  BOOST_TEST(program.run(get_event).header.error == 0);
  const Reply destroyed = program.run(command(RDMA_USER_CM_CMD_DESTROY_ID, rdma_ucm_destroy_id{0, 0, 0}));
  std::uint32_t reported = 0;
  std::memcpy(&reported, destroyed.answer.data(), sizeof reported);
  BOOST_TEST(reported == 42u);
  BOOST_TEST(destroyed.header.discard == 1u);
}

BOOST_AUTO_TEST_CASE(a_carried_event_that_is_unread_is_taken_back) {
  SocketProgram program{*this};
  program.takes_events = true;
  program.run(kCreate);
  program.run(own_event(0));
  const Reply destroyed = program.run(command(RDMA_USER_CM_CMD_DESTROY_ID, rdma_ucm_destroy_id{0, 0, 0}));
  std::uint32_t reported = 99;
  std::memcpy(&reported, destroyed.answer.data(), sizeof reported);
  BOOST_TEST(reported == 0u);
  BOOST_TEST(destroyed.header.discard == 1u);
  BOOST_TEST(server->rdma_cm().identifiers().changes().withdrawals() == 1u);
}

BOOST_AUTO_TEST_CASE(the_name_of_a_channel_serves_once) {
  SocketProgram old{*this};
  SocketProgram now{*this};
  old.run(kCreate);
  old.run(own_event(0));
  const auto migrate = command(RDMA_USER_CM_CMD_MIGRATE_ID, rdma_ucm_migrate_id{0, 0, 0});
  BOOST_TEST(now.run(migrate).header.error == EINVAL);
  const abi::SocketName replaced = old.name_of_channel();
  const abi::SocketName name = old.name_of_channel();
  BOOST_TEST(now.run(migrate, replaced).header.error == EINVAL);
  const Reply moved = now.run(migrate, name);
  BOOST_TEST(moved.header.error == 0);
  BOOST_TEST(moved.header.discard == 1u);  // on the old channel
  BOOST_TEST(is_readable(now.channel, 0));
  BOOST_TEST(now.run(migrate, name).header.error == EINVAL);
}

BOOST_AUTO_TEST_CASE(what_a_program_has_goes_with_its_channel) {
  SocketProgram other{*this};
  {
    SocketProgram program{*this};
    for (int i = 0; i < 100; ++i) program.run(kCreate);
  }
  std::uint32_t id = 99;
  for (int i = 0; i < 200 && id != 0; ++i) {
    std::memcpy(&id, other.run(kCreate).answer.data(), sizeof id);
    other.run(command(RDMA_USER_CM_CMD_DESTROY_ID, rdma_ucm_destroy_id{0, id, 0}));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  BOOST_TEST(id == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::rdma_cm::test
