// Which frames a capture of one queue pair has.
#include "device_model/control/admin/queue_pair_filter.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <vector>

#include "wire/frame.hpp"

namespace urnic::control {
namespace queue_pair_filter {

constexpr wire::MacAddress kDevice{{2, 0, 0, 0, 0, 1}};
constexpr wire::MacAddress kOther{{2, 0, 0, 0, 0, 2}};

bool takes(const QueuePairFilter& filter, const wire::Frame& frame) {
  const link::PacketOrigin unknown{.queue_pair = link::kUnknownQpn, .device = {}};
  return filter.takes({.frame = frame,
                       .origin = unknown,
                       .point = link::CapturePoint::after_link,
                       .device = "urnic0",
                       .direction = link::Direction::receive,
                       .remarks = {}});
}

bool is_kept(bool ipv4, std::uint16_t vlan_tag, const wire::MacAddress& to, std::uint32_t queue_pair) {
  wire::NetworkHeaders network;
  network.destination_mac = to;
  if (ipv4) network.source.bytes = network.destination.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  network.vlan_tag = vlan_tag;
  wire::TransportHeaders headers;
  headers.bth.opcode = wire::Opcode(wire::Service::rc, wire::Operation::send_only);
  headers.bth.destination = wire::Qpn{queue_pair};
  wire::FrameStorage storage;
  return takes({kDevice, wire::Qpn{0x22}}, wire::encode(network, headers, {}, storage));
}

BOOST_AUTO_TEST_SUITE(queue_pair_filter)

BOOST_AUTO_TEST_CASE(it_keeps_what_is_for_the_devices_queue_pair) {
  for (const bool ipv4 : {true, false}) {
    for (const std::uint16_t tag : {std::uint16_t{0}, std::uint16_t{5}}) {
      BOOST_TEST(is_kept(ipv4, tag, kDevice, 0x22));
      BOOST_TEST(!is_kept(ipv4, tag, kDevice, 0x23));
      BOOST_TEST(!is_kept(ipv4, tag, kOther, 0x22));
    }
  }
}

BOOST_AUTO_TEST_CASE(short_frames_are_nobodys) {
  std::vector<std::byte> frame(100);
  std::copy(kDevice.bytes.begin(), kDevice.bytes.end(), reinterpret_cast<std::uint8_t*>(frame.data()));
  frame[12] = std::byte{0x81};  // of a VLAN
  const QueuePairFilter filter{kDevice, wire::Qpn{0}};
  for (std::size_t size = 0; size < 70; ++size) {
    const std::vector<std::byte> cut(frame.begin(), frame.begin() + static_cast<long>(size));
    BOOST_TEST(!takes(filter, {.headers = cut, .payload = {}, .trailer = {}}));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace queue_pair_filter
}  // namespace urnic::control
