// /dev/infiniband/umadN: messages of several datagrams between programs; issmN: who is a port's subnet
// manager.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <optional>

#include "device_model/control/umad/long_write.hpp"
#include "device_model/control/umad/rmpp_exchanges.hpp"
#include "tests/unit/control/umad_program.hpp"
#include "wire/mad/rmpp.hpp"

namespace urnic::control::test {
namespace {

constexpr std::uint8_t kAdministration = 3;
constexpr std::size_t kDataOffset = 56;  // of subnet administration

constexpr Method kSubnAdmGetTable{0x12};
constexpr Method kSubnAdmGetMulti{0x14};

// Of the class of subnet administration; a server takes requests of the method.
std::uint32_t register_administration(UmadProgram& program, std::optional<Method> served,
                                      std::uint32_t flags = 0) {
  ib_user_mad_reg_req2 request{};
  request.qpn = 1;
  request.mgmt_class = kAdministration;
  request.mgmt_class_version = 2;
  request.rmpp_version = 1;
  request.flags = flags;
  if (served) request.method_mask[0] = 1U << static_cast<unsigned>(*served);
  BOOST_REQUIRE(program.ask(UmadRequestKind::register_agent2, request) == 0);
  return request.id;
}

// A datagram of the class; with `is_long`, the beginning of a message of several.
Mad administration(Method method, bool is_long, std::uint64_t transaction = 5) {
  Mad mad{};
  encode(MadHeader{.management_class = ManagementClass{kAdministration},
                   .class_version = 2,
                   .method = method,
                   .transaction = {transaction}},
         mad);
  encode(wire::mad::RmppHeader{.active = is_long}, mad);
  return mad;
}

// A packet as a program writes it, with that many bytes of data.
std::vector<std::byte> long_packet(std::uint16_t lid, const Mad& mad, std::size_t data, std::uint32_t id) {
  const UmadPacket packet = packet_to(lid, mad, id);
  std::vector<std::byte> bytes(sizeof packet.header + kDataOffset);
  std::memcpy(bytes.data(), &packet, bytes.size());
  for (std::size_t i = 0; i < data; ++i) bytes.push_back(static_cast<std::byte>(i / 200 + i));
  return bytes;
}

std::vector<std::byte> data_of_packet(const std::vector<std::byte>& packet) {
  constexpr std::size_t begin = sizeof(ib_user_mad_hdr) + kDataOffset;
  return packet.size() < begin ? std::vector<std::byte>() : std::vector(packet.begin() + begin, packet.end());
}

ib_user_mad_hdr header_of_packet(const std::vector<std::byte>& packet) {
  ib_user_mad_hdr header{};
  std::memcpy(&header, packet.data(), std::min(sizeof header, packet.size()));
  return header;
}

// A client at the first device, and a server at the second.
struct Administration {
  explicit Administration(const Configuration& configuration = default_configuration())
      : process({}, configuration) {}

  Mad ask() {
    UmadPacket question = packet_to(2, administration(kSubnAdmGetTable, false, ++transaction), client_id);
    question.header.timeout_ms = 5000;
    BOOST_REQUIRE(client.write(question) == 0);
    UmadPacket asked;
    BOOST_REQUIRE(server.read(asked) == sizeof asked);
    return asked.mad;
  }
  std::vector<std::byte> answer_to(const Mad& question, std::size_t data) {
    MadHeader header;
    decode(question, header);
    return long_packet(1, administration(Method{0x92}, true, header.transaction.value), data, server_id);
  }

  std::uint64_t transaction = 0;
  RunningProcess process;
  UmadProgram client{process, 0};
  UmadProgram server{process, 1};
  std::uint32_t client_id = register_administration(client, {});
  std::uint32_t server_id = register_administration(server, kSubnAdmGetTable);
};

Configuration with_memory(int mib) {
  return parse_configuration("[limits]\nmemory_mib = " + std::to_string(mib) + "\n", "small.toml");
}

// A program that opens issmN without the kernel stand-in.
class Manager {
 public:
  Manager(const RunningProcess& process, bool may_wait)
      : node_(connect_to(process.directory().device_nodes() / "issm0", SOCK_SEQPACKET)) {
    const abi::IssmRequest request{abi::kUmadMagic, may_wait ? 1U : 0U};
    send_message(node_.get(), std::as_bytes(std::span(&request, 1)), {});
  }
  // 0: it is the manager; an errno; -1: it waits.
  int answer(int patience_ms) const {
    pollfd look{node_.get(), POLLIN, 0};
    abi::UmadReply reply{abi::kUmadMagic, -1};
    if (poll(&look, 1, patience_ms) == 1) recv(node_.get(), &reply, sizeof reply, 0);
    return reply.error;
  }

 private:
  memory::Descriptor node_;
};

constexpr int kPollPatience = 5000;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(umad_messages, Administration)

BOOST_AUTO_TEST_CASE(an_answer_of_several_datagrams_is_written_and_read_as_one) {
  for (const std::size_t data : {0, 1, 200, 201, 4480, 150000}) {
    const auto answer = answer_to(ask(), data);
    BOOST_TEST(server.write_bytes(answer) == 0);
    const auto answered = client.read_bytes();
    BOOST_TEST(answered.size() == answer.size());
    BOOST_TEST(header_of_packet(answered).length == answer.size());
    BOOST_TEST(header_of_packet(answered).id == client_id);
    BOOST_TEST((data_of_packet(answered) == data_of_packet(answer)));
    // Nobody waits for it any more.
    BOOST_TEST(server.write_bytes(answer) == 0);
    BOOST_TEST(client.read_bytes(50).empty());
  }
}

BOOST_AUTO_TEST_CASE(a_long_message_needs_the_active_flag_and_an_agent_with_rmpp) {
  const Mad question = ask();
  auto answer = answer_to(question, 1000);
  answer[sizeof(ib_user_mad_hdr) + 26] = std::byte{0};
  BOOST_TEST(server.write_bytes(answer) == EINVAL);
  UmadProgram other(process, 1);
  const std::uint32_t own = register_administration(other, {}, IB_USER_MAD_USER_RMPP);
  MadHeader header;
  decode(question, header);
  const Mad mad = administration(Method{0x92}, true, header.transaction.value);
  BOOST_TEST(other.write_bytes(long_packet(1, mad, 1000, own)) == EINVAL);
}

// It gets every segment, and has to acknowledge them itself.
BOOST_AUTO_TEST_CASE(a_program_may_join_messages_itself) {
  UmadProgram own(process, 0);
  const std::uint32_t id = register_administration(own, {}, IB_USER_MAD_USER_RMPP);
  UmadPacket question = packet_to(2, administration(kSubnAdmGetTable, false), id);
  question.header.timeout_ms = 5000;
  BOOST_TEST(own.write(question) == 0);
  UmadPacket asked;
  BOOST_TEST(server.read(asked) == sizeof asked);
  BOOST_TEST(server.write_bytes(answer_to(asked.mad, 1000)) == 0);
  const auto segment = own.read_bytes();
  BOOST_TEST(segment.size() == sizeof(UmadPacket));
}

BOOST_AUTO_TEST_CASE(a_long_answer_that_nobody_acknowledges_comes_back) {
  const Mad question = ask();
  auto answer = answer_to(question, 1000);
  auto header = header_of_packet(answer);
  header.timeout_ms = 20;
  header.retries = 1;
  // To the server's own port, where no agent has sent the request.
  header.lid = htons(2);
  std::memcpy(answer.data(), &header, sizeof header);
  BOOST_TEST(server.write_bytes(answer) == 0);
  const auto back = server.read_bytes();
  BOOST_TEST(back.size() == sizeof header + wire::mad::kMadHeaderBytes);
  BOOST_TEST(header_of_packet(back).status == static_cast<std::uint32_t>(ETIMEDOUT));
}

// The server acknowledges no segment, and its answer is one datagram.
BOOST_AUTO_TEST_CASE(a_long_request_is_over_with_its_answer) {
  UmadProgram own(process, 1);
  const std::uint32_t id = register_administration(own, kSubnAdmGetMulti, IB_USER_MAD_USER_RMPP);
  auto question = long_packet(2, administration(kSubnAdmGetMulti, true), 1000, client_id);
  auto header = header_of_packet(question);
  header.timeout_ms = 5000;
  header.retries = 9;
  std::memcpy(question.data(), &header, sizeof header);
  // The second one has the id of the first.
  for (int i = 0; i < 2; ++i) {
    BOOST_TEST(client.write_bytes(question) == 0);
    UmadPacket asked;
    BOOST_REQUIRE(own.read(asked) == sizeof asked);
    MadHeader theirs;
    decode(asked.mad, theirs);
    const Mad answer = administration(Method{0x94}, false, theirs.transaction.value);
    BOOST_TEST(own.write(packet_to(1, answer, id)) == 0);
    const auto answered = client.read_bytes();
    BOOST_REQUIRE(answered.size() == sizeof(UmadPacket));
    BOOST_TEST(header_of_packet(answered).status == 0u);
  }
}

// Most are longer than a message of a socket can be. The client reads them when all have left.
BOOST_AUTO_TEST_CASE(long_answers_wait_for_a_program_that_does_not_read) {
  std::map<std::size_t, std::vector<std::byte>> answers;
  for (const std::size_t data : {1'000'000, 500'000, 10, 1'500'000}) {
    const auto answer = answer_to(ask(), data);
    BOOST_TEST(server.write_bytes(answer) == 0);
    answers.emplace(answer.size(), data_of_packet(answer));
  }
  while (!answers.empty()) {
    const auto answered = client.read_bytes();
    const auto answer = answers.extract(header_of_packet(answered).length);
    BOOST_REQUIRE(!answer.empty());
    BOOST_TEST((data_of_packet(answered) == answer.mapped()));
  }
}

BOOST_AUTO_TEST_CASE(what_is_longer_than_any_message_is_refused) {
  const auto too_long = answer_to(ask(), abi::kMostUmadBytes);
  BOOST_TEST(server.write_bytes(too_long) == ENOMEM);
  BOOST_TEST(server.write_bytes(answer_to(ask(), 1000)) == 0);
  BOOST_TEST(!client.read_bytes().empty());
}

// A program may have half of it.
BOOST_AUTO_TEST_CASE(a_long_message_without_memory_left_is_refused) {
  Administration small(with_memory(32));
  BOOST_TEST(small.server.write_bytes(small.answer_to(small.ask(), 20'000'000)) == ENOMEM);
  BOOST_TEST(small.server.write_bytes(small.answer_to(small.ask(), 1'000'000)) == 0);
  BOOST_TEST(!small.client.read_bytes().empty());
}

// Nothing can be read from the file: it is as if the program had cut it off.
BOOST_AUTO_TEST_CASE(a_message_that_is_cut_off_is_refused_and_takes_no_memory) {
  for (const std::size_t length : {1000, 10'000'000}) {
    Administration small(with_memory(32));
    UmadProgram other(small.process, 1);
    const std::uint32_t id = register_administration(other, {});
    MadHeader header;
    decode(small.ask(), header);
    const Mad mad = administration(Method{0x92}, true, header.transaction.value);
    const auto whole = long_packet(1, mad, length, id);
    const auto file = file_in_memory(std::span(whole).subspan(abi::kMaxUmadPacket));
    const memory::Descriptor unreadable(
        open(("/proc/self/fd/" + std::to_string(file.get())).c_str(), O_WRONLY | O_CLOEXEC));
    const auto first = std::span(whole).first(abi::kMaxUmadPacket);
    BOOST_TEST(other.ask(UmadRequestKind::write, first, {}, unreadable.get()) == EINVAL);
    // The connection goes on, and others have all memory.
    BOOST_TEST(small.server.write_bytes(small.answer_to(small.ask(), 12'000'000)) == 0);
  }
}

// Files that may not answer are not asked.
BOOST_AUTO_TEST_CASE(the_rest_of_a_packet_is_in_memory) {
  const auto answer = answer_to(ask(), 1000);
  const auto first = std::span(answer).first(abi::kMaxUmadPacket);
  std::array<int, 2> ends{};
  BOOST_REQUIRE(pipe2(ends.data(), O_CLOEXEC) == 0);
  const memory::Descriptor reading(ends[0]);
  const memory::Descriptor writing(ends[1]);
  const memory::Descriptor disk(open("/proc/self/status", O_RDONLY | O_CLOEXEC));
  for (const int odd : {reading.get(), writing.get(), disk.get(), server.descriptor()})
    BOOST_TEST(server.ask(UmadRequestKind::write, first, {}, odd) == EINVAL);
  // Other requests have none.
  BOOST_TEST(server.ask(UmadRequestKind::enable_pkey, {}, {}, disk.get()) == -1);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(long_write)

BOOST_AUTO_TEST_CASE(a_file_is_read_in_portions) {
  std::vector<std::byte> bytes(5000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i / 7);
  const auto file = file_in_memory(std::span(bytes).subspan(200));
  LongWrite write({}, {}, std::span(bytes).first(200), file.get(), 4800);
  BOOST_TEST((write.read(3000) == LongWrite::State::under_way));
  BOOST_TEST((write.read(3000) == LongWrite::State::whole));
  BOOST_TEST((write.take_message() == bytes));
}

BOOST_AUTO_TEST_CASE(a_file_that_gets_shorter_meanwhile_is_cut_off) {
  const auto file = file_in_memory(std::vector<std::byte>(5000));
  LongWrite write({}, {}, {}, file.get(), 5000);
  BOOST_TEST((write.read(1000) == LongWrite::State::under_way));
  BOOST_REQUIRE(ftruncate(file.get(), 1500) == 0);
  BOOST_TEST((write.read(1000) == LongWrite::State::cut_off));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(subnet_manager_node)

BOOST_AUTO_TEST_CASE(a_port_has_one_manager_and_the_next_one_waits) {
  RunningProcess process({}, parse_configuration("[[devices]]\nlink_layer = \"infiniband\"\n", "lab.toml"));
  const auto says_so = [&] { return std::stoul(process.port_file(0, "cap_mask"), nullptr, 16) & 2; };
  std::optional<Manager> first(std::in_place, process, true);
  BOOST_TEST(first->answer(kPollPatience) == 0);
  BOOST_TEST(says_so() != 0u);
  BOOST_TEST(Manager(process, false).answer(kPollPatience) == EAGAIN);
  std::optional<Manager> gone(std::in_place, process, true);
  const Manager second(process, true);
  const Manager third(process, true);
  BOOST_TEST(gone->answer(20) == -1);
  BOOST_TEST(second.answer(20) == -1);
  gone.reset();
  first.reset();
  BOOST_TEST(second.answer(kPollPatience) == 0);
  BOOST_TEST(says_so() != 0u);
  BOOST_TEST(third.answer(20) == -1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
