// Queue pair 1 of a device: the UD queue pair of the general services (IBTA 3.9.1, 13.5.1), which belongs to
// the device process.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "device_model/engine/device/device_resources.hpp"
#include "device_model/engine/device/management_receiver.hpp"
#include "device_model/engine/management/datagram_ring.hpp"
#include "device_model/engine/management/management_datagram.hpp"
#include "device_model/transport/time.hpp"
#include "wire/network_headers.hpp"

namespace urnic::engine {

class ManagementTraffic;

// Engine thread's; others read copies.
struct ManagementCounters {
  std::uint64_t received = 0;  // MADs handed to the control thread
  std::uint64_t sent = 0;
  std::uint64_t malformed = 0;  // other opcodes than UD SEND only, other lengths, other partitions
  std::uint64_t no_room = 0;    // arrived when too many waited for the control thread
};

class ManagementQueuePair final : public ManagementReceiver {
 public:
  // Of the device with these resources, part of its engine's `traffic`; both outlive it.
  ManagementQueuePair(const DeviceResources& device, ManagementTraffic& traffic);
  ManagementQueuePair(const ManagementQueuePair&) = delete;
  ManagementQueuePair& operator=(const ManagementQueuePair&) = delete;

  // Of the device, in configuration order.
  std::uint32_t device_number() const { return device_.number; }

  // Control thread. Queues a MAD for `destination`, which the engine sends once it has been woken. False: as
  // many as it takes wait already, as when the port is slow.
  bool post(const wire::NetworkHeaders& network, wire::Qpn destination, wire::Pkey pkey,
            std::span<const std::byte, kMadBytes> mad);

  // Control thread. Whether there is room for many MADs, of all devices' that have arrived, too.
  bool has_room() const;

  // Engine thread, from here on.
  void receive(const transport::InboundPacket& packet, const wire::NetworkHeaders& network) override;
  void follow_pkeys(std::span<const std::uint16_t> pkeys) override {
    pkeys_.assign(pkeys.begin(), pkeys.end());
  }
  // Sends what is queued, `most` MADs at most, as far as the port and the round have room. Returns how many.
  std::uint32_t send(std::uint32_t most);
  bool has_to_send() { return leaving_.front() != nullptr; }
  // When the port has room for the next, which it had not at the last `send`.
  transport::Time room_at() const;
  const ManagementCounters& counters() const { return counters_; }

 private:
  friend class ManagementTraffic;

  std::optional<std::uint16_t> index_of(wire::Pkey pkey) const;
  std::optional<std::uint16_t> admit(const transport::InboundPacket& packet);
  void transmit(const LeavingDatagram& datagram, std::byte* payload);

  const DeviceResources& device_;
  ManagementTraffic& traffic_;
  DatagramRing<LeavingDatagram> leaving_;
  std::uint32_t posted_ = 0;               // by the control thread: the next PSN
  std::atomic<std::uint32_t> waiting_{0};  // that arrived here, and the control thread has not taken
  std::vector<std::uint16_t> pkeys_{wire::Pkey{}.value};  // of the port
  ManagementCounters counters_;
};

}  // namespace urnic::engine
