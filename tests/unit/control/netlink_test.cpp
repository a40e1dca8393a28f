// RDMA netlink: what the answers say of devices, ports, nodes and counters, and which requests are refused.
#include <infiniband/verbs.h>

#include <boost/test/unit_test.hpp>
#include <fstream>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/sysfs/counter_values.hpp"
#include "device_model/control/sysfs/sysfs_tree.hpp"
#include "tests/unit/control/netlink_machine.hpp"
#include "tests/unit/control/running_process.hpp"

namespace urnic::control::test {
namespace {

using netlink::CharacterNodes;

BOOST_FIXTURE_TEST_SUITE(netlink_answers, WithMachine)

BOOST_AUTO_TEST_CASE(all_devices_in_order) {
  const Conversation devices = ask(NetlinkRequest(RDMA_NLDEV_CMD_GET, kDump));
  BOOST_TEST(devices.error == 0);
  BOOST_REQUIRE(devices.messages.size() == 2u);
  for (std::uint32_t i = 0; i < 2; ++i) {
    const ReadMessage& message = devices.messages[i];
    BOOST_TEST(message.header.nlmsg_type == netlink::message_type(RDMA_NLDEV_CMD_GET));
    BOOST_TEST(message.header.nlmsg_flags == NLM_F_MULTI);
    BOOST_TEST(message.header.nlmsg_seq == 77u);
    BOOST_TEST(message.header.nlmsg_pid == 4711u);
    const ReadAttributes device = message.attributes();
    BOOST_TEST(device.number(RDMA_NLDEV_ATTR_DEV_INDEX) == i);
    BOOST_TEST(device.text(RDMA_NLDEV_ATTR_DEV_NAME) == "urnic" + std::to_string(i));
    BOOST_TEST(device.number(RDMA_NLDEV_ATTR_PORT_INDEX) == 1u);
    BOOST_TEST(device.number<std::uint64_t>(RDMA_NLDEV_ATTR_NODE_GUID) == 0x007572fffe6e0000u + i);
    BOOST_TEST(device.number<std::uint64_t>(RDMA_NLDEV_ATTR_CAP_FLAGS) == limits::kDeviceFlags);
    BOOST_TEST(device.number<std::uint8_t>(RDMA_NLDEV_ATTR_DEV_NODE_TYPE) == IBV_NODE_CA);
    BOOST_TEST(device.text(RDMA_NLDEV_ATTR_DEV_PROTOCOL) == "roce");
    BOOST_TEST(device.text(RDMA_NLDEV_ATTR_FW_VERSION) == URNIC_VERSION);
  }
}

BOOST_AUTO_TEST_CASE(one_device) {
  const Conversation one = ask(NetlinkRequest(RDMA_NLDEV_CMD_GET).with(RDMA_NLDEV_ATTR_DEV_INDEX, 1));
  BOOST_REQUIRE(one.messages.size() == 1u);
  BOOST_TEST(one.messages[0].header.nlmsg_flags == 0);
  BOOST_TEST(one.messages[0].attributes().text(RDMA_NLDEV_ATTR_DEV_NAME) == "urnic1");
  BOOST_TEST(ask(NetlinkRequest(RDMA_NLDEV_CMD_GET)).error == EINVAL);
  for (const std::uint32_t none : {2u, 0xFFFFFFFFu})
    BOOST_TEST(ask(NetlinkRequest(RDMA_NLDEV_CMD_GET).with(RDMA_NLDEV_ATTR_DEV_INDEX, none)).error == EINVAL);
}

BOOST_AUTO_TEST_CASE(a_port) {
  const auto port = [this](std::uint32_t number) {
    return ask(NetlinkRequest(RDMA_NLDEV_CMD_PORT_GET)
                   .with(RDMA_NLDEV_ATTR_DEV_INDEX, 0)
                   .with(RDMA_NLDEV_ATTR_PORT_INDEX, number));
  };
  const auto state = [&](std::uint16_t type) {
    return port(1).messages.at(0).attributes().number<std::uint8_t>(type);
  };
  BOOST_TEST(state(RDMA_NLDEV_ATTR_PORT_STATE) == IBV_PORT_ACTIVE);
  BOOST_TEST(state(RDMA_NLDEV_ATTR_PORT_PHYS_STATE) == limits::kPhysicalLinkUp);
  BOOST_TEST(port(1).messages.at(0).attributes().text(RDMA_NLDEV_ATTR_NDEV_NAME) == "lo");
  BOOST_TEST(port(0).error == EINVAL);
  BOOST_TEST(port(2).error == EINVAL);
  const Conversation all = ask(dump_of_device(RDMA_NLDEV_CMD_PORT_GET, 1));
  BOOST_REQUIRE(all.messages.size() == 1u);
  BOOST_TEST(all.messages[0].attributes().text(RDMA_NLDEV_ATTR_DEV_NAME) == "urnic1");
}

BOOST_AUTO_TEST_CASE(nodes_as_sysfs_shows_them) {
  const TemporaryDirectory home;
  const SysfsTree tree(home.path() / "sysfs", machine.fabric);
  nodes = CharacterNodes(home.path() / "sysfs");
  for (std::uint32_t device = 0; device < 2; ++device) {
    const Conversation node = ask(NetlinkRequest(RDMA_NLDEV_CMD_GET_CHARDEV)
                                      .with(RDMA_NLDEV_ATTR_DEV_INDEX, device)
                                      .with(RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs"));
    const std::uint32_t number = tree.node_number(*machine.fabric.devices()[device]);
    BOOST_REQUIRE(node.messages.size() == 1u);
    const ReadAttributes attributes = node.messages[0].attributes();
    BOOST_TEST(attributes.text(RDMA_NLDEV_ATTR_CHARDEV_NAME) == "uverbs" + std::to_string(number));
    BOOST_TEST(attributes.number<std::uint64_t>(RDMA_NLDEV_ATTR_CHARDEV) == (231u << 8 | (192 + number)));
    BOOST_TEST(attributes.number<std::uint64_t>(RDMA_NLDEV_ATTR_CHARDEV_ABI) == 1u);
  }
  const auto error = [this](NetlinkRequest request) { return ask(request).error; };
  const NetlinkRequest node(RDMA_NLDEV_CMD_GET_CHARDEV);
  BOOST_TEST(error(NetlinkRequest(node)) == EINVAL);
  BOOST_TEST(error(NetlinkRequest(node).with(RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs")) == ENOENT);
  BOOST_TEST(error(NetlinkRequest(node)
                       .with(RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs")
                       .with(RDMA_NLDEV_ATTR_DEV_INDEX, 2)) == EINVAL);
  BOOST_TEST(error(NetlinkRequest(node)
                       .with(RDMA_NLDEV_ATTR_CHARDEV_TYPE, "nothing")
                       .with(RDMA_NLDEV_ATTR_DEV_INDEX, 0)) == ENOENT);
}

// Minor numbers above 255 are split, as the kernel's huge_encode_dev does.
BOOST_AUTO_TEST_CASE(a_node_of_no_device_with_a_large_number) {
  const TemporaryDirectory home;
  const auto folder = home.path() / "class" / "misc" / "rdma_cm";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "dev") << "10:65535\n";
  std::ofstream(folder / "abi_version") << "4\n";
  nodes = CharacterNodes(home.path());
  const Conversation node =
      ask(NetlinkRequest(RDMA_NLDEV_CMD_GET_CHARDEV).with(RDMA_NLDEV_ATTR_CHARDEV_TYPE, "rdma_cm"));
  BOOST_REQUIRE(node.messages.size() == 1u);
  const ReadAttributes attributes = node.messages[0].attributes();
  BOOST_TEST(attributes.number<std::uint64_t>(RDMA_NLDEV_ATTR_CHARDEV) == 0xff00affu);
  BOOST_TEST(attributes.number<std::uint64_t>(RDMA_NLDEV_ATTR_CHARDEV_ABI) == 4u);
}

BOOST_AUTO_TEST_CASE(the_system) {
  const Conversation system = ask(NetlinkRequest(RDMA_NLDEV_CMD_SYS_GET));
  BOOST_REQUIRE(system.messages.size() == 1u);
  const ReadAttributes attributes = system.messages[0].attributes();
  BOOST_TEST(attributes.number<std::uint8_t>(RDMA_NLDEV_SYS_ATTR_NETNS_MODE) == 1);
  BOOST_TEST(attributes.number<std::uint8_t>(RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK) == 1);
}

BOOST_AUTO_TEST_CASE(the_counters_of_sysfs) {
  const auto counters = ask(NetlinkRequest(RDMA_NLDEV_CMD_STAT_GET)
                                .with(RDMA_NLDEV_ATTR_DEV_INDEX, 0)
                                .with(RDMA_NLDEV_ATTR_PORT_INDEX, 1));
  BOOST_REQUIRE(counters.messages.size() == 1u);
  const auto entries = counters.messages[0]
                           .attributes()
                           .table(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS)
                           .entries(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
  const auto values = hardware_values(snapshot(machine.fabric, *machine.fabric.devices()[0]));
  BOOST_REQUIRE(entries.size() == values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    BOOST_TEST(entries[i].text(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME) == values[i].name);
    BOOST_TEST(entries[i].number<std::uint64_t>(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE) ==
               values[i].value);
  }
  BOOST_TEST(ask(NetlinkRequest(RDMA_NLDEV_CMD_STAT_GET).with(RDMA_NLDEV_ATTR_DEV_INDEX, 0)).error == EINVAL);
}

BOOST_AUTO_TEST_CASE(refused_requests) {
  BOOST_TEST(ask(NetlinkRequest(RDMA_NLDEV_CMD_SET)).error == EOPNOTSUPP);
  BOOST_TEST(ask(NetlinkRequest(RDMA_NLDEV_CMD_NEWLINK)).error == EOPNOTSUPP);
  BOOST_TEST(ask(NetlinkRequest(RDMA_NLDEV_NUM_OPS)).error == EINVAL);
  BOOST_TEST(ask(NetlinkRequest(1023, kDump).with(RDMA_NLDEV_ATTR_DEV_INDEX, 0)).error == EINVAL);
  BOOST_TEST(ask(NetlinkRequest(RDMA_NLDEV_CMD_RES_QP_GET, kDump)).error == EINVAL);
  BOOST_TEST(ask(dump_of_device(RDMA_NLDEV_CMD_SYS_GET)).error == EINVAL);
  BOOST_TEST(ask(NetlinkRequest(RDMA_NL_GET_TYPE(RDMA_NL_LS, 0))).error != 0);
}

// Attributes that are none, behind a good one, whatever the command is.
BOOST_AUTO_TEST_CASE(malformed_attributes_are_refused) {
  const auto attribute = [](std::uint16_t length, std::size_t bytes) {
    Bytes made(bytes, std::byte{1});
    std::memcpy(made.data(), &length, std::min(bytes, sizeof length));
    return made;
  };
  const Bytes malformed[] = {attribute(8, 1),   attribute(8, 2),       attribute(4, 3),      attribute(0, 4),
                             attribute(1, 8),   attribute(3, 8),       attribute(5, 4),      attribute(9, 8),
                             attribute(13, 12), attribute(0x8000, 16), attribute(0xFFFF, 16)};
  for (std::uint32_t command = 0; command < RDMA_NLDEV_NUM_OPS + 2u; ++command) {
    for (const std::uint16_t flags : {std::uint16_t{NLM_F_REQUEST}, kDump}) {
      for (const Bytes& wrong : malformed) {
        Bytes request = NetlinkRequest(command, flags).with(RDMA_NLDEV_ATTR_DEV_INDEX, 0).bytes();
        request.insert(request.end(), wrong.begin(), wrong.end());
        const auto length = static_cast<std::uint32_t>(request.size());
        std::memcpy(request.data(), &length, sizeof length);
        const Conversation refused = converse(subjects, request);
        BOOST_TEST(refused.error == EINVAL, "command " << command << ", attribute of " << wrong.size());
        BOOST_TEST(refused.messages.empty());
      }
    }
  }
}

// Attributes with values that name nothing, for commands that need a device.
BOOST_AUTO_TEST_CASE(values_that_name_nothing_are_refused) {
  const std::uint16_t half = 0;
  const std::uint64_t twice = 0;
  const auto of = [](std::uint32_t command, std::uint16_t flags) { return NetlinkRequest(command, flags); };
  for (const std::uint32_t command :
       {RDMA_NLDEV_CMD_PORT_GET, RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_CMD_RES_CQ_GET,
        RDMA_NLDEV_CMD_RES_MR_GET, RDMA_NLDEV_CMD_RES_PD_GET, RDMA_NLDEV_CMD_RES_CTX_GET,
        RDMA_NLDEV_CMD_RES_SRQ_GET, RDMA_NLDEV_CMD_RES_CM_ID_GET, RDMA_NLDEV_CMD_STAT_GET}) {
    for (const std::uint16_t flags : {std::uint16_t{NLM_F_REQUEST}, kDump}) {
      const NetlinkRequest wrong[] = {
          of(command, flags),
          of(command, flags).with(RDMA_NLDEV_ATTR_DEV_INDEX, 2),
          of(command, flags).with(RDMA_NLDEV_ATTR_DEV_INDEX, 0xFFFFFFFF),
          of(command, flags).with(RDMA_NLDEV_ATTR_DEV_INDEX, &half, sizeof half),
          of(command, flags).with(RDMA_NLDEV_ATTR_DEV_INDEX, &twice, sizeof twice),
          of(command, flags).with(RDMA_NLDEV_ATTR_DEV_INDEX, nullptr, 0),
          of(command, flags).with(RDMA_NLDEV_ATTR_DEV_NAME, "urnic0"),
          of(command, flags).with(RDMA_NLDEV_ATTR_DEV_INDEX, 0).with(RDMA_NLDEV_ATTR_PORT_INDEX, 0),
          of(command, flags).with(RDMA_NLDEV_ATTR_DEV_INDEX, 0).with(RDMA_NLDEV_ATTR_PORT_INDEX, 2),
          of(command, flags)
              .with(RDMA_NLDEV_ATTR_DEV_INDEX, 0)
              .with(RDMA_NLDEV_ATTR_PORT_INDEX, &half, sizeof half),
      };
      for (const NetlinkRequest& request : wrong)
        BOOST_TEST(ask(request).error == EINVAL, "command " << command);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::control::test
