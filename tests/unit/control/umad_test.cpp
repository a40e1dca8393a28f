// /dev/infiniband/umadN: what programs may register, write and read.
#include <linux/capability.h>
#include <rdma/ib_user_mad.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "device_model/control/umad/agent_rules.hpp"
#include "device_model/control/umad/agents.hpp"
#include "json/json.hpp"
#include "tests/unit/control/admin_program.hpp"
#include "tests/unit/control/file_in_memory.hpp"
#include "tests/unit/control/umad_program.hpp"

namespace urnic::control::test {

namespace {

AgentRequest agent_for(std::uint8_t management_class, std::uint8_t version = 1, std::uint32_t oui = 0) {
  return {.qpn = 1, .management_class = management_class, .class_version = version, .oui = oui};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(umad)

BOOST_AUTO_TEST_CASE(agents_are_granted_as_linux_grants_them) {
  BOOST_TEST(check_agent(agent_for(0)) == 0);
  BOOST_TEST(check_agent(agent_for(4)) == 0);
  BOOST_TEST(check_agent(agent_for(0x2F, 0x82)) == 0);
  BOOST_TEST(check_agent(agent_for(80)) == EINVAL);
  BOOST_TEST(check_agent(agent_for(4, 0x83)) == EINVAL);
  BOOST_TEST(check_agent(agent_for(kPing)) == EINVAL);
  BOOST_TEST(check_agent(agent_for(kPing, 1, kOui)) == 0);
  AgentRequest request = agent_for(3, 2);
  request.rmpp_version = 1;
  BOOST_TEST(check_agent(request) == 0);
  request.rmpp_version = 2;
  BOOST_TEST(check_agent(request) == EINVAL);
  request = agent_for(4);
  request.rmpp_version = 1;
  BOOST_TEST(check_agent(request) == EINVAL);
  request = agent_for(4);
  request.qpn = 2;
  BOOST_TEST(check_agent(request) == EINVAL);
  for (const auto subnet : {std::uint8_t{0x01}, std::uint8_t{0x81}}) {
    request = agent_for(subnet);
    BOOST_TEST(check_agent(request) == EINVAL);
    request.qpn = 0;
    BOOST_TEST(check_agent(request) == 0);
  }
  request = agent_for(4);
  request.qpn = 0;
  BOOST_TEST(check_agent(request) == EINVAL);
}

BOOST_AUTO_TEST_CASE(a_method_of_a_class_has_one_taker) {
  UmadAgents agents;
  UmadAgent first{.request = agent_for(kPing, 1, kOui)};
  first.request.methods = {1 << 1, 0};
  UmadAgent second = first;
  BOOST_TEST(agents.add(first) == 0);
  BOOST_TEST(agents.add(second) == EINVAL);
  second.request.oui = 1;
  BOOST_TEST(agents.add(second) == 0);
  UmadAgent third = first;
  third.device = 1;
  BOOST_TEST(agents.add(third) == 0);
  UmadAgent sender{.request = agent_for(kPing, 1, kOui)};
  BOOST_TEST(agents.add(sender) == 0);

  const Mad mad = ping(Method::get);
  MadHeader header;
  wire::mad::decode(mad, header);
  BOOST_TEST(agents.find_taker(0, header, mad) == &first);
  BOOST_TEST(agents.find_taker(1, header, mad) == &third);
  header.method = Method::set;
  BOOST_TEST(agents.find_taker(0, header, mad) == nullptr);
  BOOST_TEST(agents.find_requester(0, {std::uint64_t{sender.number} << 32 | 9}) == &sender);
  BOOST_TEST(agents.find_requester(1, {std::uint64_t{sender.number} << 32}) == nullptr);
  agents.remove(first);
  header.method = Method::get;
  BOOST_TEST(agents.find_taker(0, header, mad) == nullptr);
}

// rdma_cm has them, where it uses the device.
BOOST_AUTO_TEST_CASE(messages_of_connection_management_are_class_7_version_2_method_send) {
  AgentRequest request = agent_for(7, 2);
  request.methods = {1 << 3, 0};
  BOOST_TEST(takes_connection_management(request));
  request.methods = {};
  BOOST_TEST(!takes_connection_management(request));
  request = agent_for(7, 1);
  request.methods = {1 << 3, 0};
  BOOST_TEST(!takes_connection_management(request));
  request = agent_for(4, 2);
  request.methods = {1 << 3, 0};
  BOOST_TEST(!takes_connection_management(request));
}

BOOST_AUTO_TEST_CASE(requests_are_repeated_and_given_up) {
  using namespace std::chrono_literals;
  PendingRequests pending;
  const PendingRequests::Clock::time_point start{};
  const PendingRequests::Key key{7, ManagementClass::openib_ping};
  PendingRequest request;
  request.to.peer = *parse_gid("::ffff:192.0.2.2");
  request.packet.header.timeout_ms = 100;
  request.repetitions = 2;
  BOOST_TEST(pending.check(key) == 0);
  pending.add(key, request, start);
  BOOST_TEST(pending.check(key) == EINVAL);
  int repeated = 0;
  int given_up = 0;
  const auto expire = [&](auto now) {
    pending.expire(
        now, [&](const PendingRequest&) { ++repeated; }, [&](const PendingRequest&) { ++given_up; });
  };
  expire(start + 99ms);
  BOOST_TEST(repeated == 0);
  for (int i = 1; i <= 2; ++i) {
    BOOST_TEST((pending.next_due() == start + i * 100ms));
    expire(start + i * 100ms);
    BOOST_TEST(repeated == i);
  }
  expire(start + 300ms);
  BOOST_TEST(given_up == 1);
  BOOST_TEST(!pending.next_due());

  request.packet.header.timeout_ms = 1;
  pending.add(key, request, start);
  BOOST_TEST((pending.next_due() == start + PendingRequests::kShortestTimeout));
  BOOST_TEST(!pending.take(key, *parse_gid("::ffff:192.0.2.3")));
  BOOST_TEST(!pending.take({8, ManagementClass::openib_ping}, request.to.peer));
  BOOST_TEST(pending.take(key, request.to.peer).has_value());
  for (std::size_t i = 0; i < PendingRequests::kMost; ++i) pending.add({i, key.second}, request, start);
  BOOST_TEST(pending.check({9999, key.second}) == ENOMEM);
  pending.drop_agent(0);
  BOOST_TEST(!pending.next_due());
}

// On InfiniBand what is sent once more may bring other requests' answers before it has left.
BOOST_AUTO_TEST_CASE(a_request_may_be_answered_while_another_one_is_repeated_or_given_up) {
  using namespace std::chrono_literals;
  for (const std::uint32_t repetitions : {0U, 1U}) {
    PendingRequests pending;
    const PendingRequests::Clock::time_point start{};
    std::vector<std::uint32_t> told;
    for (std::uint32_t i = 1; i <= 4; ++i) {
      PendingRequest request;
      request.repetitions = repetitions;
      request.packet.header.id = i;
      pending.add({i, ManagementClass::openib_ping}, request, start);
    }
    const auto tell = [&](const PendingRequest& request) {
      const std::uint32_t id = request.packet.header.id;
      told.push_back(id);
      if (id == 1) pending.take({2, ManagementClass::openib_ping}, {});
      if (id == 3) pending.drop({4, ManagementClass::openib_ping});
    };
    pending.expire(start + 1s, tell, tell);
    BOOST_TEST(told == (std::vector<std::uint32_t>{1, 3}), boost::test_tools::per_element());
  }
}

struct Opened {
  RunningProcess process;
  UmadProgram client{process, 0};
  UmadProgram server{process, 1};
};

BOOST_FIXTURE_TEST_CASE(a_request_and_its_answer_travel_between_programs, Opened) {
  ib_user_mad_reg_req2 request = ping_server();
  BOOST_TEST(server.ask(UmadRequestKind::register_agent2, request) == 0);
  const std::uint32_t id = client.register_client();
  UmadPacket question = packet_to(2, ping(Method::get), id);
  question.header.timeout_ms = 5000;
  BOOST_TEST(client.write(question) == 0);

  UmadPacket asked;
  BOOST_TEST(server.read(asked) == sizeof asked);
  BOOST_TEST(asked.header.id == request.id);
  BOOST_TEST(asked.header.length == sizeof asked);
  BOOST_TEST(ntohs(asked.header.lid) == 1);
  BOOST_TEST(ntohl(asked.header.qpn) == 1u);
  BOOST_TEST(asked.header.grh_present == 1);
  BOOST_TEST(asked.header.hop_limit == 64);

  UmadPacket answer = packet_to(1, asked.mad, request.id);
  MadHeader header;
  wire::mad::decode(asked.mad, header);
  header.method = Method::get_response;
  encode(header, answer.mad);
  BOOST_TEST(server.write(answer) == 0);
  UmadPacket answered;
  BOOST_TEST(client.read(answered) == sizeof answered);
  BOOST_TEST(answered.header.status == 0u);
  BOOST_TEST((answered.mad == answer.mad));
  BOOST_TEST((header.transaction.value & 0xFFFF'FFFF) == 5u);

  // Nobody waits for it a second time.
  BOOST_TEST(server.write(answer) == 0);
  BOOST_TEST(client.read(answered, 50) == 0u);

  // The same by GID, over IPv4 and IPv6, as the request came.
  for (const auto index : {std::uint8_t{0}, std::uint8_t{1}}) {
    question.header.grh_present = 1;
    question.header.gid_index = index;
    const wire::Gid peer = default_configuration().devices[1].gids[index];
    std::copy(peer.bytes.begin(), peer.bytes.end(), question.header.gid);
    BOOST_TEST(client.write(question) == 0);
    BOOST_TEST(server.read(asked) == sizeof asked);
    BOOST_TEST(asked.header.gid_index == index);
    UmadPacket by_gid = answer;
    by_gid.header = asked.header;
    BOOST_TEST(server.write(by_gid) == 0);
    BOOST_TEST(client.read(answered) == sizeof answered);
    BOOST_TEST(answered.header.gid_index == index);
  }
}

// `urnic run` asks before and after a program that fails, so that it does not say that the program has used
// no device.
BOOST_FIXTURE_TEST_CASE(openings_are_counted_as_those_of_verbs, Opened) {
  client.register_client();
  server.register_client();
  BOOST_TEST(AdminProgram(process).ask({{"cmd", "lease"}}).at("contexts_opened") == 2);
}

BOOST_FIXTURE_TEST_CASE(a_request_without_answer_comes_back, Opened) {
  const std::uint32_t id = client.register_client();
  UmadPacket question = packet_to(2, ping(Method::send), id);
  question.header.timeout_ms = 20;
  question.header.retries = 2;
  BOOST_TEST(client.write(question) == 0);
  BOOST_TEST(client.write(question) == EINVAL);  // it is still under way
  UmadPacket back;
  BOOST_TEST(client.read(back) == 64u + 24u);
  BOOST_TEST(back.header.status == static_cast<std::uint32_t>(ETIMEDOUT));
  BOOST_TEST(back.header.id == id);
  BOOST_TEST(back.header.timeout_ms == 20u);
  BOOST_TEST(back.header.retries == 2u);
  question.header.timeout_ms = 0;
  BOOST_TEST(client.write(question) == 0);
  BOOST_TEST(client.read(back, 50) == 0u);
}

BOOST_FIXTURE_TEST_CASE(old_headers_are_shorter, Opened) {
  ib_user_mad_reg_req request{};
  request.qpn = 1;
  request.mgmt_class = 4;
  request.mgmt_class_version = 1;
  BOOST_TEST(client.ask(UmadRequestKind::register_agent, request) == 0);
  UmadPacket question = packet_to(2, {}, request.id);
  Mad mad{};
  encode(MadHeader{.management_class = ManagementClass::performance,
                   .class_version = 1,
                   .method = Method::get,
                   .attribute = {1}},
         mad);
  std::array<std::byte, 56 + 256> bytes;
  question.header.timeout_ms = 1000;
  std::memcpy(bytes.data(), &question.header, 56);
  std::copy(mad.begin(), mad.end(), bytes.begin() + 56);
  BOOST_TEST(client.ask(UmadRequestKind::write, std::span<const std::byte>(bytes), {}) == 0);
  UmadPacket answer;
  BOOST_TEST(client.read(answer) == bytes.size());
  BOOST_TEST(client.ask(UmadRequestKind::enable_pkey, std::span<std::byte>()) == EINVAL);
}

BOOST_FIXTURE_TEST_CASE(wrong_requests_are_refused, Opened) {
  UmadPacket packet = packet_to(2, ping(Method::send));
  BOOST_TEST(client.write(packet) == EIO);  // there is no agent
  packet.header.id = 32;
  BOOST_TEST(client.ask(UmadRequestKind::enable_pkey, std::span<std::byte>()) == 0);
  BOOST_TEST(client.write(packet) == EINVAL);
  const std::uint32_t id = client.register_client();
  packet.header.id = id;
  BOOST_TEST(client.write(packet) == 0);
  for (const std::size_t bytes : {0, 1, 63, 64, 99}) BOOST_TEST(client.write(packet, bytes) == EINVAL, bytes);
  BOOST_TEST(client.write(packet, 100) == 0);
  for (const auto lid : {std::uint16_t{0}, std::uint16_t{3}, std::uint16_t{0xFFFF}}) {
    BOOST_TEST(client.write(packet_to(lid, ping(Method::send), id)) == EINVAL);
  }
  packet.header.qpn = 0;
  BOOST_TEST(client.write(packet) == EINVAL);
  packet.header.qpn = htonl(1);
  packet.header.pkey_index = 1;
  BOOST_TEST(client.write(packet) == EINVAL);
  packet.header.pkey_index = 0;
  packet.header.grh_present = 1;
  packet.header.gid_index = 200;
  BOOST_TEST(client.write(packet) == EINVAL);
  packet.header.gid_index = 1;
  const wire::Gid nobody = *parse_gid("::ffff:203.0.113.9");
  std::copy(nobody.bytes.begin(), nobody.bytes.end(), packet.header.gid);
  BOOST_TEST(client.write(packet) == ETIMEDOUT);

  std::uint32_t number = 31;
  BOOST_TEST(client.ask(UmadRequestKind::unregister_agent, number) == EINVAL);
  number = 0xFFFFFFFF;
  BOOST_TEST(client.ask(UmadRequestKind::unregister_agent, number) == EINVAL);
  number = id;
  BOOST_TEST(client.ask(UmadRequestKind::unregister_agent, number) == 0);
  BOOST_TEST(client.ask(UmadRequestKind::unregister_agent, number) == EINVAL);

  ib_user_mad_reg_req2 request = ping_server();
  request.flags = 0x10;
  BOOST_TEST(client.ask(UmadRequestKind::register_agent2, request) == EINVAL);
  BOOST_TEST(request.flags == static_cast<std::uint32_t>(IB_USER_MAD_REG_FLAGS_CAP));
  for (std::uint32_t i = 0; i < 32; ++i) BOOST_TEST(client.register_client() == i);
  request = ping_server();
  BOOST_TEST(client.ask(UmadRequestKind::register_agent2, request) == ENOMEM);
}

// The kernel asks for the effective set; it comes back with its owner's end.
class WithoutNetRaw {
 public:
  WithoutNetRaw() {
    BOOST_REQUIRE(syscall(SYS_capget, &header_, before_) == 0);
    __user_cap_data_struct sets[2] = {before_[0], before_[1]};
    sets[0].effective &= ~(1u << CAP_NET_RAW);
    BOOST_REQUIRE(syscall(SYS_capset, &header_, sets) == 0);
  }
  ~WithoutNetRaw() { syscall(SYS_capset, &header_, before_); }
  WithoutNetRaw(const WithoutNetRaw&) = delete;
  WithoutNetRaw& operator=(const WithoutNetRaw&) = delete;

 private:
  __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct before_[2]{};
};

BOOST_DATA_TEST_CASE(messages_of_the_connection_manager_need_the_right_to_raw_packets,
                     boost::unit_test::data::make({true, false}), all) {
  const WithoutNetRaw without;
  Configuration configuration = default_configuration();
  for (DeviceSettings& device : configuration.devices)
    device.raw_packets = all ? RawPackets::all : RawPackets::privileged;
  RunningProcess process({}, configuration);
  UmadProgram program(process, 0);
  ib_user_mad_reg_req2 request{};
  request.qpn = 1;
  request.mgmt_class = 7;
  request.mgmt_class_version = 2;
  BOOST_TEST(program.ask(UmadRequestKind::register_agent2, request) == 0);
  Mad mad{};
  encode(
      MadHeader{
          .management_class = ManagementClass::communication, .class_version = 2, .method = Method::send},
      mad);
  BOOST_TEST(program.write(packet_to(2, mad, request.id)) == (all ? 0 : EPERM));
}

// Nobody else notices, and the device process goes on.
BOOST_FIXTURE_TEST_CASE(nonsense_closes_the_connection, Opened) {
  const auto closes = [&](std::span<const std::byte> bytes) {
    UmadProgram program(process, 0);
    send_message(program.descriptor(), bytes, {});
    return program.is_closed();
  };
  const std::array<std::byte, 2000> zeros{};
  for (const std::size_t bytes : {2, 7, 8, 400, 2000})
    BOOST_TEST(closes(std::span(zeros).first(bytes)), bytes);
  UmadProgram odd(process, 0);
  std::array<std::byte, 40> argument{};
  BOOST_TEST(odd.ask(static_cast<UmadRequestKind>(99), argument) == -1);
  UmadProgram wrong_length(process, 0);
  BOOST_TEST(wrong_length.ask(UmadRequestKind::register_agent, argument) == -1);
  UmadProgram without_answer(process, 0);
  const abi::UmadRequest request{abi::kUmadMagic, static_cast<std::uint32_t>(UmadRequestKind::enable_pkey)};
  const memory::Descriptor no_socket = file_in_memory(argument);
  send_message(without_answer.descriptor(), std::as_bytes(std::span(&request, 1)), {{no_socket.get()}});
  BOOST_TEST(without_answer.is_closed());
  client.register_client();
}

// A mark is not read. A program that sends itself with one, and closes its node, is gone nevertheless.
BOOST_FIXTURE_TEST_CASE(no_descriptor_stays_in_a_connection, Opened) {
  const std::array<std::byte, 1> mark{};
  const auto closes = [&](std::span<const std::byte> before, std::span<const std::byte> last) {
    UmadProgram program(process, 0);
    if (!before.empty()) send_message(program.descriptor(), before, {});
    send_message(program.descriptor(), last, {{program.descriptor()}});
    return program.is_closed();
  };
  BOOST_TEST(closes({}, mark));
  BOOST_TEST(closes(mark, mark));
  BOOST_TEST(closes({}, {}));
  BOOST_TEST(closes(mark, {}));
  // Marks alone harm nobody.
  for (int i = 0; i < 3; ++i) send_message(client.descriptor(), mark, {});
  client.register_client();
}

BOOST_FIXTURE_TEST_CASE(a_program_that_does_not_read_loses_packets_and_hurts_nobody, Opened) {
  ib_user_mad_reg_req2 request = ping_server();
  BOOST_TEST(server.ask(UmadRequestKind::register_agent2, request) == 0);
  const std::uint32_t id = client.register_client();
  for (int i = 0; i < 3000; ++i) BOOST_REQUIRE(client.write(packet_to(2, ping(Method::send), id)) == 0);
  UmadPacket packet;
  int read = 0;
  while (server.read(packet, 200) != 0) ++read;
  BOOST_TEST(read >= 256);
  BOOST_TEST(read < 3000);
  BOOST_TEST(client.write(packet_to(2, ping(Method::send), id)) == 0);
  BOOST_TEST(server.read(packet) == sizeof packet);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
