// Says of each packet what it is in its connection, when it is sent and when it arrives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/flows/flow_table.hpp"
#include "analysis/flows/packet_store.hpp"

namespace urnic::analysis {

// When and by which record something was seen.
struct Sighting {
  std::int64_t time = 0;
  FrameNumber record = 0;
};

class PacketJudge {
 public:
  // Packets whose order, fate or answer it changes go to `changed`. All three must outlive it.
  PacketJudge(PacketStore& packets, FlowTable& flows, std::vector<PacketId>& changed)
      : packets_(packets), flows_(flows), changed_(changed) {}

  // A packet of a known flow is sent: counts it, and gives a request its order. May move the packet to
  // another flow, if its QP serves another connection by now.
  void sent(PacketId id);
  // It has arrived, as its receiver's capture point shows.
  void arrived(PacketId id, const Sighting& seen);
  // What an answer says has come into force: it has arrived, or the capture cannot tell whether it does.
  void answer(PacketId id, const Sighting& seen);
  // Sets the fate, unless more is known already.
  void set_fate(PacketId id, Fate fate, const Sighting& seen);

 private:
  void request(PacketId id);
  void datagram(Packet& packet);
  void count_sent(const Packet& packet);
  void previous_transmission(Packet& packet, const OrderVerdict& verdict);
  void count_message(Packet& packet);
  void read_response(Packet& packet, const Sighting& seen);
  void acknowledge(Packet& packet, wire::Psn end, const Sighting& seen);
  void report(const Packet& packet, const Sighting& seen);
  void refuse(Packet& packet, const Sighting& seen);
  void add_goodput(FlowIndex flow, std::uint64_t bytes, std::int64_t time);
  void learn_path_mtu(const Packet& packet);
  std::uint32_t psns_of(const Packet& packet) const;
  FlowIndex opposite(const Packet& packet) const { return flows_.flows()[packet.flow].opposite; }
  void bound_slots(FlowIndex flow);

  PacketStore& packets_;
  FlowTable& flows_;
  std::vector<PacketId>& changed_;
  std::size_t slots_ = 0;  // of all windows, as they were counted last
};

}  // namespace urnic::analysis
