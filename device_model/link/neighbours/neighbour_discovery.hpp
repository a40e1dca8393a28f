// Address resolution on an Ethernet: finds the node with an IPv4 or IPv6 address (ARP, RFC 826; neighbour
// discovery, RFC 4861), and answers for the devices of this process. Each VLAN is a network of its own, whose
// messages have its tag.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "device_model/link/neighbours.hpp"
#include "device_model/link/neighbours/neighbour_table.hpp"
#include "device_model/transport/time.hpp"
#include "wire/arp.hpp"
#include "wire/identifiers.hpp"
#include "wire/neighbour_discovery.hpp"

namespace urnic::link {

// An address that a device of this process has.
struct OwnAddress {
  wire::Gid gid;
  wire::MacAddress mac;
  std::uint16_t vlan = 0;  // where it is; 0: in none
};

class NeighbourDiscovery final : public Neighbours {
 public:
  // Takes the frames that are to be sent to the network; copies the bytes.
  class Sender {
   public:
    virtual void send(std::span<const std::byte> frame) = 0;

   protected:
    ~Sender() = default;
  };

  // `clock` is read by `find`. `wake` is called when questions wait: it makes the engine call `run`.
  NeighbourDiscovery(std::function<transport::Time()> clock, std::function<void()> wake,
                     const NeighbourTimes& times = {})
      : clock_(std::move(clock)),
        wake_(std::move(wake)),
        times_(times),
        tables_{{0, NeighbourTable(times)}} {}

  // Control thread. Replaces all addresses that are answered for.
  void set_addresses(std::vector<OwnAddress> addresses);
  Neighbour find_in(std::uint16_t vlan, const wire::Gid& gid) override;
  // A copy, for reports, by VLAN. That of no VLAN is always there.
  std::map<std::uint16_t, NeighbourTable> tables() const;

  // Any thread. Whether an own address is in this VLAN.
  bool is_in(std::uint16_t vlan) const;

  // Engine thread. A frame from the network, with the tag of its VLAN; false if it is no message of address
  // resolution.
  bool receive(std::span<const std::byte> frame, transport::Time now, Sender& to);
  // Sends the questions that are due.
  void run(transport::Time now, Sender& to);
  // When `run` has something to do.
  std::optional<transport::Time> next_due() const;

 private:
  void take(const wire::Arp& arp, std::uint16_t vlan, transport::Time now, Sender& to);
  void take(const wire::NeighbourMessage& message, std::uint16_t vlan, transport::Time now, Sender& to);
  void answer(const wire::NeighbourMessage& question, const OwnAddress& own, Sender& to) const;
  void ask(const NeighbourTable::Question& question, std::uint16_t vlan, Sender& to) const;
  void hear(const wire::Gid& gid, const wire::MacAddress& mac, std::uint16_t vlan,
            const NeighbourTable::News& news, transport::Time now);
  const OwnAddress* own(const wire::Gid& gid, std::uint16_t vlan) const;
  const OwnAddress* nearest_own(const wire::Gid& gid, std::uint16_t vlan) const;
  NeighbourTable& table_of(std::uint16_t vlan);
  void note_due();

  static constexpr transport::Time kNever = transport::Time::max();

  const std::function<transport::Time()> clock_;
  const std::function<void()> wake_;
  mutable std::mutex mutex_;  // of all below but due_ and vlans_; no data packet takes it
  const NeighbourTimes times_;
  std::map<std::uint16_t, NeighbourTable> tables_;  // by VLAN
  std::vector<OwnAddress> addresses_;
  std::atomic<transport::Time> due_{kNever};            // what the tables' next_due said last
  std::array<std::atomic<std::uint64_t>, 64> vlans_{};  // a bit for each that an own address is in
};

}  // namespace urnic::link
