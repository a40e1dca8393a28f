// Management datagrams between two devices, whose control thread the test plays.
#pragma once

#include <poll.h>

#include <array>
#include <boost/test/unit_test.hpp>

#include "device_model/engine/management/management_queue_pair.hpp"
#include "device_model/engine/management/management_traffic.hpp"
#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {

inline std::array<std::byte, kMadBytes> mad_of(std::uint8_t seed) {
  std::array<std::byte, kMadBytes> mad;
  for (std::size_t i = 0; i < mad.size(); ++i) mad[i] = static_cast<std::byte>(seed + i);
  return mad;
}

inline bool readable(int descriptor) {
  pollfd look{descriptor, POLLIN, 0};
  return poll(&look, 1, 0) == 1;
}

struct Managed : Fabric {
  ManagementTraffic traffic;
  ManagementQueuePair qp0{device0.resources(), traffic};
  ManagementQueuePair qp1{device1.resources(), traffic};

  explicit Managed(wire::LinkLayer link_layer = wire::LinkLayer::ethernet) : Fabric(link_layer) {
    device0.set_management_receiver(kGeneralServicesQpn, &qp0);
    device1.set_management_receiver(kGeneralServicesQpn, &qp1);
  }
  ~Managed() { engine.stop(); }

  void post(std::uint8_t seed) {
    BOOST_REQUIRE(qp0.post(path(device0, device1), kGeneralServicesQpn, wire::Pkey{}, mad_of(seed)));
  }
  std::uint32_t take_all() {
    std::uint32_t taken = 0;
    traffic.expect_arrivals();
    for (; traffic.next_arrival() != nullptr; ++taken) traffic.taken();
    return taken;
  }
};

}  // namespace urnic::engine::test
