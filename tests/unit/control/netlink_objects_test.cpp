// RDMA netlink: the objects of programs, all of a kind or one.
#include <infiniband/verbs.h>

#include <boost/test/unit_test.hpp>
#include <map>
#include <set>

#include "tests/unit/control/netlink_machine.hpp"

namespace urnic::control::test {
namespace {

using netlink::DatagramWriter;
using netlink::take_message;

struct Entries {
  std::vector<std::vector<std::byte>> storage;
  std::vector<ReadAttributes> all;
};
// The entries of all messages of a dump.
Entries entries_of(const Conversation& dump, std::uint16_t table, std::uint16_t entry) {
  Entries entries;
  for (const ReadMessage& message : dump.messages) entries.storage.push_back(message.payload);
  for (const auto& payload : entries.storage) {
    for (const auto& each : ReadAttributes(payload).table(table).entries(entry)) entries.all.push_back(each);
  }
  return entries;
}

BOOST_FIXTURE_TEST_SUITE(netlink_objects, WithMachine)

BOOST_AUTO_TEST_CASE(no_objects_no_messages) {
  for (const std::uint32_t command :
       {RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_CMD_RES_MR_GET,
        RDMA_NLDEV_CMD_RES_PD_GET, RDMA_NLDEV_CMD_RES_CTX_GET, RDMA_NLDEV_CMD_RES_SRQ_GET,
        RDMA_NLDEV_CMD_RES_CM_ID_GET, RDMA_NLDEV_CMD_STAT_GET}) {
    const Conversation dump = ask(dump_of_device(command));
    BOOST_TEST(dump.error == 0);
    BOOST_TEST(dump.messages.empty());
  }
}

BOOST_AUTO_TEST_CASE(objects_of_a_program) {
  OpenProgram program(machine);
  const OpenProgram other(machine, 1);
  const auto qp = program.create_qp(program.pd, program.cq);
  alignas(4096) static std::array<std::byte, 8192> memory;
  abi::RegisterMrReply region{};
  BOOST_REQUIRE(program.register_mr(program.pd, memory.data(), 5000, IBV_ACCESS_LOCAL_WRITE, region) == 0);

  const auto qps = entries_of(ask(dump_of_device(RDMA_NLDEV_CMD_RES_QP_GET)), RDMA_NLDEV_ATTR_RES_QP,
                              RDMA_NLDEV_ATTR_RES_QP_ENTRY);
  BOOST_REQUIRE(qps.all.size() == 1u);
  BOOST_TEST(qps.all[0].number(RDMA_NLDEV_ATTR_RES_LQPN) == qp.qpn);
  BOOST_TEST(qps.all[0].number<std::uint8_t>(RDMA_NLDEV_ATTR_RES_TYPE) == IBV_QPT_RC);
  BOOST_TEST(qps.all[0].number<std::uint8_t>(RDMA_NLDEV_ATTR_RES_STATE) == IBV_QPS_RESET);
  BOOST_TEST(qps.all[0].number(RDMA_NLDEV_ATTR_RES_PID) == static_cast<std::uint32_t>(getpid()));
  BOOST_TEST(!qps.all[0].has(RDMA_NLDEV_ATTR_PORT_INDEX), "it has none before INIT");
  const Conversation of_port =
      ask(dump_of_device(RDMA_NLDEV_CMD_RES_QP_GET).with(RDMA_NLDEV_ATTR_PORT_INDEX, 1));
  BOOST_TEST(of_port.messages.empty());

  const auto cqs = entries_of(ask(dump_of_device(RDMA_NLDEV_CMD_RES_CQ_GET)), RDMA_NLDEV_ATTR_RES_CQ,
                              RDMA_NLDEV_ATTR_RES_CQ_ENTRY);
  BOOST_REQUIRE(cqs.all.size() == 1u);
  BOOST_TEST(cqs.all[0].number(RDMA_NLDEV_ATTR_RES_CQE) == 16u);
  BOOST_TEST(cqs.all[0].number<std::uint64_t>(RDMA_NLDEV_ATTR_RES_USECNT) == 2u);

  const auto regions = entries_of(ask(dump_of_device(RDMA_NLDEV_CMD_RES_MR_GET)), RDMA_NLDEV_ATTR_RES_MR,
                                  RDMA_NLDEV_ATTR_RES_MR_ENTRY);
  BOOST_REQUIRE(regions.all.size() == 1u);
  BOOST_TEST(regions.all[0].number<std::uint64_t>(RDMA_NLDEV_ATTR_RES_MRLEN) == 5000u);
  BOOST_TEST(!regions.all[0].has(RDMA_NLDEV_ATTR_RES_RKEY));

  const auto domains = entries_of(ask(dump_of_device(RDMA_NLDEV_CMD_RES_PD_GET)), RDMA_NLDEV_ATTR_RES_PD,
                                  RDMA_NLDEV_ATTR_RES_PD_ENTRY);
  BOOST_REQUIRE(domains.all.size() == 1u);
  BOOST_TEST(domains.all[0].number(RDMA_NLDEV_ATTR_RES_PDN) ==
             regions.all[0].number(RDMA_NLDEV_ATTR_RES_PDN));
  BOOST_TEST(domains.all[0].number(RDMA_NLDEV_ATTR_RES_PDN) == qps.all[0].number(RDMA_NLDEV_ATTR_RES_PDN));

  const auto contexts = entries_of(ask(dump_of_device(RDMA_NLDEV_CMD_RES_CTX_GET)), RDMA_NLDEV_ATTR_RES_CTX,
                                   RDMA_NLDEV_ATTR_RES_CTX_ENTRY);
  BOOST_REQUIRE(contexts.all.size() == 1u);
  BOOST_TEST(contexts.all[0].number(RDMA_NLDEV_ATTR_RES_CTXN) == cqs.all[0].number(RDMA_NLDEV_ATTR_RES_CTXN));

  const Conversation counts = ask(NetlinkRequest(RDMA_NLDEV_CMD_RES_GET).with(RDMA_NLDEV_ATTR_DEV_INDEX, 0));
  std::map<std::string, std::uint64_t> found;
  for (const auto& entry : counts.messages.at(0)
                               .attributes()
                               .table(RDMA_NLDEV_ATTR_RES_SUMMARY)
                               .entries(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY)) {
    found[entry.text(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME)] =
        entry.number<std::uint64_t>(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR);
  }
  const std::map<std::string, std::uint64_t> expected{{"pd", 1}, {"cq", 1},  {"qp", 1}, {"cm_id", 0},
                                                      {"mr", 1}, {"ctx", 1}, {"srq", 0}};
  BOOST_TEST((found == expected));
}

// The answer to a request for the object with that number: the attributes of one message.
BOOST_AUTO_TEST_CASE(one_object_by_its_number) {
  OpenProgram program(machine);
  const OpenProgram other(machine, 1);
  std::vector<abi::CreateQpReply> qps;
  for (int i = 0; i < 100; ++i) qps.push_back(program.create_qp(program.pd, program.cq));
  const auto request = [](std::uint32_t command, std::uint32_t device) {
    return NetlinkRequest(command).with(RDMA_NLDEV_ATTR_DEV_INDEX, device);
  };
  for (const auto& qp : qps) {
    const Conversation one =
        ask(request(RDMA_NLDEV_CMD_RES_QP_GET, 0).with(RDMA_NLDEV_ATTR_RES_LQPN, qp.qpn));
    BOOST_TEST(one.error == 0);
    BOOST_REQUIRE(one.messages.size() == 1u);
    BOOST_TEST(one.messages[0].header.nlmsg_flags == 0);
    const ReadAttributes attributes = one.messages[0].attributes();
    BOOST_TEST(attributes.text(RDMA_NLDEV_ATTR_DEV_NAME) == "urnic0");
    BOOST_TEST(attributes.number(RDMA_NLDEV_ATTR_RES_LQPN) == qp.qpn);
    BOOST_TEST(attributes.number(RDMA_NLDEV_ATTR_RES_PID) == static_cast<std::uint32_t>(getpid()));
  }
  const struct {
    std::uint32_t command;
    std::uint16_t dumped_table;
    std::uint16_t dumped_entry;
    std::uint16_t number;
  } kinds[] = {
      {RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY,
       RDMA_NLDEV_ATTR_RES_LQPN},
      {RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_ATTR_RES_CQ, RDMA_NLDEV_ATTR_RES_CQ_ENTRY,
       RDMA_NLDEV_ATTR_RES_CQN},
      {RDMA_NLDEV_CMD_RES_PD_GET, RDMA_NLDEV_ATTR_RES_PD, RDMA_NLDEV_ATTR_RES_PD_ENTRY,
       RDMA_NLDEV_ATTR_RES_PDN},
      {RDMA_NLDEV_CMD_RES_CTX_GET, RDMA_NLDEV_ATTR_RES_CTX, RDMA_NLDEV_ATTR_RES_CTX_ENTRY,
       RDMA_NLDEV_ATTR_RES_CTXN},
  };
  for (const auto& kind : kinds) {
    const Entries all = entries_of(ask(dump_of_device(kind.command)), kind.dumped_table, kind.dumped_entry);
    for (const ReadAttributes& entry : all.all) {
      const std::uint32_t number = entry.number(kind.number);
      const Conversation one = ask(request(kind.command, 0).with(kind.number, number));
      BOOST_REQUIRE(one.messages.size() == 1u);
      BOOST_TEST(one.messages[0].attributes().number(kind.number) == number);
    }
    BOOST_TEST(ask(request(kind.command, 0)).error == EINVAL, "no number");
    BOOST_TEST(ask(request(kind.command, 0).with(kind.number, 0xFFFFFFF0)).error == ENOENT);
  }
  BOOST_TEST(
      ask(request(RDMA_NLDEV_CMD_RES_QP_GET, 1).with(RDMA_NLDEV_ATTR_RES_LQPN, qps[0].qpn)).error == ENOENT,
      "another device's");
  BOOST_TEST(ask(request(RDMA_NLDEV_CMD_RES_MR_GET, 0).with(RDMA_NLDEV_ATTR_RES_MRN, 0)).error == ENOENT);
  BOOST_TEST(ask(request(RDMA_NLDEV_CMD_RES_SRQ_GET, 0).with(RDMA_NLDEV_ATTR_RES_SRQN, 0)).error == ENOENT);
  BOOST_TEST(ask(request(RDMA_NLDEV_CMD_RES_CM_ID_GET, 0).with(RDMA_NLDEV_ATTR_RES_CM_IDN, 0)).error ==
             ENOENT);
}

BOOST_AUTO_TEST_CASE(queue_pairs_of_a_shared_receive_queue) {
  OpenProgram program(machine);
  abi::CreateSrqReply srq{};
  const abi::CreateSrqRequest create_srq{77, program.pd, 16, 1, 0};
  BOOST_REQUIRE(program.call(ControlOpcode::create_srq, create_srq, srq) == 0);
  const auto listed = [this] {
    std::set<std::uint32_t> qpns;
    const auto srqs = entries_of(ask(dump_of_device(RDMA_NLDEV_CMD_RES_SRQ_GET)), RDMA_NLDEV_ATTR_RES_SRQ,
                                 RDMA_NLDEV_ATTR_RES_SRQ_ENTRY);
    BOOST_REQUIRE(srqs.all.size() == 1u);
    for (const auto& qp : srqs.all[0].table(RDMA_NLDEV_ATTR_RES_QP).entries(RDMA_NLDEV_ATTR_RES_QP_ENTRY))
      qpns.insert(qp.number(RDMA_NLDEV_ATTR_RES_LQPN));
    return qpns;
  };
  BOOST_TEST(listed().empty());

  abi::CreateQpRequest create_qp = program.qp_request(program.pd, program.cq);
  create_qp.srq = srq.handle;
  std::set<std::uint32_t> made;
  std::vector<std::uint32_t> handles;
  for (int i = 0; i < 200; ++i) {
    abi::CreateQpReply qp{};
    BOOST_REQUIRE(program.call(ControlOpcode::create_qp, create_qp, qp) == 0);
    handles.push_back(qp.handle);
    if (i < 100) made.insert(qp.qpn);
  }
  program.create_qp(program.pd, program.cq);
  BOOST_TEST(listed().size() == 128u, "as many as a datagram has room for");
  for (int i = 100; i < 200; ++i) {
    abi::DestroyReply reply{};
    const abi::HandleRequest request{handles[static_cast<std::size_t>(i)], 0};
    BOOST_REQUIRE(program.call(ControlOpcode::destroy_qp, request, reply) == 0);
  }
  BOOST_TEST((listed() == made));
}

// In portions, each of one datagram; every queue pair comes exactly once.
BOOST_AUTO_TEST_CASE(many_queue_pairs) {
  OpenProgram program(machine);
  OpenProgram second(machine);
  std::set<std::uint32_t> made;
  for (int i = 0; i < 300; ++i) {
    OpenProgram& owner = i % 3 == 0 ? second : program;
    made.insert(owner.create_qp(owner.pd, owner.cq).qpn);
  }
  BOOST_REQUIRE(made.size() == 300u);
  const Conversation dump = ask(dump_of_device(RDMA_NLDEV_CMD_RES_QP_GET));
  const auto qps = entries_of(dump, RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY);
  BOOST_TEST(qps.all.size() == 300u);
  std::set<std::uint32_t> listed;
  for (const auto& qp : qps.all) listed.insert(qp.number(RDMA_NLDEV_ATTR_RES_LQPN));
  BOOST_TEST((listed == made));
  BOOST_TEST(dump.portions >= 300u * 60 / netlink::kMaxDatagram);
}

// The dump is under way while the table grows and shrinks.
BOOST_AUTO_TEST_CASE(objects_that_come_and_go_meanwhile) {
  OpenProgram program(machine);
  std::vector<abi::CreateQpReply> made;
  for (int i = 0; i < 200; ++i) made.push_back(program.create_qp(program.pd, program.cq));
  const Bytes bytes = dump_of_device(RDMA_NLDEV_CMD_RES_QP_GET).bytes();
  std::span<const std::byte> request(bytes);
  const auto message = take_message(request);
  DatagramWriter datagram;
  const netlink::Answered answered = netlink::answer(subjects, *message, datagram);
  BOOST_REQUIRE(answered.dump != nullptr);
  BOOST_REQUIRE(answered.dump->write(datagram));

  for (std::size_t i = 100; i < 200; ++i) {
    abi::DestroyReply reply{};
    BOOST_REQUIRE(program.call(ControlOpcode::destroy_qp, abi::HandleRequest{made[i].handle, 0}, reply) == 0);
  }
  for (int i = 0; i < 400; ++i) program.create_qp(program.pd, program.cq);
  std::set<std::uint32_t> listed;
  bool interrupted = false;
  for (bool more = true; more;) {
    for (const auto& each : read_messages(datagram.bytes())) {
      interrupted = interrupted || (each.header.nlmsg_flags & NLM_F_DUMP_INTR) != 0;
      for (const auto& qp :
           each.attributes().table(RDMA_NLDEV_ATTR_RES_QP).entries(RDMA_NLDEV_ATTR_RES_QP_ENTRY))
        listed.insert(qp.number(RDMA_NLDEV_ATTR_RES_LQPN));
    }
    datagram.cut_back(0);
    more = answered.dump->write(datagram);
  }
  for (std::size_t i = 0; i < 100; ++i) BOOST_TEST(listed.contains(made[i].qpn));
  BOOST_TEST(interrupted, "the table has grown, so queue pairs may come twice");
}

BOOST_AUTO_TEST_CASE(a_program_that_ends_during_a_dump) {
  auto program = std::make_unique<OpenProgram>(machine);
  for (int i = 0; i < 200; ++i) program->create_qp(program->pd, program->cq);
  const Bytes bytes = dump_of_device(RDMA_NLDEV_CMD_RES_QP_GET).bytes();
  std::span<const std::byte> request(bytes);
  const auto message = take_message(request);
  DatagramWriter datagram;
  const netlink::Answered answered = netlink::answer(subjects, *message, datagram);
  BOOST_REQUIRE(answered.dump->write(datagram));
  program.reset();
  datagram.cut_back(0);
  while (answered.dump->write(datagram)) {
  }
  BOOST_TEST(datagram.empty());
}

class FewIdentifiers final : public netlink::CmIdentifierSource {
 public:
  std::size_t count(const ServedDevice&) const override { return 40; }
  void list(const ServedDevice&, std::uint32_t first, std::size_t most,
            std::vector<netlink::CmIdentifier>& identifiers) const override {
    for (std::uint32_t number = first; number < 40 && identifiers.size() < most; ++number) {
      netlink::CmIdentifier identifier;
      identifier.number = number;
      identifier.qpn = 100 + number;
      identifier.port_space = 0x0106;
      identifier.source.ss_family = AF_INET;
      identifiers.push_back(identifier);
    }
  }
};

BOOST_AUTO_TEST_CASE(rdma_cm_identifiers) {
  const FewIdentifiers source;
  subjects.cm_identifiers = &source;
  const auto identifiers = entries_of(ask(dump_of_device(RDMA_NLDEV_CMD_RES_CM_ID_GET)),
                                      RDMA_NLDEV_ATTR_RES_CM_ID, RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY);
  BOOST_REQUIRE(identifiers.all.size() == 40u);
  BOOST_TEST(identifiers.all[39].number(RDMA_NLDEV_ATTR_RES_CM_IDN) == 39u);
  BOOST_TEST(identifiers.all[39].number(RDMA_NLDEV_ATTR_RES_LQPN) == 139u);
  BOOST_TEST(identifiers.all[0].bytes(RDMA_NLDEV_ATTR_RES_SRC_ADDR).size() == sizeof(sockaddr_storage));
  BOOST_TEST(!identifiers.all[0].has(RDMA_NLDEV_ATTR_RES_DST_ADDR));
  const auto one = [this](std::uint32_t number) {
    return ask(NetlinkRequest(RDMA_NLDEV_CMD_RES_CM_ID_GET)
                   .with(RDMA_NLDEV_ATTR_DEV_INDEX, 0)
                   .with(RDMA_NLDEV_ATTR_RES_CM_IDN, number));
  };
  BOOST_TEST(one(17).messages.at(0).attributes().number(RDMA_NLDEV_ATTR_RES_LQPN) == 117u);
  BOOST_TEST(one(40).error == ENOENT);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::control::test
