#include "device_model/control/sysfs/sysfs_tree.hpp"

#include <dirent.h>

#include <boost/test/unit_test.hpp>
#include <memory>
#include <vector>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/sysfs/port_files.hpp"
#include "tests/unit/control/temporary_directory.hpp"

namespace urnic::control::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> listed(const fs::path& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(folder.c_str()), closedir);
  while (const dirent* entry = readdir(directory.get())) {
    if (entry->d_type == DT_DIR && entry->d_name[0] != '.') names.push_back(entry->d_name);
  }
  return names;
}

struct WithTree {
  TemporaryDirectory parent;
  Fabric fabric{default_configuration()};
  fs::path root = parent.path() / "sysfs";
  SysfsTree tree{root, fabric};
  fs::path device(int number) { return root / "class/infiniband" / ("urnic" + std::to_string(number)); }
  fs::path node(int number) {
    return root / "class/infiniband_verbs" /
           ("uverbs" + std::to_string(tree.node_number(*fabric.devices()[static_cast<std::size_t>(number)])));
  }
};

BOOST_FIXTURE_TEST_SUITE(sysfs_tree, WithTree)

BOOST_AUTO_TEST_CASE(nodes_name_their_devices) {
  BOOST_TEST(contents(root / "class/infiniband_verbs/abi_version") == "6\n");
  for (int i = 0; i < 2; ++i) {
    BOOST_TEST(contents(node(i) / "ibdev") == "urnic" + std::to_string(i) + "\n");
    BOOST_TEST(contents(node(i) / "abi_version") == "1\n");
    const auto number = tree.node_number(*fabric.devices()[static_cast<std::size_t>(i)]);
    BOOST_TEST(contents(node(i) / "dev") == "231:" + std::to_string(192 + number) + "\n");
    BOOST_TEST(node(i).filename() == "uverbs" + std::to_string(number));
  }
  BOOST_TEST(node(0) != node(1));
}

// libibverbs lists devices in readdir's order, whatever the file system makes of it.
BOOST_AUTO_TEST_CASE(devices_are_listed_in_order) {
  const auto nodes = listed(root / "class/infiniband_verbs");
  BOOST_REQUIRE(nodes.size() == 2u);
  BOOST_TEST(contents(root / "class/infiniband_verbs" / nodes[0] / "ibdev") == "urnic0\n");
  BOOST_TEST(contents(root / "class/infiniband_verbs" / nodes[1] / "ibdev") == "urnic1\n");
}

BOOST_AUTO_TEST_CASE(many_folders_are_reported_as_listed) {
  const auto numbers = make_listed_entries(
      parent.path(), "uverbs", 20, [](std::uint32_t, const fs::path& path) { fs::create_directory(path); });
  std::vector<std::string> names;
  for (const auto number : numbers) names.push_back("uverbs" + std::to_string(number));
  auto found = listed(parent.path());
  std::erase(found, "sysfs");
  BOOST_TEST(names == found);
}

// Each entry is made for the device that it is listed as, be it a folder or a link to one.
BOOST_AUTO_TEST_CASE(entries_are_made_for_the_devices_in_order) {
  const fs::path nodes = parent.path() / "nodes";
  fs::create_directory(nodes);
  const auto make = [&](std::uint32_t device, const fs::path& path) {
    const fs::path folder = device % 2 == 0 ? path : parent.path() / ("folder" + std::to_string(device));
    fs::create_directory(folder);
    write_file(folder / "device", std::to_string(device));
    if (folder != path) fs::create_symlink(folder, path);
  };
  const auto numbers = make_listed_entries(nodes, "uverbs", 20, make);
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(nodes.c_str()), closedir);
  std::vector<std::string> found;
  while (const dirent* entry = readdir(directory.get()))
    if (entry->d_name[0] != '.') found.push_back(entry->d_name);
  BOOST_REQUIRE(found.size() == 20u);
  for (std::size_t device = 0; device < 20; ++device) {
    BOOST_TEST(found[device] == "uverbs" + std::to_string(numbers[device]));
    BOOST_TEST(contents(nodes / found[device] / "device") == std::to_string(device) + "\n");
  }
}

BOOST_AUTO_TEST_CASE(a_device_describes_itself) {
  BOOST_TEST(contents(device(0) / "node_type") == "1: CA\n");
  BOOST_TEST(contents(device(0) / "node_guid") == "0075:72ff:fe6e:0000\n");
  BOOST_TEST(contents(device(1) / "node_guid") == "0075:72ff:fe6e:0001\n");
  for (const char* name : {"sys_image_guid", "node_desc", "fw_ver", "hw_rev", "hca_type", "board_id",
                           "device/local_cpus", "device/local_cpulist", "device/numa_node"}) {
    BOOST_TEST(contents(device(0) / name).size() > 1u, name);
  }
  // The interface whose addresses name devices (docs/rdma-cm.md).
  BOOST_TEST(listed(device(0) / "device/net") == std::vector<std::string>{"lo"});
}

BOOST_AUTO_TEST_CASE(the_connection_manager_has_a_node) {
  BOOST_TEST(contents(root / "class/misc/rdma_cm/abi_version") == "4\n");
  BOOST_TEST(contents(root / "class/misc/rdma_cm/dev").starts_with("10:"));
}

// As libibumad looks for it. The LID is for management tools alone.
BOOST_AUTO_TEST_CASE(management_nodes_say_whose_they_are) {
  const fs::path nodes = root / "class/infiniband_mad";
  BOOST_TEST(contents(nodes / "abi_version") == "5\n");
  for (const int i : {0, 1}) {
    const fs::path node = nodes / ("umad" + std::to_string(i));
    BOOST_TEST(contents(node / "ibdev") == "urnic" + std::to_string(i) + "\n");
    BOOST_TEST(contents(node / "port") == "1\n");
    BOOST_TEST(contents(node / "dev") == "231:" + std::to_string(i) + "\n");
    BOOST_TEST(contents(device(i) / "ports/1/lid") == "0x" + std::to_string(i + 1) + "\n");
  }
}

BOOST_AUTO_TEST_CASE(a_port_describes_itself) {
  const fs::path port = tree.port_folder(*fabric.devices()[0]);
  BOOST_TEST(contents(port / "state") == "4: ACTIVE\n");
  BOOST_TEST(contents(port / "phys_state") == "5: LinkUp\n");
  BOOST_TEST(contents(port / "link_layer") == "Ethernet\n");
  BOOST_TEST(contents(port / "rate") == "100 Gb/sec (4X EDR)\n");
  BOOST_TEST(contents(port / "cap_mask") == "0x04010000\n");
  BOOST_TEST(contents(port / "pkeys/0") == "0xffff\n");
  for (const char* name : {"lid", "lid_mask_count", "sm_lid", "sm_sl"}) {
    BOOST_TEST(fs::exists(port / name), name);
  }
}

BOOST_AUTO_TEST_CASE(the_gid_table_is_whole) {
  const fs::path port = tree.port_folder(*fabric.devices()[1]);
  BOOST_TEST(contents(port / "gids/0") == "fe80:0000:0000:0000:0075:72ff:fe6e:0001\n");
  BOOST_TEST(contents(port / "gids/1") == "0000:0000:0000:0000:0000:ffff:c000:0202\n");
  BOOST_TEST(contents(port / "gids/2") == "0000:0000:0000:0000:0000:0000:0000:0000\n");
  for (std::uint32_t i = 0; i < limits::kGidTableLength; ++i) {
    // The stand-in makes an empty file one that cannot be read.
    BOOST_TEST(contents(port / "gid_attrs/types" / std::to_string(i)) == (i < 2 ? "RoCE v2\n" : ""), i);
    BOOST_TEST(fs::exists(port / "gids" / std::to_string(i)), i);
  }
  BOOST_TEST(!fs::exists(port / "gid_attrs/ndevs"));
}

// Linux: drivers/infiniband/core/sysfs.c.
BOOST_AUTO_TEST_CASE(an_infiniband_port_shows_what_its_manager_gave_it) {
  Fabric managed{parse_configuration("[[devices]]\nlink_layer = \"infiniband\"\n", "lab.toml")};
  const fs::path elsewhere = parent.path() / "infiniband";
  const SysfsTree infiniband{elsewhere, managed};
  const ServedDevice& own = *managed.devices()[0];
  const fs::path port = infiniband.port_folder(own);
  BOOST_TEST(contents(port / "link_layer") == "InfiniBand\n");
  BOOST_TEST(contents(port / "state") == "2: INIT\n");
  BOOST_TEST(contents(port / "phys_state") == "5: LinkUp\n");
  BOOST_TEST(contents(port / "lid") == "0x0\n");
  BOOST_TEST(contents(port / "pkeys/0") == "0xffff\n");
  BOOST_TEST(contents(port / "pkeys/31") == "0x0000\n");
  BOOST_TEST(contents(port / "gids/0") == "fe80:0000:0000:0000:0075:72ff:fe6e:0000\n");
  BOOST_TEST(contents(port / "gid_attrs/types/0") == "IB/RoCE v1\n");
  BOOST_TEST(contents(elsewhere / "class/infiniband_mad/issm0/ibdev") == "urnic0\n");
  BOOST_TEST(contents(elsewhere / "class/infiniband_mad/issm0/port") == "1\n");
  BOOST_TEST(!fs::exists(root / "class/infiniband_mad/issm0"));  // of a RoCE device there is none
  PortRecord record = port_record(managed, own);
  record.state = 4;
  record.lid = 0x12;
  record.lmc = 2;
  record.manager_lid = 3;
  record.pkeys[0] = 0x8001;
  show_infiniband_port(port, {}, record);
  BOOST_TEST(contents(port / "state") == "4: ACTIVE\n");
  BOOST_TEST(contents(port / "lid") == "0x12\n");
  BOOST_TEST(contents(port / "lid_mask_count") == "2\n");
  BOOST_TEST(contents(port / "sm_lid") == "0x3\n");
  BOOST_TEST(contents(port / "pkeys/0") == "0x8001\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::control::test
