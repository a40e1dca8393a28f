// The performance agent of a node with several ports.
#include "device_model/control/gsi/performance_agent.hpp"

#include <boost/test/unit_test.hpp>

#include "wire/mad/performance.hpp"

namespace urnic::control::test {
namespace {

using wire::mad::MadHeader;
using wire::mad::MadStatus;
using wire::mad::Method;
using wire::mad::PerformanceAttribute;
using wire::mad::PortCounters;

// Three ports, whose port_rcv_packets are 10, 20 and 30.
struct ThreePorts {
  PerformanceAgent agent{[] {
    return std::vector<std::vector<CounterValue>>{
        {{"port_rcv_packets", 10}}, {{"port_rcv_packets", 20}}, {{"port_rcv_packets", 30}}};
  }};

  // The value, or empty: the answer says that a field is invalid.
  std::optional<std::uint32_t> ask(Method method, std::uint8_t port, PortCounters counters = {}) {
    MadHeader header{.management_class = wire::mad::ManagementClass::performance,
                     .class_version = wire::mad::kPerformanceClassVersion,
                     .method = method,
                     .attribute = {static_cast<std::uint16_t>(PerformanceAttribute::port_counters)}};
    counters.port_select = port;
    const auto answer = agent.answer(header, encode(counters, header));
    decode(*answer, header);
    BOOST_TEST((header.method == Method::get_response));
    PortCounters shown;
    decode(*answer, shown);
    BOOST_TEST(unsigned{shown.port_select} == unsigned{port});
    return header.status == MadStatus::ok ? std::optional(shown.receive_packets) : std::nullopt;
  }
  std::optional<std::uint32_t> get(std::uint8_t port) { return ask(Method::get, port); }

  // Writes the counter of received packets only.
  void set(std::uint8_t port, std::uint32_t value) {
    PortCounters counters;
    counters.counter_select = 1u << 15;
    counters.receive_packets = value;
    ask(Method::set, port, counters);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(performance_agents, ThreePorts)

BOOST_AUTO_TEST_CASE(each_port_has_its_counters) {
  BOOST_TEST((get(1) == 10u));
  BOOST_TEST((get(3) == 30u));
  BOOST_TEST(!get(0).has_value());
  BOOST_TEST(!get(4).has_value());
}

// IBTA 16.1.3.5: PortSelect 0xFF.
BOOST_AUTO_TEST_CASE(all_ports_are_their_sum) {
  BOOST_TEST((get(0xFF) == 60u));
  set(2, 0);
  BOOST_TEST((get(2) == 0u));
  BOOST_TEST((get(0xFF) == 40u));
  set(0xFF, 0);
  BOOST_TEST((get(1) == 0u));
  BOOST_TEST((get(0xFF) == 0u));
}

BOOST_AUTO_TEST_CASE(a_set_writes_what_it_says) {
  set(1, 7);
  BOOST_TEST((get(1) == 7u));
  BOOST_TEST((get(2) == 20u));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
