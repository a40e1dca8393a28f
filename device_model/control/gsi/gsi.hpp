// Queue pair 1 of every device (the general service interface, IBTA 13.5.1): sends management datagrams from
// a device, and hands those that arrive to the agent of their class.
//
// Control thread only. MADs leave and arrive as UD SEND only packets with Q_Key 0x80010000, so capture,
// faults and links act on them as on every packet; one may be lost, doubled or late.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/loop/event_loop.hpp"
#include "wire/identifiers.hpp"

namespace urnic::control {

class PerformanceAgent;

inline constexpr std::size_t kMadBytes = 256;
// A wire::mad::Mad converts to it.
using MadBytes = std::span<const std::byte, kMadBytes>;

// Where a MAD goes to, or came from, as the device sees it. The address of a MAD that arrived is that of the
// answer to it.
struct GsiAddress {
  wire::Gid own;   // one of the device's GIDs
  wire::Gid peer;  // of the same address family
  // Empty: the address of the device with the GID `peer`, in this process or a neighbour's.
  std::optional<wire::MacAddress> peer_mac{};
  wire::Qpn peer_qpn{1};
  std::uint16_t pkey_index = 0;  // into the device's table
  std::uint8_t hop_limit = 64;   // as it arrived; MADs are sent with the route's, 64
  std::uint8_t traffic_class = 0;
  std::uint32_t flow_label = 0;    // 20 bits; IPv6 only
  std::uint16_t lid = 0;           // the peer's; on InfiniBand, where there may be no GIDs here
  std::uint8_t service_level = 0;  // the priority in the VLAN's tag, if `own` belongs to one
};

// The place of `gid` in the device's GID table; empty: it is not there.
std::optional<std::uint32_t> gid_index(const ServedDevice& device, const wire::Gid& gid);

enum class GsiSent : std::uint8_t {
  sent,         // on its way to the engine; what the port and the network do with it is not known
  bad_address,  // `own` is none of the device's GIDs, or `peer` is a group or of the other address family; on
                // InfiniBand: the LID is no port's, or the port has none itself, or no P_Key at that index
  no_route,     // nobody has `peer`
  busy,         // too many MADs wait for the engine: this one is dropped and counted
};

// What becomes of a MAD that arrives, in this order:
// - Another base version, or a class that QP0 has: dropped. A CM class' MAD with another method than Send:
//   dropped, but for its ClassPortInfo.
// - The handler of its class and version takes it.
// - Get and Set of performance management: answered with the port's counters (performance_agent.hpp).
// - The handler of all other MADs takes it.
// - Other Get and Set: answered "method and attribute not supported", as Linux does.
// - Everything else is dropped. All of these are counted (docs/counters.md).
class Gsi {
  struct Impl;

 public:
  // Whether it took the MAD: false means that the next one is asked. `mad` and `from` stay during the call.
  // It may send, and change handlers of other classes.
  using Handler = std::function<bool(ServedDevice& device, const GsiAddress& from, MadBytes mad)>;

  // Both outlive this. Throws std::system_error.
  Gsi(EventLoop& loop, Fabric& fabric);
  ~Gsi();
  Gsi(const Gsi&) = delete;
  Gsi& operator=(const Gsi&) = delete;

  // Never blocks, and never calls a handler before it returns.
  GsiSent send(ServedDevice& device, const GsiAddress& to, MadBytes mad);

  // Whether the device takes many MADs more. Who has many waits when it does not, so that none is dropped,
  // and single ones have room.
  bool has_room(const ServedDevice& device) const;

  // Hands a MAD that has come to the device by the built-in InfiniBand fabric, and not as a packet, to the
  // handler of its class. Whether that took it.
  bool offer(ServedDevice& device, const GsiAddress& from, MadBytes mad);

  // The device's performance agent, whichever way a MAD comes.
  PerformanceAgent& performance(const ServedDevice& device);

  // While it lives, MADs that arrive are not announced to the event loop: what one device of this process
  // sends to another has arrived when `send` returns. One at a time, and not in a handler.
  class Look {
   public:
    explicit Look(Gsi& gsi);
    // Leaves to the event loop what has arrived since `take`.
    ~Look();
    Look(const Look&) = delete;
    Look& operator=(const Look&) = delete;

    // Hands what has arrived to the handlers.
    void take();

   private:
    Impl& impl_;
  };

  // MADs of this class and class version go to `handler` from now on; an empty one: to nobody.
  void on_class(std::uint8_t management_class, std::uint8_t class_version, Handler handler);
  void on_other(Handler handler);
  // Calls `moved` whenever MADs have been sent or have arrived: counters have changed.
  void on_traffic(std::function<void()> moved);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace urnic::control
