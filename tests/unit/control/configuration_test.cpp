#include "device_model/control/fabric/configuration.hpp"

#include <boost/test/unit_test.hpp>
#include <string>
#include <tuple>

namespace urnic::control {
namespace {

// The error that `text` in a file "lab.toml" makes.
std::string error_of(const std::string& text) {
  try {
    parse_configuration(text, "lab.toml");
  } catch (const ConfigurationError& error) {
    return error.what();
  }
  return "no error";
}

void check_error(const std::string& text, const std::string& place, const std::string& value,
                 const std::string& allowed) {
  const std::string error = error_of(text);
  BOOST_TEST_CONTEXT(error) {
    BOOST_TEST(error.starts_with("lab.toml:" + place + ":"));
    BOOST_TEST(error.find(value) != std::string::npos);
    BOOST_TEST(error.find(allowed) != std::string::npos);
    BOOST_TEST(error.find('\n') == std::string::npos);
  }
}

BOOST_AUTO_TEST_SUITE(configuration)

BOOST_AUTO_TEST_CASE(without_a_file_there_are_two_devices) {
  const Configuration configuration = default_configuration();
  BOOST_REQUIRE(configuration.devices.size() == 2u);
  const DeviceSettings& second = configuration.devices[1];
  BOOST_TEST(second.name == "urnic1");
  BOOST_TEST(to_text(second.mac) == "02:75:72:6e:00:01");
  BOOST_REQUIRE(second.gids.size() == 2u);
  BOOST_TEST(to_text(second.gids[0]) ==
             "fe80::75:72ff:fe6e:1");  // RFC 4291: the MAC with one bit turned over
  BOOST_TEST(to_text(second.gids[1]) == "::ffff:192.0.2.2");
  BOOST_TEST(second.mtu == 4096u);
  BOOST_TEST(second.vendor_part_id == 26428u);
  BOOST_TEST((configuration.devices[0].mac != second.mac));
  BOOST_TEST((second.raw_packets == RawPackets::all));
  BOOST_TEST(!second.number_seed.has_value());
}

BOOST_AUTO_TEST_CASE(an_infiniband_device_has_its_guid_for_an_address) {
  const auto devices =
      parse_configuration("[[devices]]\nlink_layer = \"infiniband\"\n[[devices]]\n", "lab.toml").devices;
  BOOST_TEST((devices.at(0).link_layer == LinkLayer::infiniband));
  BOOST_REQUIRE(devices.at(0).gids.size() == 2u);
  BOOST_TEST(to_text(devices.at(0).gids[0]) == "fe80::75:72ff:fe6e:0");
  BOOST_TEST(to_text(devices.at(0).gids[1]) == "::ffff:192.0.2.1");
  BOOST_TEST((devices.at(1).link_layer == LinkLayer::ethernet));
  BOOST_TEST(devices.at(1).connection_manager);
  check_error("[[devices]]\nlink_layer = \"ib\"", "2", "ib", "infiniband");
  const std::string device = "[[devices]]\nlink_layer = \"infiniband\"\n";
  check_error(device + "wire = \"udp\"\naddresses = [\"127.0.0.1\"]", "3", "wire", "nothing with link_layer");
  check_error(device + "gids = [\"fe80::1\"]", "3", "gids", "nothing with link_layer");
  check_error(device + "face = \"mlx5\"", "2", "link_layer", "ethernet");
}

BOOST_AUTO_TEST_CASE(a_subnet_manager) {
  const std::string device = "[[devices]]\nlink_layer = \"infiniband\"\n";
  const auto choice_of = [&](const std::string& text) {
    return parse_configuration(text + device, "lab.toml").subnet_manager;
  };
  BOOST_TEST((choice_of("") == ManagerChoice::none));
  BOOST_TEST((choice_of("subnet_manager = \"opensm\"\n") == ManagerChoice::opensm));
  BOOST_TEST((choice_of("subnet_manager = \"built_in\"\n") == ManagerChoice::built_in));
  BOOST_TEST((choice_of("subnet_manager = \"automatic\"\n") == ManagerChoice::automatic));
  check_error("subnet_manager = \"ufm\"\n" + device, "1", "ufm", "opensm");
  check_error("subnet_manager = \"opensm\"\n[[devices]]\n", "1", "opensm", "only \"none\" without a device");
  BOOST_TEST(error_of("subnet_manager = \"none\"\n[[devices]]\n") == "no error");
}

BOOST_AUTO_TEST_CASE(infiniband_without_a_file) {
  const Configuration configuration = infiniband_configuration();
  BOOST_REQUIRE(configuration.devices.size() == 2u);
  for (const DeviceSettings& device : configuration.devices)
    BOOST_TEST((device.link_layer == LinkLayer::infiniband));
  BOOST_TEST((configuration.subnet_manager == ManagerChoice::automatic));
  BOOST_TEST(configuration.source.infiniband);
}

BOOST_AUTO_TEST_CASE(every_setting_is_taken) {
  const Configuration configuration = parse_configuration(R"(
    [device]
    mtu = 1024
    vendor_id = 0x2c9
    raw_packets = "privileged"
    number_seed = 9007199254740991
    [[devices]]
    name = "urnic_a"
    mac = "02:00:00:00:00:0a"
    gids = ["fe80::a", "::ffff:198.51.100.7"]
    [[devices]]
    mtu = 2048
    raw_packets = "all"
    number_seed = 0
    vendor_part_id = 7
    hardware_version = 3
    [engine]
    engines = 2
    icrc = "always"
    idle_spin_us = 5
    [logging]
    level = "debug"
  )",
                                                          "lab.toml");
  BOOST_TEST((configuration.icrc == wire::Icrc::made));
  BOOST_TEST((default_configuration().icrc == wire::Icrc::owed));
  BOOST_REQUIRE(configuration.devices.size() == 2u);
  const auto& [first, second] = std::tie(configuration.devices[0], configuration.devices[1]);
  BOOST_TEST(first.name == "urnic_a");
  BOOST_TEST(to_text(first.mac) == "02:00:00:00:00:0a");
  BOOST_TEST(to_text(first.gids[1]) == "::ffff:198.51.100.7");
  BOOST_TEST(first.mtu == 1024u);
  BOOST_TEST(first.vendor_id == 0x2C9u);
  BOOST_TEST(first.vendor_part_id == 26428u);
  BOOST_TEST((first.raw_packets == RawPackets::privileged));
  BOOST_TEST((first.number_seed == (std::uint64_t{1} << 53) - 1));
  BOOST_TEST((second.number_seed == 0u));
  BOOST_TEST((second.raw_packets == RawPackets::all));
  BOOST_TEST(second.name == "urnic1");
  BOOST_TEST(second.mtu == 2048u);
  BOOST_TEST(second.vendor_id == 0x2C9u);
  BOOST_TEST(second.vendor_part_id == 7u);
  BOOST_TEST(second.hardware_version == 3u);
  BOOST_TEST(configuration.engines == 2u);
  BOOST_TEST(configuration.idle_spin.count() == 5000);
  BOOST_TEST(configuration.log_level == "debug");
}

BOOST_AUTO_TEST_CASE(gids_may_belong_to_vlans) {
  const Configuration configuration = parse_configuration(
      "[[devices]]\ngids = [\"fe80::a\", {gid = \"::ffff:203.0.113.1\", vlan = 5}]\n", "lab.toml");
  const DeviceSettings& device = configuration.devices[0];
  BOOST_REQUIRE(device.gids.size() == 2u);
  BOOST_TEST(to_text(device.gids[1]) == "::ffff:203.0.113.1");
  BOOST_TEST((device.vlans == std::map<std::size_t, std::uint16_t>{{1, 5}}));
  for (const std::string wrong :
       {"{gid = \"fe80::1\", vlan = 0}", "{gid = \"fe80::1\", vlan = 4095}", "{gid = \"fe80::1\"}",
        "{vlan = 5}", "{gid = \"ff02::1\", vlan = 5}", "{gid = \"fe80::1\", vlan = 5, tag = 1}",
        "{gid = 5, vlan = 5}", "{gid = \"fe80::1\", vlan = \"5\"}"})
    check_error("[[devices]]\ngids = [" + wrong + "]\n", "2", "gids", "1 to 4094");
  check_error("[[devices]]\nwire = \"udp\"\naddresses = [{gid = \"192.0.2.1\", vlan = 5}]\n", "3",
              "addresses", "addresses of this host");
}

BOOST_AUTO_TEST_CASE(link_local_gids_follow_the_mac) {
  const Configuration configuration =
      parse_configuration("[[devices]]\nmac = \"02:00:00:00:00:0a\"\n", "lab.toml");
  BOOST_TEST(to_text(configuration.devices[0].gids[0]) == "fe80::ff:fe00:a");
}

BOOST_AUTO_TEST_CASE(errors_name_file_line_value_and_what_is_allowed) {
  check_error("[device]\n\nmtu = 1500\n", "3", "device.mtu = 1500", "256, 512, 1024, 2048 or 4096");
  check_error("[device]\nraw_packets = \"root\"\n", "2", "device.raw_packets = 'root'",
              "\"all\", \"privileged\"");
  check_error("[[devices]]\nmac = \"02:75:72\"\n", "2", "02:75:72", "unicast Ethernet address");
  check_error("[[devices]]\nmac = \"03:00:00:00:00:01\"\n", "2", "03:00:00", "unicast Ethernet address");
  check_error("[[devices]]\nname = \"mlx5_0\"\n", "2", "mlx5_0", "\"urnic\"");
  check_error("[[devices]]\nname = \"urnic/../x\"\n", "2", "urnic/../x", "letters");
  check_error("[[devices]]\nname = 3\n", "2", "devices.name = 3", "\"urnic\"");
  check_error("[[devices]]\ngids = [\"192.0.2.1\"]\n", "2", "192.0.2.1", "::ffff:192.0.2.1");
  check_error("[[devices]]\ngids = [\"ff02::1\"]\n", "2", "ff02::1", "unicast");
  check_error("[[devices]]\ngids = []\n", "2", "gids", "1 to 16");
  check_error("[engine]\nidle_spin_us = -1\n", "2", "-1", "0 to 1000000");
  check_error("[engine]\nidle_spin_us = \"5\"\n", "2", "5", "whole number");
  check_error("[engine]\nengines = 0\n", "2", "engine.engines = 0", "1 to 16");
  check_error("[engine]\nengines = 17\n", "2", "engine.engines = 17", "1 to 16");
  check_error("[logging]\nlevel = \"loud\"\n", "2", "loud", "warning");
  check_error("devices = 2\n", "1", "devices = 2", "[[devices]]");
  check_error("device = 2\n", "1", "device = 2", "[device]");
  check_error("[engine]\nicrc = \"never\"\n", "2", "never", "when_seen");
  check_error("[engine]\nspin = 1\n", "2", "engine.spin", "idle_spin_us");
  check_error("[[devices]]\nvendor_id = 0x1000000\n", "2", "0x1000000", "16777215");
}

BOOST_AUTO_TEST_CASE(what_is_no_toml_is_said_so_with_its_line) {
  const std::string error = error_of("[device]\nmtu = = 5\n");
  BOOST_TEST(error.starts_with("lab.toml:2:"));
  BOOST_TEST(error.find("TOML") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(devices_do_not_share_names_or_addresses) {
  check_error("[[devices]]\nname = \"urnic9\"\n[[devices]]\nname = \"urnic9\"\n", "3", "urnic9", "its own");
  check_error("[[devices]]\nmac = \"02:00:00:00:00:0a\"\n[[devices]]\nmac = \"02:00:00:00:00:0a\"\n", "3",
              "02:00:00:00:00:0a", "its own");
  check_error("[[devices]]\ngids = [\"fe80::1\"]\n[[devices]]\ngids = [\"fe80::2\", \"fe80::1\"]\n", "3",
              "fe80::1", "its own");
}

BOOST_AUTO_TEST_CASE(a_file_that_is_not_there_is_an_error) {
  BOOST_CHECK_EXCEPTION(
      load_configuration("/nonexistent/lab.toml"), ConfigurationError,
      [](const auto& error) { return std::string(error.what()).find("/nonexistent/lab.toml") == 0; });
}

BOOST_AUTO_TEST_CASE(mac_addresses_are_read_strictly) {
  BOOST_TEST(parse_mac("02:75:72:6e:00:01").has_value());
  for (const char* text :
       {"", "2:75:72:6e:0:1", "02:75:72:6e:00:01 ", " 2:75:72:6e:00:01", "02-75-72-6e-00-01",
        "02:75:72:6e:00:0g", "02:75:72:6e:00:011", "+2:75:72:6e:00:01"}) {
    BOOST_TEST(!parse_mac(text).has_value(), text);
  }
}

BOOST_AUTO_TEST_CASE(links_are_perfect_wires_unless_told_otherwise) {
  for (const DeviceSettings& device : default_configuration().devices) {
    BOOST_TEST(!is_impaired(device.transmit_link));
    BOOST_TEST(!is_impaired(device.receive_link));
    BOOST_TEST((device.recovery.mode == kDefaultRecovery));
  }
}

BOOST_AUTO_TEST_CASE(every_setting_of_a_link_is_taken) {
  const Configuration configuration = parse_configuration(R"(
    [[link]]
    device = "urnic0"
    direction = "tx"
    rate_gbps = 100
    delay_us = 2.5
    jitter_us = 1
    queue_packets = 10
    loss = 0.01
    burst_start = 0.001
    burst_length = 4
    burst_loss = 0.5
    duplicate = 0.02
    reorder = 0.03
    reorder_packets = 5
    reorder_hold_us = 7
    corrupt = 0.04
    ecn_threshold_packets = 6
    ecn_min_bytes = 5000
    ecn_max_bytes = 200000
    ecn_probability = 0.01
    pfc = true
    pfc_xoff_bytes = 3000
    pfc_xon_bytes = 2000
    seed = 42
  )",
                                                          "lab.toml");
  const link::LinkSettings expected{.rate_gbps = 100,
                                    .delay = transport::Nanoseconds(2500),
                                    .jitter = transport::Nanoseconds(1000),
                                    .queue_packets = 10,
                                    .loss = 0.01,
                                    .burst_start = 0.001,
                                    .burst_end = 0.25,
                                    .burst_loss = 0.5,
                                    .duplicate = 0.02,
                                    .reorder = 0.03,
                                    .reorder_packets = 5,
                                    .reorder_hold = transport::Nanoseconds(7000),
                                    .corrupt = 0.04,
                                    .ecn_threshold_packets = 6,
                                    .ecn_min_bytes = 5000,
                                    .ecn_max_bytes = 200'000,
                                    .ecn_probability = 0.01,
                                    .pfc = true,
                                    .pfc_xoff_bytes = 3000,
                                    .pfc_xon_bytes = 2000,
                                    .seed = 42};
  BOOST_TEST((configuration.devices[0].transmit_link == expected));
  BOOST_TEST((configuration.devices[0].receive_link == link::LinkSettings{}));
  BOOST_TEST((configuration.devices[1].transmit_link == link::LinkSettings{}));
}

BOOST_AUTO_TEST_CASE(the_switch_has_a_buffer_in_bytes) {
  BOOST_TEST((default_configuration().switch_buffer == link::SharedBufferSettings{.bytes = 0, .alpha = 1}));
  const Configuration configuration =
      parse_configuration("[switch]\nbuffer_bytes = 12000000\nbuffer_alpha = 0.5\n", "lab.toml");
  BOOST_TEST((configuration.switch_buffer == link::SharedBufferSettings{.bytes = 12'000'000, .alpha = 0.5}));
  check_error("[switch]\nbuffer_bytes = -1\n", "2", "switch.buffer_bytes = -1", "from 0 to 1000000000000");
  check_error("[switch]\nbuffer_bytes = 1\nbuffer_alpha = 0\n", "3", "switch.buffer_alpha = 0",
              "0.001 to 1000");
  check_error("[switch]\nbuffer_alpha = 2\n", "2", "switch.buffer_alpha = 2", "nothing without buffer_bytes");
  check_error("[switch]\nbuffer = 2\n", "2", "switch.buffer: no such setting", "buffer_bytes");
}

BOOST_AUTO_TEST_CASE(sections_of_links_add_up) {
  const Configuration configuration = parse_configuration(
      "[[link]]\nloss = 0.1\ndelay_us = 1\n[[link]]\ndevice = \"urnic1\"\ndirection = \"rx\"\nloss = 0\n",
      "lab.toml");
  BOOST_TEST(configuration.devices[0].receive_link.loss == 0.1);
  BOOST_TEST(configuration.devices[1].transmit_link.loss == 0.1);
  BOOST_TEST(configuration.devices[1].receive_link.loss == 0);
  BOOST_TEST(configuration.devices[1].receive_link.delay.count() == 1000);
}

BOOST_AUTO_TEST_CASE(recovery_is_chosen_for_all_for_a_device_or_for_a_link) {
  using transport::RecoveryMode;
  const Configuration configuration = parse_configuration(R"(
    [device]
    recovery = "irn"
    irn_window_packets = 55
    irn_timeout_low_us = 50
    irn_timeout_high_us = 500.5
    reordering_packets = 9
    [[devices]]
    [[devices]]
    recovery = "selective"
    [[devices]]
    [[link]]
    device = "urnic2"
    recovery = "gbn"
  )",
                                                          "lab.toml");
  BOOST_TEST((configuration.devices[0].recovery.mode == RecoveryMode::irn));
  BOOST_TEST((configuration.devices[1].recovery.mode == RecoveryMode::selective));
  BOOST_TEST((configuration.devices[2].recovery.mode == RecoveryMode::gbn));
  BOOST_TEST(configuration.devices[1].recovery.irn_window == 55);
  BOOST_TEST(configuration.devices[1].recovery.irn_timeout_low.count() == 50'000);
  BOOST_TEST(configuration.devices[1].recovery.irn_timeout_high.count() == 500'500);
  BOOST_TEST(configuration.devices[1].recovery.reordering == 9);
}

BOOST_AUTO_TEST_CASE(wrong_settings_of_links_and_recovery) {
  check_error("[[link]]\nloss = 1.5\n", "2", "link.loss = 1.5", "a probability from 0 to 1");
  check_error("[[link]]\nloss = \"much\"\n", "2", "link.loss", "a probability from 0 to 1");
  check_error("[[link]]\nrate_gbps = 0.0001\n", "2", "link.rate_gbps", "from 0.001 to 1000, or 0");
  check_error("[[link]]\nqueue_packets = 1.5\n", "2", "link.queue_packets = 1.5", "a whole number");
  check_error("[[link]]\necn_max_bytes = -1\n", "2", "link.ecn_max_bytes = -1", "0 for no marks by bytes");
  check_error("[[link]]\necn_probability = 0.1\n", "2", "link.ecn_probability = 0.1",
              "0 without ecn_max_bytes");
  check_error("[[link]]\necn_max_bytes = 10\necn_min_bytes = 11\n", "3", "link.ecn_min_bytes = 11",
              "no more than ecn_max_bytes");
  check_error(
      "[[link]]\necn_max_bytes = 10\necn_min_bytes = 10\n[[link]]\ndevice = \"urnic1\"\necn_max_bytes = 9\n",
      "4", "link.ecn_min_bytes = 10", "no more than ecn_max_bytes");
  check_error("[[link]]\npfc = 1\n", "2", "link.pfc = 1", "true or false");
  check_error("[[link]]\npfc_xoff_bytes = 10\n", "1", "link.pfc_xon_bytes = 50000",
              "no more than pfc_xoff_bytes");
  check_error("[[link]]\ndelay = 3\n", "2", "link.delay: no such setting", "delay_us");
  check_error("[[link]]\ndevice = \"urnic9\"\n", "2", "urnic9", "\"all\", \"urnic0\", \"urnic1\"");
  check_error("[[link]]\ndirection = \"out\"\n", "2", "out", "\"tx\", \"rx\", \"both\"");
  check_error("[link]\nloss = 0.1\n", "1", "link", "sections [[link]]");
  check_error("[device]\nrecovery = \"none\"\n", "2", "device.recovery",
              "\"gbn\", \"selective\", \"irn\", \"sack\"");
  check_error("[device]\nirn_timeout_low_us = 0\n", "2", "device.irn_timeout_low_us", "microseconds");
  check_error("faults = 3\n", "1", "faults = 3", "path of a fault plan");
}

BOOST_AUTO_TEST_CASE(devices_may_have_interfaces) {
  const auto interfaces = [](const std::string& text) {
    return parse_configuration(text, "lab.toml").interfaces;
  };
  BOOST_TEST((default_configuration().interfaces == Interfaces::none));
  BOOST_TEST((interfaces("network = false\ninterfaces = false\n") == Interfaces::none));
  BOOST_TEST((interfaces("network = true\n") == Interfaces::own_network));
  BOOST_TEST((interfaces("interfaces = true\n") == Interfaces::host));
  check_error("network = 1\n", "1", "network = 1", "true or false");
  check_error("network = true\ninterfaces = true\n", "2", "interfaces = true", "one network namespace");
}

BOOST_AUTO_TEST_CASE(a_lan_limits_the_mtu_of_devices_on_the_switch) {
  BOOST_TEST(!default_configuration().lan);
  const Configuration lan = parse_configuration("[lan]\nlisten = \"/tmp/lan\"\nvlan = 7\n", "lab.toml");
  BOOST_REQUIRE(lan.lan.has_value());
  BOOST_TEST(lan.lan->carrier.name == "/tmp/lan");
  BOOST_TEST((lan.lan->carrier.kind == link::CarrierKind::listen));
  BOOST_TEST((lan.lan->vlan == std::optional<std::uint16_t>(7)));
  BOOST_TEST(lan.devices[0].mtu == 1024u);
  const Configuration jumbo = parse_configuration(
      "[device]\nmtu = 2048\n[[devices]]\n[[devices]]\nmtu = 4096\n[lan]\nconnect = \"lan\"\nmtu = 9000\n",
      "lab.toml");
  BOOST_TEST((jumbo.lan->carrier.kind == link::CarrierKind::connect));
  BOOST_TEST(jumbo.devices[0].mtu == 2048u);
  BOOST_TEST(jumbo.devices[1].mtu == 4096u);
}

BOOST_AUTO_TEST_CASE(a_lan_on_an_interface) {
  const Configuration lan = parse_configuration("[lan]\ninterface = \"eth0\"\n", "lab.toml");
  BOOST_TEST((lan.lan->carrier.kind == link::CarrierKind::interface));
  BOOST_TEST(lan.lan->mtu == 0u);  // the interface's
  BOOST_TEST(lan.devices[0].mtu == 4096u);
  BOOST_TEST((lan.lan->carrier.devices == std::vector{lan.devices[0].mac, lan.devices[1].mac}));
}

BOOST_AUTO_TEST_CASE(users_of_a_lan) {
  const Configuration lan =
      parse_configuration("[lan]\nlisten = \"a\"\nusers = [\"root\", 1234]\ngroup = \"root\"\n", "lab.toml");
  BOOST_TEST((lan.lan->carrier.access.users == std::vector<uid_t>{0, 1234}));
  BOOST_TEST((lan.lan->carrier.access.group == std::optional<gid_t>(0)));
  BOOST_TEST(parse_configuration("[lan]\nlisten = \"a\"\nusers = [\"*\"]\n", "lab.toml")
                 .lan->carrier.access.everybody);
}

BOOST_AUTO_TEST_CASE(wrong_settings_of_a_lan) {
  check_error("[lan]\n", "1", "lan", "needs one of listen, connect, datagram, interface, tap");
  check_error("[lan]\nlisten = \"a\"\nconnect = \"b\"\n", "3", "lan.connect", "only one of");
  check_error("[lan]\ninterface = \"a-name-that-is-too-long\"\n", "2", "lan.interface",
              "network interface's name");
  check_error("[lan]\ndatagram = \"/tmp/a\"\n", "1", "lan.datagram", "remote");
  check_error("[lan]\ndatagram = \"/tmp/a\"\nremote = \"10.0.0.1:5\"\n", "1", "lan.datagram",
              "of the same kind");
  check_error("[lan]\ntap = \"tap0\"\nremote = \"/tmp/b\"\n", "3", "lan.remote", "nothing without datagram");
  check_error("[lan]\nconnect = \"a\"\nusers = [\"root\"]\n", "3", "lan.users", "nothing without listen");
  check_error("[lan]\nlisten = \"a\"\nusers = [\"no such user\"]\n", "3", "no such user",
              "users of this machine");
  check_error("[lan]\nlisten = \"a\"\ngroup = \"no such group\"\n", "3", "no such group",
              "a group of this machine");
  check_error("[lan]\nlisten = 3\n", "2", "lan.listen = 3", "the path of a UNIX socket");
  check_error("[lan]\nlisten = \"a\"\nvlan = 4095\n", "3", "lan.vlan = 4095", "1 to 4094");
  check_error("[lan]\nlisten = \"a\"\nmtu = 500\n", "3", "lan.mtu = 500", "576 to 65535");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::control
