// The InfiniBand fabric of a configuration: [fabric], and files in ibsim's format.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "device_model/control/fabric/built_in_subnet.hpp"
#include "device_model/control/fabric/configuration.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/fabric/lid_outputs.hpp"
#include "device_model/control/fabric/port_rate.hpp"
#include "device_model/control/fabric/port_record.hpp"
#include "device_model/control/subnet_manager/opensm.hpp"
#include "device_model/subnet/network.hpp"
#include "temporary_directory.hpp"

namespace urnic::control {
namespace {

using subnet::LinkSpeed;
using subnet::LinkWidth;

const std::string kDevice = "[[devices]]\nlink_layer = \"infiniband\"\n";

std::string section_error(const std::string& text) {
  try {
    parse_configuration(text, "lab.toml");
  } catch (const ConfigurationError& error) {
    return error.what();
  }
  return "no error";
}

void check_says(const std::string& error, const std::string& place, const std::string& words) {
  BOOST_TEST_CONTEXT(error) {
    BOOST_TEST(error.starts_with(place));
    BOOST_TEST(error.find(words) != std::string::npos);
    BOOST_TEST(error.find('\n') == std::string::npos);
  }
}

// Two leaves and a spine; the devices are lines 1 to 4 of the file.
const std::string kTree = kDevice + kDevice + R"(
[[fabric.switches]]
name = "leaf1"
ports = 4
[[fabric.switches]]
name = "leaf2"
ports = 4
speed = "FDR"
node_guid = "0x0002c90300a1b2c3"
description = "the second leaf"
[[fabric.hosts]]
name = "storage"
[[fabric.links]]
from = "leaf1:4"
to = "leaf2:4"
width = "12x"
mtu = 2048
vls = 2
[[fabric.links]]
from = "urnic1"
to = "leaf2:1"
)";

}  // namespace

BOOST_AUTO_TEST_SUITE(fabric_section)

BOOST_AUTO_TEST_CASE(without_it_all_devices_are_on_one_switch) {
  const subnet::FabricPlan plan = parse_configuration(kDevice + kDevice, "lab.toml").fabric;
  BOOST_REQUIRE(plan.nodes().size() == 3u);
  BOOST_TEST(plan.nodes()[2].description == "urnic switch");
  BOOST_TEST(unsigned{plan.nodes()[2].ports} == 8u);
  BOOST_TEST((plan.links().at(1).other == subnet::PortPlace{2, 2}));
  BOOST_TEST(parse_configuration("[[devices]]\n", "lab.toml").fabric.nodes().empty());
}

BOOST_AUTO_TEST_CASE(a_fabric_as_it_is_written) {
  Fabric fabric(parse_configuration(kTree, "lab.toml"));
  const subnet::Network& network = fabric.subnet();
  BOOST_REQUIRE(network.nodes().size() == 5u);
  BOOST_TEST(network.node(1).info.node_guid.value == 0x0002'c903'00a1'b2c3u);
  const subnet::Port& trunk = network.node(0).ports[4];
  BOOST_TEST((trunk.peer == subnet::PortPlace{1, 4}));
  BOOST_TEST((subnet::active_rate(trunk.info) == subnet::LinkRate{LinkWidth::x12, LinkSpeed::fdr}));
  BOOST_TEST(unsigned{trunk.info.mtu_capacity} == 4u);
  BOOST_TEST(unsigned{trunk.info.vl_capacity} == 2u);
  const ServedDevice& near = *fabric.devices()[0];
  const ServedDevice& far = *fabric.devices()[1];
  // No link names it: the first free port of a switch.
  BOOST_TEST((network.node(near.adapter.value()).ports[1].peer == subnet::PortPlace{0, 1}));
  BOOST_TEST((network.node(far.adapter.value()).ports[1].peer == subnet::PortPlace{1, 1}));
  BOOST_TEST((network.node(4).ports[1].peer == subnet::PortPlace{0, 2}));
  BOOST_TEST(rate_text(port_record(fabric, near).rate) == "100 Gb/sec (4X EDR)");
  BOOST_TEST(rate_text(port_record(fabric, far).rate) == "56 Gb/sec (4X FDR)");
}

BOOST_AUTO_TEST_CASE(a_cable_that_is_not_plugged_in_yet) {
  Fabric fabric(parse_configuration(
      kDevice + kDevice + "[[fabric.links]]\nfrom = \"urnic0\"\nto = \"urnic1\"\nstate = \"down\"\n",
      "lab.toml"));
  subnet::Network& network = fabric.subnet();
  for (const subnet::NodeIndex node : {0u, 1u}) {
    const subnet::Port& port = network.node(node).ports[1];
    BOOST_TEST((port.info.state == wire::mad::PortState::down));
    BOOST_TEST(port.times_down == 0u);
  }
  network.set_cable({0, 1}, true);
  for (const subnet::NodeIndex node : {0u, 1u})
    BOOST_TEST((network.node(node).ports[1].info.state == wire::mad::PortState::initialize));
}

BOOST_AUTO_TEST_CASE(two_devices_without_a_switch) {
  const subnet::FabricPlan plan =
      parse_configuration(kDevice + kDevice + "[[fabric.links]]\nfrom = \"urnic0\"\nto = \"urnic1\"\n",
                          "lab.toml")
          .fabric;
  BOOST_TEST(plan.nodes().size() == 2u);
  BOOST_TEST(plan.links().size() == 1u);
}

BOOST_AUTO_TEST_CASE(values_of_all_switches_and_hosts) {
  const subnet::FabricPlan plan =
      parse_configuration(kDevice + "mtu = 2048\n[fabric]\nwidth = \"1x\"\nspeed = \"SDR\"\nvls = 15\n",
                          "lab.toml")
          .fabric;
  for (const subnet::PlannedNode& node : plan.nodes()) {
    BOOST_TEST((node.ability.width == LinkWidth::x1));
    BOOST_TEST((node.ability.speed == LinkSpeed::sdr));
    BOOST_TEST(unsigned{node.ability.vls} == 5u);
  }
  BOOST_TEST(unsigned{plan.nodes()[0].ability.mtu} == 4u);  // the device's own
  BOOST_TEST(unsigned{plan.nodes()[1].ability.mtu} == 5u);
}

BOOST_AUTO_TEST_CASE(credits_are_off_by_default) {
  BOOST_TEST(!parse_configuration(kDevice, "lab.toml").credits);
  BOOST_TEST(!parse_configuration(kDevice + "[fabric]\ncredits = false\n", "lab.toml").credits);
  const auto usual = parse_configuration(kDevice + "[fabric]\ncredits = true\n", "lab.toml").credits;
  BOOST_REQUIRE(usual.has_value());
  BOOST_TEST(usual->buffer_bytes == 32768u);
  const auto own =
      parse_configuration(kDevice + "[fabric]\ncredits = true\nbuffer_bytes = 8192\nhop_delay_us = 1.5\n",
                          "lab.toml")
          .credits;
  BOOST_TEST(own.value().buffer_bytes == 8192u);
  BOOST_TEST((own->hop_delay == transport::Nanoseconds(1500)));
}

// What a manager has written is what the engine goes by.
BOOST_AUTO_TEST_CASE(ports_as_the_engine_sees_them) {
  const Fabric fabric(parse_configuration(kTree, "lab.toml"));
  const std::vector<link::LidOutput> outputs = lid_outputs(fabric.subnet().nodes(), 0);
  const link::LidOutput& trunk = outputs.at(4);
  BOOST_TEST(trunk.megabits_per_second == 12 * 13636u);
  BOOST_TEST(unsigned{trunk.lanes} == 2u);
  BOOST_TEST(unsigned{trunk.most_lanes} == 2u);
  BOOST_TEST(unsigned{outputs.at(1).most_lanes} == 8u);
  BOOST_TEST(unsigned{trunk.head_of_queue_life} == 18u);
  BOOST_REQUIRE(trunk.lane_of.size() == outputs.size());
  for (unsigned level = 0; level < 16; ++level) BOOST_TEST(trunk.lane_of[1][level] == level % 2);
  BOOST_TEST(outputs.at(3).megabits_per_second == 0u);  // no cable
  subnet::Nodes nodes = fabric.subnet().nodes();
  subnet::Port& port = nodes[0].ports[4];
  port.info.operational_vls = 1;
  port.info.vl_high_limit = 9;
  port.info.vl_stall_count = 3;
  port.arbitration[0][2] = std::byte{1};
  port.arbitration[0][3] = std::byte{77};
  port.arbitration[2][0] = std::byte{14};
  port.arbitration[2][1] = std::byte{5};
  port.sl_to_vl[2][1] = std::byte{0x7F};
  const link::LidOutput written = lid_outputs(nodes, 0).at(4);
  BOOST_TEST(unsigned{written.lanes} == 1u);
  BOOST_TEST(unsigned{written.high_limit} == 9u);
  BOOST_TEST(unsigned{written.stall_count} == 3u);
  BOOST_TEST(unsigned{written.low.at(1).lane} == 1u);
  BOOST_TEST(unsigned{written.low.at(1).weight} == 77u);
  BOOST_TEST(unsigned{written.high.at(0).lane} == 14u);
  BOOST_TEST(unsigned{written.high.at(0).weight} == 5u);
  BOOST_TEST(unsigned{written.lane_of.at(2)[2]} == 7u);
  BOOST_TEST(unsigned{written.lane_of.at(2)[3]} == 15u);
  BOOST_TEST(unsigned{written.lane_of.at(1)[3]} == 0u);
}

BOOST_AUTO_TEST_CASE(errors_name_the_line_and_what_is_allowed) {
  const std::string leaf = "[[fabric.switches]]\nname = \"leaf\"\nports = 2\n";  // lines 3 to 5
  const std::string link = "[[fabric.links]]\nfrom = \"urnic0\"\n";              // lines 6 and 7
  struct Row {
    std::string text, place, words;
  };
  const Row rows[] = {
      {"[[devices]]\n[fabric]\n", "lab.toml:2:", "nothing without a device that has link_layer"},
      {kDevice + "[fabric]\nradix = 3\n", "lab.toml:4:", "no such setting"},
      {kDevice + "[fabric]\ncredits = 1\n", "lab.toml:4:", "true or false"},
      {kDevice + "[fabric]\nbuffer_bytes = 8192\n", "lab.toml:4:", "nothing without credits = true"},
      {kDevice + "[fabric]\ncredits = true\nbuffer_bytes = 4096\n", "lab.toml:5:", "from 8192 to 1048576"},
      {kDevice + "[fabric]\ncredits = true\nhop_delay_us = -1\n", "lab.toml:5:", "from 0 to 1000"},
      {kDevice + "[[fabric.switches]]\nports = 2\n", "lab.toml:3:", "it has no name"},
      {kDevice + "[[fabric.switches]]\nname = \"a:b\"\nports = 2\n", "lab.toml:4:", "without ':'"},
      {kDevice + "[[fabric.switches]]\nname = \"a\"\n",
       "lab.toml:3:", "needed is a whole number from 1 to 254"},
      {kDevice + "[[fabric.switches]]\nname = \"a\"\nports = 255\n", "lab.toml:5:", "from 1 to 254"},
      {kDevice + leaf + leaf, "lab.toml:6:", "\"leaf\" already"},
      {kDevice + leaf + "node_guid = \"12\"\n", "lab.toml:6:", "16 hexadecimal digits"},
      {kDevice + leaf + "speed = \"FDR10\"\n", "lab.toml:6:", "\"FDR\", \"EDR\""},
      {kDevice + leaf + "width = \"2x\"\n", "lab.toml:6:", "\"1x\", \"4x\""},
      {kDevice + leaf + "mtu = 1500\n", "lab.toml:6:", "256, 512, 1024"},
      {kDevice + leaf + "vls = 3\n", "lab.toml:6:", "1, 2, 4, 8 or 15"},
      {kDevice + leaf + link, "lab.toml:6:", "no \"to\""},
      {kDevice + leaf + link + "to = \"lef:1\"\n",
       "lab.toml:8:", "there is no \"lef\"; the nodes are leaf, urnic0"},
      {kDevice + leaf + link + "to = \"leaf\"\n", "lab.toml:8:", "a switch's port, such as"},
      {kDevice + leaf + link + "to = \"leaf:x\"\n", "lab.toml:8:", "a switch's port, such as"},
      {kDevice + leaf + link + "to = \"leaf:3\"\n", "lab.toml:6:", "has ports 1 to 2, and no port 3"},
      {kDevice + leaf + link + "to = \"urnic0\"\n", "lab.toml:6:", "both ends are ports of \"urnic0\""},
      {kDevice + kDevice + leaf + link +
           "to = \"leaf:1\"\n[[fabric.links]]\nfrom = \"urnic1\"\nto = \"leaf:1\"\n",
       "lab.toml:11:", "leaf:1 has a link already, to urnic0:1"},
      {kDevice + "mtu = 1024\n" + leaf + link + "to = \"leaf:1\"\nmtu = 2048\n",
       "lab.toml:7:", "larger than that of \"urnic0\""},
      {kDevice + kDevice + kDevice + leaf,
       "lab.toml:", "\"urnic2\" has no link, and no switch has a free port"},
      {"[[devices]]\nnode_guid = \"0x0000000000000001\"\n", "lab.toml:2:", "nothing without link_layer"},
      {"opensm_options = [\"-R\", \"ftree\"]\n" + kDevice,
       "lab.toml:1:", "nothing without subnet_manager = \"opensm\""},
      {"subnet_manager = \"opensm\"\nopensm_options = [\"-B\"]\n" + kDevice, "lab.toml:2:", "without -B"},
  };
  for (const Row& row : rows)
    BOOST_TEST_CONTEXT(row.text) check_says(section_error(row.text), row.place, row.words);
}

// 254 ports and 15 lanes are 12 MB.
BOOST_AUTO_TEST_CASE(queues_of_switches_have_a_limit) {
  const auto fabric = [](unsigned switches, unsigned vls) {
    std::string text = kDevice + "[fabric]\ncredits = true\nvls = " + std::to_string(vls) + "\n";
    for (unsigned i = 0; i < switches; ++i)
      text += "[[fabric.switches]]\nname = \"s" + std::to_string(i) + "\"\nports = 254\n";
    return text;
  };
  check_says(section_error(fabric(90, 15)), "lab.toml:4:", "MB for their queues (at most 1000 MB)");
  BOOST_TEST(section_error(fabric(90, 8)) == "no error");
  BOOST_TEST(section_error(fabric(80, 15)) == "no error");
}

BOOST_AUTO_TEST_CASE(a_device_may_have_its_own_guid_and_description) {
  const Configuration configuration = parse_configuration(
      kDevice + "node_guid = \"0x0002c90300a1b2c4\"\ndescription = \"host7 mlx5_0\"\n", "lab.toml");
  BOOST_TEST(to_text(configuration.devices.at(0).gids.at(0)) == "fe80::2:c903:a1:b2c4");
  BOOST_TEST(configuration.fabric.nodes()[0].description == "host7 mlx5_0");
  BOOST_TEST(configuration.fabric.nodes()[0].guid.value == 0x0002'c903'00a1'b2c4u);
  const ProgramStart start = opensm_start("opensm", "/run/opensm", "preloaded", configuration);
  BOOST_TEST(start.words.at(2) == "0x0002c90300a1b2c4");
}

BOOST_AUTO_TEST_CASE(options_of_opensm_come_behind_its_own) {
  const Configuration configuration = parse_configuration(
      "subnet_manager = \"opensm\"\nopensm_options = [\"-R\", \"ftree\"]\n" + kDevice, "lab.toml");
  const ProgramStart start = opensm_start("opensm", "/run/opensm", "preloaded", configuration);
  BOOST_TEST(start.words.at(start.words.size() - 2) == "-R");
  BOOST_TEST(start.words.back() == "ftree");
}

BOOST_AUTO_TEST_CASE(opensm_manages_from_a_device_that_has_a_cable) {
  const auto guid_in = [](const std::string& fabric) {
    const std::string devices =
        kDevice + "node_guid = \"0x0000000000000001\"\n" + kDevice + "node_guid = \"0x0000000000000002\"\n";
    const Configuration configuration =
        parse_configuration("subnet_manager = \"opensm\"\n" + devices +
                                "[[fabric.switches]]\nname = \"hub\"\nports = 4\n" + fabric,
                            "lab.toml");
    return opensm_start("opensm", "/run/opensm", "preloaded", configuration).words.at(2);
  };
  BOOST_TEST(guid_in("") == "0x0000000000000001");
  const std::string down = "[[fabric.links]]\nfrom = \"urnic0\"\nto = \"hub:1\"\nstate = \"down\"\n";
  BOOST_TEST(guid_in(down) == "0x0000000000000002");
  BOOST_TEST(guid_in(down + "[[fabric.links]]\nfrom = \"urnic1\"\nto = \"hub:2\"\nstate = \"down\"\n") ==
             "0x0000000000000001");
}

BOOST_AUTO_TEST_CASE(a_file_of_ibsim) {
  const test::TemporaryDirectory directory;
  const std::string file = (directory.path() / "lab.net").string();
  const auto write = [&](const std::string& text) { std::ofstream(file) << text; };
  write("Switch 8 \"S1\"\n[1] \"H1\"[1]\n[2] \"H2\"[1]\n\nHca 1 \"H1\"\n\ncaguid=0x1234\nHca 1 \"H2\"\n");
  const Configuration configuration = ibsim_configuration(file);
  BOOST_REQUIRE(configuration.devices.size() == 2u);
  BOOST_TEST(configuration.devices[1].name == "urnic1");
  BOOST_TEST(configuration.devices[1].description == "H2");
  BOOST_TEST(configuration.devices[1].node_guid.value().value == 0x1234u);
  BOOST_TEST((configuration.subnet_manager == ManagerChoice::automatic));
  BOOST_TEST(configuration.source.ibsim_net);
  Fabric fabric(configuration);
  BOOST_TEST(
      (fabric.subnet().node(fabric.devices()[1]->adapter.value()).ports[1].peer == subnet::PortPlace{0, 2}));
  // Beside a configuration file, which may be elsewhere.
  const std::string lab = (directory.path() / "lab.toml").string();
  std::ofstream(lab) << "subnet_manager = \"built_in\"\nibsim_net = \"lab.net\"\n";
  BOOST_TEST(load_configuration(lab).devices.size() == 2u);
  check_says(section_error("ibsim_net = \"" + file + "\"\n" + kDevice),
             "lab.toml:2:", "nothing beside ibsim_net");

  const auto error = [&](const std::string& text) {
    write(text);
    return section_error("ibsim_net = \"" + file + "\"\n");
  };
  check_says(error("Switch 8 \"S1\"\n[1] \"H1\"[1]\n"), file + ":2:", "there is no \"H1\"");
  check_says(error("Switch 8 \"S1\"\n[9] \"H1\"[1]\n\nHca 1 \"H1\"\n"), file + ":2:", "no port 9");
  check_says(error("Switch 8 \"S1\"\n"), file + ":1:", "no Hca");
  // What a device's section would refuse is refused where it is written.
  check_says(error("Hca 1 \"H1\" # \"caf\xC3\xA9\"\n"), file + ":1:", "printable characters of ASCII");
  check_says(error("caguid=0x5\nHca 1 \"H1\"\n\ncaguid=0x5\nHca 1 \"H2\"\n"),
             file + ":5:", "the GUID of \"H2\" is that of \"H1\"");
  check_says(error("Hca 1 \"H1\"\n\nSwitch 8 \"urnic0\"\n"), file + ":3:", "the name of a device");
  std::string large = "Hca 1 \"H1\"\n";
  for (int i = 0; i < 800; ++i) large += "Switch 254 \"S" + std::to_string(i) + "\"\n";
  check_says(error(large), file + ":789:", "at most 200000 ports in all");
  check_says(section_error("ibsim_net = \"/nowhere.net\"\n"), "/nowhere.net:", "cannot be read");
}

BOOST_AUTO_TEST_CASE(settings_beside_a_file_of_ibsim) {
  const test::TemporaryDirectory directory;
  const std::string file = (directory.path() / "lab.net").string();
  std::ofstream(file) << "Switch 8 \"S1\"\n[1] \"H1\"[1] w=1 s=1\n\nHca 1 \"H1\"\n";
  const std::string beside = "ibsim_net = \"" + file + "\"\n[fabric]\n";
  const Configuration configuration = parse_configuration(
      beside + "credits = true\nbuffer_bytes = 8192\nhop_delay_us = 1.5\nvls = 1\nmtu = 2048\n", "lab.toml");
  BOOST_REQUIRE(configuration.credits.has_value());
  BOOST_TEST(configuration.credits->buffer_bytes == 8192u);
  BOOST_TEST((configuration.credits->hop_delay == transport::Nanoseconds(1500)));
  const auto network = subnet::build(configuration.fabric);
  const wire::mad::PortInfo& port = network->node(0).ports[1].info;
  BOOST_TEST(subnet::data_rate_mbps(subnet::active_rate(port)) == 2000u);
  BOOST_TEST(port.vl_capacity == 1u);
  BOOST_TEST(port.mtu_capacity == 4u);
  BOOST_TEST(!parse_configuration(beside + "credits = false\n", "lab.toml").credits.has_value());
  // What the file says is not said twice.
  for (const char* const key :
       {"speed = \"SDR\"", "width = \"1x\"", "[[fabric.switches]]", "[[fabric.hosts]]"})
    check_says(section_error(beside + key + "\n"),
               "lab.toml:", "nothing beside ibsim_net, whose file has it");
  check_says(section_error(beside + "buffer_bytes = 8192\n"),
             "lab.toml:3:", "nothing without credits = true");
  check_says(section_error(beside + "credit = true\n"), "lab.toml:3:", "credit");
}

BOOST_AUTO_TEST_CASE(more_hosts_than_devices) {
  const test::TemporaryDirectory directory;
  const std::string file = (directory.path() / "large.net").string();
  {
    std::ofstream net(file);
    for (int leaf = 0; leaf < 2; ++leaf) {
      net << "Switch 254 \"S" << leaf << "\"\n";
      for (int port = 1; port <= 150; ++port)
        net << '[' << port << "] \"H" << leaf << '_' << port << "\"[1]\n";
      net << '\n';
      for (int port = 1; port <= 150; ++port) net << "Hca 1 \"H" << leaf << '_' << port << "\"\n\n";
    }
  }
  const Configuration configuration = ibsim_configuration(file);
  BOOST_TEST(configuration.devices.size() == 254u);
  BOOST_TEST(configuration.fabric.nodes().size() == 302u);
}

BOOST_AUTO_TEST_CASE(rates_as_verbs_and_sysfs_have_them) {
  struct Row {
    LinkWidth width;
    LinkSpeed speed;
    std::uint32_t verbs_width, verbs_speed;
    const char* text;
    unsigned path_rate;
  };
  // Linux: drivers/infiniband/core/sysfs.c, rate_show; enum ib_port_speed; enum ib_rate.
  const Row rows[] = {
      {LinkWidth::x1, LinkSpeed::sdr, 1, 1, "2.5 Gb/sec (1X SDR)", 2},
      {LinkWidth::x4, LinkSpeed::ddr, 2, 2, "20 Gb/sec (4X DDR)", 6},
      {LinkWidth::x8, LinkSpeed::qdr, 4, 4, "80 Gb/sec (8X QDR)", 9},
      {LinkWidth::x4, LinkSpeed::fdr, 2, 16, "56 Gb/sec (4X FDR)", 12},
      {LinkWidth::x12, LinkSpeed::edr, 8, 32, "300 Gb/sec (12X EDR)", 18},
      {LinkWidth::x4, LinkSpeed::hdr, 2, 64, "200 Gb/sec (4X HDR)", 17},
      {LinkWidth::x12, LinkSpeed::ndr, 8, 128, "1200 Gb/sec (12X NDR)", 24},
      {LinkWidth::x4, LinkSpeed::ndr, 2, 128, "400 Gb/sec (4X NDR)", 21},
  };
  for (const Row& row : rows) {
    const subnet::LinkRate rate{row.width, row.speed};
    BOOST_TEST(verbs_width(rate) == row.verbs_width);
    BOOST_TEST(verbs_speed(rate) == row.verbs_speed);
    BOOST_TEST(rate_text(rate) == row.text);
    BOOST_TEST(unsigned{path_rate(rate)} == row.path_rate);
  }
  // A wide link may be slower than a narrow one.
  const subnet::LinkRate wide{LinkWidth::x12, LinkSpeed::sdr}, narrow{LinkWidth::x1, LinkSpeed::ndr};
  BOOST_TEST((slower(wide, narrow) == wide));
  BOOST_TEST((slower(narrow, wide) == wide));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control
