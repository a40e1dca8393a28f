// Management datagrams that go from node to node by calls (docs/decisions/subnet-by-calls.md), on the links
// of devices: as packets that captures see, and which links lose, delay, double and damage.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "device_model/engine/management/announcement.hpp"
#include "device_model/engine/management/datagram_ring.hpp"
#include "device_model/link/datagram_exit.hpp"
#include "device_model/link/observation.hpp"
#include "device_model/subnet/datagram.hpp"
#include "wire/parse_error.hpp"

namespace urnic::control {

struct EngineUnit;
class Fabric;
struct ServedDevice;

// Those of a device that its link lost because too many were under way or waited.
struct DroppedDatagrams {
  std::uint64_t subnet_management = 0;  // IBTA 16.1.3.5: VL15Dropped
  // Other classes are on the lanes of data: QP1Dropped, PortXmitDiscards.
  std::uint64_t general_received = 0;
  std::uint64_t general_sent = 0;

  // The one for a datagram of this queue pair on this direction of the link.
  std::uint64_t& of(wire::Qpn queue_pair, link::Direction direction);
};

class DatagramLinks final : public subnet::EndLinks, private link::DatagramExit {
 public:
  // Datagrams that may have come out of links and wait for the control thread. Of no maker more wait than are
  // free for all (as FramesInFlight::room), so that floods of some leave room for the others.
  static constexpr std::uint32_t kArrived = 1024;

  // `fabric` has its subnet and its devices, and outlives it. Throws std::system_error.
  explicit DatagramLinks(Fabric& fabric);

  // A link that does nothing to packets lets them pass at once; if it never had settings or faults, and no
  // capture runs, at no cost. Else the packet enters it between two rounds of the engine: what is sent
  // because of it comes behind it.
  bool leave(const subnet::Packet& packet) override;
  bool arrive(const subnet::Packet& packet, subnet::PortPlace to) override;
  void stick(const subnet::Packet& packet, std::string_view why) override;
  void refuse(const subnet::Packet& packet, subnet::PortPlace at, std::string_view why) override;

  // Readable when datagrams have come out of links.
  int arrival_descriptor() const { return arrival_.descriptor(); }
  // Hands the subnet those that have, up to a limit.
  void take_arrivals();

  // Inside Engine::execute.
  DroppedDatagrams dropped(const ServedDevice& device) const;

 private:
  // Plain bytes and integers without initialisers, so that a ring of them costs nothing until it is used.
  struct Arrived {
    std::uint32_t port;  // of the switch: whose link
    link::Direction passed;
    std::uint32_t maker;
    std::uint64_t number;
    std::uint32_t bytes;
    std::uint32_t remark_bytes;
    std::array<std::byte, 300> packet;  // all have 288 bytes, LRH to ICRC
    std::array<char, link::kMaxRemarkBytes> remarks;
  };

  const ServedDevice* device_at(subnet::PortPlace place) const;
  bool acts(const ServedDevice& device) const;
  bool cross(const subnet::Packet& packet, const ServedDevice& device, link::Direction direction,
             bool is_first);
  link::PacketOrigin origin_of(const subnet::Packet& packet) const;
  void show(const subnet::Packet& packet, link::CapturePoint point, const ServedDevice& device,
            link::Direction direction, std::string_view remarks) const;
  void come_out(const wire::Frame& frame, const link::PacketOrigin& origin, std::uint32_t port,
                link::Direction passed, std::string_view remarks) override;
  void end_broken(const wire::Frame& frame, const link::PacketOrigin& origin, const ServedDevice& device,
                  link::Direction passed, std::string_view remarks);
  std::optional<subnet::Packet> packet_of(const Arrived& arrived) const;
  void show_other(const Arrived& arrived, const wire::Frame& frame) const;
  // Which of the shares is the maker's; hosts that are added later share the last one.
  std::uint32_t share_of(subnet::NodeIndex maker) const;

  Fabric& fabric_;
  EngineUnit& unit_;
  engine::DatagramRing<Arrived> arrived_{kArrived};
  std::vector<std::atomic<std::uint32_t>> waiting_;  // by share
  std::vector<DroppedDatagrams> dropped_;            // by device; inside Engine::execute
  engine::Announcement arrival_{"subnet management: eventfd"};
};

}  // namespace urnic::control
