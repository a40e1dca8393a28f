// The face mlx5: what the configuration makes of it, and what sysfs and netlink tell of such a device before
// a program opens it.
#include <rdma/ib_user_ioctl_verbs.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <string>

#include "device_model/control/fabric/face_identity.hpp"
#include "device_model/control/sysfs/machine_pci_bus.hpp"
#include "device_model/control/sysfs/sysfs_tree.hpp"
#include "tests/unit/control/direct_program.hpp"
#include "tests/unit/control/netlink_conversation.hpp"
#include "tests/unit/control/temporary_directory.hpp"

namespace urnic::control::test {
namespace {

namespace fs = std::filesystem;

// mlx5_0, urnic0, mlx5_1
constexpr char kBothFaces[] = R"(
  [[devices]]
  face = "mlx5"
  [[devices]]
  [[devices]]
  face = "mlx5"
)";

BOOST_AUTO_TEST_SUITE(mlx5_face)

BOOST_AUTO_TEST_CASE(devices_of_a_face_are_numbered_among_themselves) {
  const auto devices = parse_configuration(kBothFaces, "lab.toml").devices;
  BOOST_REQUIRE(devices.size() == 3u);
  BOOST_TEST(devices[0].name == "mlx5_0");
  BOOST_TEST(devices[1].name == "urnic0");
  BOOST_TEST(devices[2].name == "mlx5_1");
  BOOST_TEST((devices[1].face == Face::urnic));
  BOOST_TEST(!devices[1].pci.has_value());
  BOOST_TEST(devices[1].vendor_id == 0x75726Eu);
  BOOST_TEST(devices[1].vendor_part_id == 26428u);
  for (const std::size_t i : {0u, 2u}) {
    BOOST_TEST((devices[i].face == Face::mlx5));
    BOOST_TEST(devices[i].vendor_id == 0x2C9u);
    BOOST_TEST(devices[i].vendor_part_id == 4125u);
    BOOST_TEST(devices[i].hardware_version == 0u);
  }
  BOOST_TEST(to_text(*devices[0].pci) == "7572:00:00.0");
  BOOST_TEST(to_text(*devices[2].pci) == "7572:00:01.0");
  // Addresses follow the place among all devices.
  BOOST_TEST(to_text(devices[2].mac) == "02:75:72:6e:00:02");
}

BOOST_AUTO_TEST_CASE(the_section_of_all_devices_gives_a_face_to_those_that_say_none) {
  const auto by_default =
      parse_configuration("[device]\nface = \"mlx5\"\nvendor_part_id = 4119\n", "lab.toml");
  BOOST_TEST(by_default.devices.at(1).name == "mlx5_1");
  BOOST_TEST(by_default.devices.at(1).vendor_id == 0x2C9u);
  BOOST_TEST(by_default.devices.at(1).vendor_part_id == 4119u);
  const auto mixed = parse_configuration(
      "[device]\nface = \"mlx5\"\n[[devices]]\nname = \"mlx5_bond_0\"\n[[devices]]\nface = \"urnic\"\n",
      "lab.toml");
  BOOST_TEST(mixed.devices.at(0).name == "mlx5_bond_0");
  BOOST_TEST(mixed.devices.at(1).name == "urnic0");
  BOOST_TEST(mixed.devices.at(1).vendor_id == 0x75726Eu);
}

BOOST_AUTO_TEST_CASE(the_default_devices_wear_the_face_of_the_command_line) {
  const Configuration configuration = default_configuration(Face::mlx5);
  BOOST_REQUIRE(configuration.devices.size() == 2u);
  BOOST_TEST(configuration.devices[1].name == "mlx5_1");
  BOOST_TEST((configuration.source.face == Face::mlx5));
  BOOST_TEST((default_configuration().source.face == Face::urnic));
}

BOOST_AUTO_TEST_CASE(every_device_has_a_place_of_its_own_on_the_bus) {
  BOOST_TEST(to_text(pci_address(31)) == "7572:00:1f.0");
  BOOST_TEST(to_text(pci_address(32)) == "7572:00:00.1");
  BOOST_TEST(to_text(pci_address(253)) == "7572:00:1d.7");
}

struct Mistake {
  const char* text;
  const char* place;
  const char* value;
  const char* allowed;
};
std::ostream& operator<<(std::ostream& stream, const Mistake& mistake) { return stream << mistake.text; }

const Mistake kMistakes[] = {
    {"[[devices]]\nface = \"mlx4\"\n", "lab.toml:2:", "devices.face = 'mlx4'", "\"urnic\", \"mlx5\""},
    {"[device]\n\nface = 5\n", "lab.toml:3:", "device.face = 5", "\"urnic\", \"mlx5\""},
    {"[[devices]]\nface = \"mlx5\"\nname = \"urnic0\"\n", "lab.toml:3:", "urnic0", "\"mlx5_0\""},
    {"[[devices]]\nname = \"mlx5_0\"\n", "lab.toml:2:", "mlx5_0", "\"urnic0\""},
    {"[[devices]]\nface = \"mlx5\"\nname = \"mlx5_012345678901234567890123456\"\n", "lab.toml:3:", "0123456",
     "up to 27 letters"},
};

BOOST_DATA_TEST_CASE(mistakes_are_named, boost::unit_test::data::make(kMistakes), mistake) {
  BOOST_CHECK_EXCEPTION(parse_configuration(mistake.text, "lab.toml"), ConfigurationError,
                        [&](const ConfigurationError& error) {
                          const std::string said = error.what();
                          BOOST_TEST(said.starts_with(mistake.place), said);
                          BOOST_TEST(said.find(mistake.value) != std::string::npos, said);
                          return said.find(mistake.allowed) != std::string::npos;
                        });
}

// As Linux 6.1 and firmware of a ConnectX-6 Dx have them. In a tree of both faces.
struct WithTree {
  explicit WithTree(const char* interface = nullptr) {
    if (interface != nullptr) fabric.devices()[0]->interface = link::LocalInterface{interface, 7, 1500};
    tree.emplace(root, fabric);
  }
  TemporaryDirectory parent;
  fs::path root = parent.path() / "sysfs";
  Fabric fabric{parse_configuration(kBothFaces, "lab.toml")};
  std::optional<SysfsTree> tree;
};

struct File {
  const char* path;
  const char* text;
};

const File kFiles[] = {
    {"class/infiniband/mlx5_0/fw_ver", "22.35.1012\n"},
    {"class/infiniband/mlx5_0/board_id", "MT_0000000359\n"},
    {"class/infiniband/mlx5_0/hca_type", "MT4125\n"},
    {"class/infiniband/mlx5_0/hw_rev", "0\n"},
    {"class/infiniband/mlx5_0/node_type", "1: CA\n"},
    {"class/infiniband/mlx5_0/node_guid", "0075:72ff:fe6e:0000\n"},
    {"class/infiniband/mlx5_1/sys_image_guid", "0075:72ff:fe6e:0002\n"},
    {"class/infiniband/mlx5_1/ports/1/state", "4: ACTIVE\n"},
    {"class/infiniband/mlx5_1/ports/1/gids/1", "0000:0000:0000:0000:0000:ffff:c000:0203\n"},
    {"class/infiniband/mlx5_0/device/vendor", "0x15b3\n"},
    {"class/infiniband/mlx5_0/device/device", "0x101d\n"},
    {"class/infiniband/mlx5_0/device/subsystem_vendor", "0x15b3\n"},
    {"class/infiniband/mlx5_0/device/subsystem_device", "0x0016\n"},
    {"class/infiniband/mlx5_0/device/class", "0x020000\n"},
    {"class/infiniband/mlx5_0/device/revision", "0x00\n"},
    {"class/infiniband/mlx5_0/device/numa_node", "-1\n"},
    {"class/infiniband/mlx5_0/device/max_link_width", "16\n"},
    {"class/infiniband/mlx5_0/device/modalias", "pci:v000015B3d0000101Dsv000015B3sd00000016bc02sc00i00\n"},
    {"class/infiniband/mlx5_1/device/uevent",
     "DRIVER=mlx5_core\nPCI_CLASS=20000\nPCI_ID=15B3:101D\nPCI_SUBSYS_ID=15B3:0016\n"
     "PCI_SLOT_NAME=7572:00:01.0\nMODALIAS=pci:v000015B3d0000101Dsv000015B3sd00000016bc02sc00i00\n"},
    {"class/infiniband_mad/umad2/ibdev", "mlx5_1\n"},
    {"class/infiniband_mad/umad2/device/infiniband/mlx5_1/node_type", "1: CA\n"},
    {"bus/pci/devices/7572:00:01.0/infiniband/mlx5_1/hca_type", "MT4125\n"},
    {"bus/pci/drivers/mlx5_core/7572:00:00.0/device", "0x101d\n"},
    {"bus/pci/drivers/mlx5_core/module/initstate", "live\n"},
    {"module/mlx5_core/drivers/pci:mlx5_core/7572:00:01.0/vendor", "0x15b3\n"},
    {"module/mlx5_core/holders/mlx5_ib/initstate", "live\n"},
    // The other face beside it.
    {"class/infiniband/urnic0/hca_type", "urnic\n"},
    {"class/infiniband/urnic0/hw_rev", "0x0\n"},
    {"class/infiniband/urnic0/fw_ver", URNIC_VERSION "\n"},
    {"class/infiniband/urnic0/device/vendor", ""},
};

BOOST_FIXTURE_TEST_CASE(the_tree_says_what_a_connectx_says, WithTree) {
  for (const File& file : kFiles) BOOST_TEST(contents(root / file.path) == file.text, file.path);
}

struct Link {
  const char* path;
  const char* target;
};
const Link kLinks[] = {
    {"class/infiniband/mlx5_1", "../../devices/pci7572:00/7572:00:01.0/infiniband/mlx5_1"},
    {"class/infiniband/mlx5_1/device", "../../../7572:00:01.0"},
    {"class/infiniband/mlx5_1/subsystem", "../../../../../class/infiniband"},
    {"bus/pci/devices/7572:00:01.0", "../../../devices/pci7572:00/7572:00:01.0"},
    {"bus/pci/devices/7572:00:01.0/driver", "../../../bus/pci/drivers/mlx5_core"},
    {"bus/pci/devices/7572:00:01.0/subsystem", "../../../bus/pci"},
};

// Programs read where links lead, as lspci does of `driver`.
BOOST_FIXTURE_TEST_CASE(links_lead_where_linux_has_them, WithTree) {
  for (const Link& link : kLinks) {
    BOOST_TEST(fs::read_symlink(root / link.path) == link.target, link.path);
    BOOST_TEST(fs::exists(root / link.path), link.path);
  }
}

BOOST_FIXTURE_TEST_CASE(nodes_are_below_the_pci_device, WithTree) {
  for (const std::size_t i : {0u, 2u}) {
    const ServedDevice& device = *fabric.devices()[i];
    const std::string node = "uverbs" + std::to_string(tree->node_number(device));
    const fs::path in_class = root / "class/infiniband_verbs" / node;
    const fs::path below =
        root / "bus/pci/devices" / to_text(*device.settings.pci) / "infiniband_verbs" / node;
    BOOST_TEST(fs::equivalent(in_class, below));
    BOOST_TEST(contents(in_class / "ibdev") == device.settings.name + "\n");
    BOOST_TEST(contents(in_class / "abi_version") == "1\n");
    BOOST_TEST(contents(in_class / "device/vendor") == "0x15b3\n");
  }
}

// Tools that have no name for a device read it there, little endian (PCI Local Bus Specification, 6.1).
BOOST_FIXTURE_TEST_CASE(the_configuration_space_has_the_same_numbers, WithTree) {
  const std::string bytes = contents(root / "bus/pci/devices/7572:00:00.0/config");
  BOOST_REQUIRE(bytes.size() == 256u);
  BOOST_TEST(bytes.substr(0, 4) == "\xb3\x15\x1d\x10");
  BOOST_TEST(bytes.substr(8, 4) == std::string("\0\0\0\2", 4));
  BOOST_TEST(bytes[0xE] == 0);  // a header of type 0
  BOOST_TEST(bytes.substr(0x2C, 4) == std::string("\xb3\x15\x16\0", 4));
}

BOOST_FIXTURE_TEST_CASE(without_an_interface_none_is_named, WithTree) {
  BOOST_TEST(!fs::exists(root / "class/infiniband/mlx5_0/device/net"));
  BOOST_TEST(!fs::exists(root / "class/net"));
  BOOST_TEST(fs::exists(root / "class/infiniband/urnic0/device/net/lo"));
}

struct WithInterface : WithTree {
  WithInterface() : WithTree("mlx5_0") {}
};
BOOST_FIXTURE_TEST_CASE(the_interface_is_found_from_the_device_and_back, WithInterface) {
  const fs::path interface = root / "class/infiniband/mlx5_0/device/net/mlx5_0";
  BOOST_TEST(contents(interface / "ifindex") == "7\n");
  BOOST_TEST(contents(interface / "dev_port") == "0\n");
  BOOST_TEST(contents(root / "class/net/mlx5_0/device/uevent").find("PCI_SLOT_NAME=7572:00:00.0\n") !=
             std::string::npos);
  BOOST_TEST(!fs::exists(root / "class/net/mlx5_1"));
}

BOOST_AUTO_TEST_CASE(without_such_a_device_there_is_no_bus) {
  const TemporaryDirectory parent;
  const Fabric fabric{default_configuration()};
  const SysfsTree tree(parent.path() / "sysfs", fabric);
  for (const char* path : {"bus", "module", "devices"})
    BOOST_TEST(!fs::exists(parent.path() / "sysfs" / path), path);
}

void put(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

BOOST_AUTO_TEST_CASE(the_machines_own_pci_devices_stay_visible) {
  const TemporaryDirectory parent;
  const fs::path machine = parent.path() / "machine";
  const fs::path root = parent.path() / "sysfs";
  put(machine / "devices/pci0000:00/0000:00:1f.0/vendor", "0x8086\n");
  put(machine / "bus/pci/drivers/mlx5_core/bind", "the machine's");
  put(machine / "bus/pci/drivers/nvme/bind", "nvme's");
  put(machine / "bus/pci/rescan", "1");
  fs::create_directories(machine / "bus/pci/devices");
  fs::create_symlink("../../../devices/pci0000:00/0000:00:1f.0", machine / "bus/pci/devices/0000:00:1f.0");
  fs::create_symlink("elsewhere", machine / "bus/pci/devices/0000:00:1e.0");
  put(root / "bus/pci/drivers/mlx5_core/bind", "this tree's");
  put(root / "bus/pci/devices/7572:00:00.0/vendor", "0x15b3\n");

  link_to_machine_pci_bus(root, machine);
  BOOST_TEST(contents(root / "bus/pci/devices/0000:00:1f.0/vendor") == "0x8086\n");
  BOOST_TEST(fs::read_symlink(root / "bus/pci/devices/0000:00:1f.0") ==
             "../../../devices/pci0000:00/0000:00:1f.0");
  BOOST_TEST(!fs::exists(fs::symlink_status(root / "bus/pci/devices/0000:00:1e.0")));
  BOOST_TEST(contents(root / "bus/pci/devices/7572:00:00.0/vendor") == "0x15b3\n");
  BOOST_TEST(contents(root / "bus/pci/drivers/mlx5_core/bind") == "this tree's");
  BOOST_TEST(contents(root / "bus/pci/drivers/nvme/bind") == "nvme's");
  BOOST_TEST(contents(root / "bus/pci/rescan") == "1");
  // A machine without PCI.
  link_to_machine_pci_bus(root, parent.path() / "none");
}

// libibverbs chooses the library by the driver's number.
BOOST_AUTO_TEST_CASE(netlink_tells_the_driver_of_uverbs_nodes_and_of_this_face_only) {
  Machine machine{Fabric{parse_configuration(kBothFaces, "lab.toml")}, {}};
  const TemporaryDirectory home;
  const SysfsTree tree(home.path() / "sysfs", machine.fabric);
  const netlink::CharacterNodes nodes(home.path() / "sysfs");
  const netlink::Subjects subjects{machine.fabric, machine.contexts, nodes};
  const auto node = [&](std::uint32_t device, const char* type) {
    return converse(subjects, NetlinkRequest(RDMA_NLDEV_CMD_GET_CHARDEV)
                                  .with(RDMA_NLDEV_ATTR_DEV_INDEX, device)
                                  .with(RDMA_NLDEV_ATTR_CHARDEV_TYPE, type)
                                  .bytes())
        .messages.at(0);
  };
  for (const std::uint32_t device : {0u, 2u}) {
    BOOST_TEST(node(device, "uverbs").attributes().number(RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID) ==
               unsigned{RDMA_DRIVER_MLX5});
    BOOST_TEST(node(device, "uverbs").attributes().number<std::uint64_t>(RDMA_NLDEV_ATTR_CHARDEV_ABI) == 1u);
    BOOST_TEST(!node(device, "umad").attributes().has(RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID));
  }
  BOOST_TEST(!node(1, "uverbs").attributes().has(RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID));
}

BOOST_AUTO_TEST_CASE(netlink_names_firmware_and_interface) {
  Machine machine{Fabric{parse_configuration(kBothFaces, "lab.toml")}, {}};
  machine.fabric.devices()[2]->interface = link::LocalInterface{"mlx5_1", 9, 1500};
  const netlink::CharacterNodes nodes;
  const netlink::Subjects subjects{machine.fabric, machine.contexts, nodes};
  const auto answer = [&](std::uint32_t command, std::uint32_t device) {
    return converse(subjects, NetlinkRequest(command)
                                  .with(RDMA_NLDEV_ATTR_DEV_INDEX, device)
                                  .with(RDMA_NLDEV_ATTR_PORT_INDEX, 1)
                                  .bytes())
        .messages.at(0);
  };
  BOOST_TEST(answer(RDMA_NLDEV_CMD_GET, 0).attributes().text(RDMA_NLDEV_ATTR_FW_VERSION) == "22.35.1012");
  BOOST_TEST(!answer(RDMA_NLDEV_CMD_PORT_GET, 0).attributes().has(RDMA_NLDEV_ATTR_NDEV_NAME));
  BOOST_TEST(!answer(RDMA_NLDEV_CMD_PORT_GET, 0).attributes().has(RDMA_NLDEV_ATTR_NDEV_INDEX));
  BOOST_TEST(answer(RDMA_NLDEV_CMD_PORT_GET, 1).attributes().text(RDMA_NLDEV_ATTR_NDEV_NAME) == "lo");
  BOOST_TEST(answer(RDMA_NLDEV_CMD_PORT_GET, 2).attributes().text(RDMA_NLDEV_ATTR_NDEV_NAME) == "mlx5_1");
  BOOST_TEST(answer(RDMA_NLDEV_CMD_PORT_GET, 2).attributes().number(RDMA_NLDEV_ATTR_NDEV_INDEX) == 9u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::control::test
