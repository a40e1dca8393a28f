// Judges captured packets within their connections: what is new, sent again, lost, acknowledged. Uses nothing
// but the packets, and where a capture of urnic tells it, the points where they were seen.
//
// Live use: records are added one by one, and what is known of a packet grows with the records behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "analysis/capture_files/captured_packet.hpp"
#include "analysis/dissection/dissection.hpp"
#include "analysis/flows/flow.hpp"
#include "analysis/flows/packet.hpp"
#include "analysis/flows/packet_store.hpp"

namespace urnic::analysis {

class FlowTracker {
 public:
  static constexpr std::size_t kMostPackets = 1 << 20;
  // Comments that are kept.
  static constexpr std::size_t kMostComments = 1 << 16;

  // Keeps the latest `most` packets, and forgets what lies before them.
  explicit FlowTracker(std::size_t most = kMostPackets);
  ~FlowTracker();
  FlowTracker(const FlowTracker&) = delete;
  FlowTracker& operator=(const FlowTracker&) = delete;

  // Adds the next record of a capture. `interfaces` are all that the capture has described so far. Returns
  // the packet that the record is of; kNoPacket if it has no BTH.
  PacketId add(const CapturedPacket& record, const std::vector<CaptureInterface>& interfaces);
  // The same, of a record that has been dissected.
  PacketId add(const CapturedPacket& record, const std::vector<CaptureInterface>& interfaces,
               const Dissection& dissection);
  // The capture has ended: packets that were sent and not seen to arrive have vanished, if later ones of
  // their flow have arrived.
  void finish();

  const PacketStore& packets() const { return packets_; }
  // The packet with this first record; nullptr if it was forgotten or there is none.
  const Packet* packet(FrameNumber number) const;
  // Of a packet with `has_comment`; empty if it was forgotten.
  std::string_view comment(FrameNumber number) const;
  const std::vector<Flow>& flows() const;
  // Packets of which the last call of `add` or `finish` has changed what is known, the new one not among
  // them.
  const std::vector<PacketId>& changed() const { return changed_; }
  // Whether the packet has been seen to arrive or to be lost, or the capture has no point where it would be
  // seen. Later answers may tell more.
  bool is_settled(const Packet& packet) const;

  std::uint64_t records() const { return records_; }
  std::uint64_t other_records() const { return other_records_; }  // without a BTH
  std::int64_t first_time() const { return first_time_; }
  std::int64_t last_time() const { return last_time_; }

 private:
  // A record and what its frame says.
  struct Seen;
  struct Tables;

  void count_record(const CapturedPacket& record);
  void learn_points(const std::vector<CaptureInterface>& interfaces);
  void learn_address(const Seen& seen);
  void learn_connection(const Dissection& dissection);
  Packet packet_of(const Seen& seen);
  PacketId find_packet(const Seen& seen, const Packet& packet) const;
  PacketId create(const Seen& seen, Packet packet);
  PacketId create_copy(const Seen& seen, PacketId original);
  void keep_comment(const Seen& seen, Packet& packet);

  void see_sent(const Seen& seen, PacketId id);
  void see_mark(const Packet& packet);
  void see_notification(PacketId id);
  void see_arrival(const Seen& seen, PacketId id);
  void see_drop(const Seen& seen, PacketId id);

  PacketStore packets_;
  std::unique_ptr<Tables> tables_;
  std::vector<PacketId> changed_;
  std::uint64_t records_ = 0;
  std::uint64_t other_records_ = 0;
  std::int64_t first_time_ = 0;
  std::int64_t last_time_ = 0;
};

}  // namespace urnic::analysis
