// How devices are divided among engines.
#include "device_model/control/fabric/fabric.hpp"

#include <boost/test/unit_test.hpp>

#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/link/switch.hpp"

namespace urnic::control::test {

namespace {

Configuration with_engines(const std::string& engines, std::size_t devices) {
  std::string text = "[engine]\nengines = " + engines + "\n";
  for (std::size_t i = 0; i < devices; ++i) text += "[[devices]]\n";
  text += "[[link]]\ndevice = \"urnic1\"\nloss = 0.5\n";
  return parse_configuration(text, "lab.toml");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fabric_engines)

BOOST_AUTO_TEST_CASE(devices_have_the_engines_in_turn) {
  Fabric fabric(with_engines("2", 3));
  BOOST_TEST(fabric.engines() == 2u);
  const auto& devices = fabric.devices();
  BOOST_TEST(&fabric.engine(*devices[0]) == &fabric.engine(*devices[2]));
  BOOST_TEST(&fabric.engine(*devices[0]) != &fabric.engine(*devices[1]));
  std::vector<std::size_t> counts;
  fabric.execute_on_all([&](EngineUnit& unit) { counts.push_back(unit.devices.size()); });
  BOOST_TEST(counts == (std::vector<std::size_t>{2, 1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(there_are_no_more_engines_than_devices) {
  BOOST_TEST(Fabric(with_engines("16", 2)).engines() == 2u);
}

BOOST_AUTO_TEST_CASE(a_gid_is_looked_for_here_and_then_among_the_neighbours) {
  struct Beyond final : link::Neighbours {
    explicit Beyond(wire::Gid its_gid) : known(its_gid) {}
    link::Neighbour find_in(std::uint16_t vlan, const wire::Gid& gid) override {
      if (vlan != 0) return {};
      return gid == known ? link::Neighbour{state, {{2, 9, 9, 9, 9, 9}}} : link::Neighbour{};
    }
    wire::Gid known;
    link::Neighbour::State state = link::Neighbour::State::known;
  };
  Fabric fabric(with_engines("1", 2));
  const wire::Gid here = fabric.devices()[1]->settings.gids[1];
  const wire::Gid far = *parse_gid("::ffff:198.51.100.7");
  const wire::MacAddress mac = fabric.devices()[1]->settings.mac;
  BOOST_TEST((fabric.resolve(here) == mac));
  BOOST_TEST(!fabric.resolve(far));
  Beyond beyond(far);
  Beyond impostor(here);
  fabric.add_neighbours(impostor);
  fabric.add_neighbours(beyond);
  BOOST_TEST((fabric.resolve(far) == beyond.find(far).mac));
  BOOST_TEST((fabric.resolve(here) == mac));
  BOOST_TEST(!fabric.resolve(wire::Gid{}));
  beyond.state = link::Neighbour::State::asked;
  BOOST_TEST(!fabric.resolve(far));
  BOOST_TEST((fabric.find(far).state == link::Neighbour::State::asked));
}

// All switches have all devices, by the same numbers, and each link is where its device is.
BOOST_AUTO_TEST_CASE(a_link_is_at_the_switch_of_its_devices_engine) {
  Fabric fabric(with_engines("2", 3));
  const auto& devices = fabric.devices();
  fabric.execute_on_all([&](EngineUnit& unit) { BOOST_TEST(unit.frame_switch.ports() == 3u); });
  const link::Link* const link = fabric.switch_of(*devices[1]).existing_link(1);
  BOOST_REQUIRE(link != nullptr);
  BOOST_TEST(link->number() == 1u);
  BOOST_TEST(link->device() == "urnic1");
  BOOST_TEST(fabric.switch_of(*devices[0]).existing_link(1) == nullptr);
}

BOOST_AUTO_TEST_CASE(each_engines_switch_has_the_configured_buffer) {
  Fabric fabric(parse_configuration(
      "[engine]\nengines = 2\n[switch]\nbuffer_bytes = 5000\nbuffer_alpha = 0.5\n", "lab.toml"));
  fabric.execute_on_all([&](EngineUnit& unit) {
    BOOST_TEST(
        (unit.frame_switch.buffer().settings() == link::SharedBufferSettings{.bytes = 5000, .alpha = 0.5}));
  });
}

// What comes by the trunk is paused at the switch of its device's engine.
BOOST_AUTO_TEST_CASE(a_queue_pauses_devices_of_other_engines) {
  Fabric fabric(parse_configuration(
      "[engine]\nengines = 2\n[[link]]\nrate_gbps = 1\npfc = true\npfc_xoff_bytes = 0\npfc_xon_bytes = 0\n",
      "lab.toml"));
  const auto& devices = fabric.devices();
  std::vector<std::byte> bytes(100);
  link::Trunk::Passenger passenger;
  passenger.frame = {bytes, {}, {}};
  passenger.from = 0;
  passenger.to = 1;
  fabric.switch_of(*devices[1]).arrive_by_trunk(passenger, transport::Time(transport::Nanoseconds(1000)));
  BOOST_TEST(fabric.switch_of(*devices[0]).pause(0).count() == 1u);
  BOOST_TEST(fabric.switch_of(*devices[1]).pause(1).count() == 0u);
}

BOOST_AUTO_TEST_CASE(numbers_follow_from_the_seed) {
  const auto first_numbers = [](const std::string& text) {
    Fabric fabric(parse_configuration(text, "lab.toml"));
    std::vector<std::uint32_t> numbers;
    for (const auto& served : fabric.devices()) {
      numbers.push_back(served->device->queue_pairs().reserve()->value);
      numbers.push_back(served->device->memory_table().add_window(transport::PdId{1}, 1)->value);
    }
    return numbers;
  };
  const std::string devices = "[[devices]]\n[[devices]]\n";
  const auto seeded = first_numbers("[device]\nnumber_seed = 5\n" + devices);
  BOOST_TEST(seeded == first_numbers("[device]\nnumber_seed = 5\n" + devices),
             boost::test_tools::per_element());
  BOOST_TEST(seeded != first_numbers("[device]\nnumber_seed = 6\n" + devices));
  BOOST_TEST(seeded[0] != seeded[2]);
  BOOST_TEST(seeded[1] != seeded[3]);
  // All four of two draws of the kernel's alike: once in 2^90.
  BOOST_TEST(first_numbers(devices) != first_numbers(devices));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
