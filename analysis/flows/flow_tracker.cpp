#include "analysis/flows/flow_tracker.hpp"

#include <algorithm>
#include <deque>
#include <set>
#include <string>
#include <unordered_map>

#include "analysis/dissection/header_tables.hpp"
#include "analysis/dissection/port_address.hpp"
#include "analysis/flows/flow_table.hpp"
#include "analysis/flows/packet_judge.hpp"
#include "analysis/flows/record_join.hpp"
#include "wire/aeth.hpp"
#include "wire/byte_order.hpp"
#include "wire/mad/cm_messages.hpp"

namespace urnic::analysis {
namespace {

constexpr std::string_view kMadeByFault = "made by a fault";
constexpr std::uint8_t kEcnMask = 3;  // of the traffic class (RFC 3168 section 5): both bits set is "CE"
// Addresses of one machine's devices.
constexpr std::size_t kMostAddresses = 4096;
// Connections that are being made.
constexpr std::size_t kMostConnecting = 65536;

Role role_of(wire::Opcode opcode) {
  if (opcode == wire::kCongestionNotification) return Role::notification;
  if (opcode == wire::kSelectiveAckOffer || !wire::traits(opcode).known) return Role::other;
  if (opcode.service() == wire::Service::ud) return Role::datagram;
  return wire::traits(opcode).request ? Role::request : Role::response;
}

Answer answer_of(wire::Opcode opcode, std::uint8_t syndrome) {
  if (opcode == wire::kSelectiveAcknowledge) return Answer::selective;
  switch (opcode.operation()) {
    case wire::Operation::read_response_first:
    case wire::Operation::read_response_middle:
    case wire::Operation::read_response_last:
    case wire::Operation::read_response_only:
      return Answer::read_response;
    case wire::Operation::atomic_acknowledge:
      return Answer::atomic_response;
    default:
      break;
  }
  switch (wire::kind(syndrome)) {
    case wire::AethKind::ack:
      return Answer::acknowledge;
    case wire::AethKind::rnr_nak:
      return Answer::rnr_nak;
    case wire::AethKind::nak:
      return static_cast<wire::NakCode>(wire::code(syndrome)) == wire::NakCode::psn_sequence_error
                 ? Answer::sequence_nak
                 : Answer::error_nak;
    case wire::AethKind::reserved:
      break;
  }
  return Answer::none;
}

// "Congestion experienced": on InfiniBand a bit of the BTH.
bool is_marked(const Dissection& dissection) {
  if (dissection.network().local) return dissection.transport().bth.fecn;
  return (dissection.network().traffic_class & kEcnMask) == kEcnMask;
}

MadKind management_of(const Dissection& dissection) {
  wire::mad::MadHeader mad;
  if (dissection.find(kMadHeader) == nullptr ||
      wire::mad::decode(dissection.payload(), mad) != wire::mad::MadError::none)
    return {};
  return {mad.management_class, mad.method, mad.attribute};
}

std::uint32_t length_of(const wire::TransportHeaders& headers) {
  const std::uint16_t present = wire::traits(headers.bth.opcode).headers;
  if (present & wire::has_reth) return headers.reth.dma_length;
  return (present & wire::has_atomic_eth) != 0 ? 8 : 0;
}

}  // namespace

struct FlowTracker::Seen {
  const CapturedPacket& record;
  const Dissection& dissection;
  CapturePoint point;
  const std::string& device;
  // All that a receiver checks before it looks at the opcode is right.
  bool is_right() const {
    if (dissection.vcrc() == CrcCheck::wrong) return false;
    return dissection.verdict() == wire::ParseError::none ||
           dissection.verdict() == wire::ParseError::unknown_opcode || dissection.is_cut();
  }
  Sighting sighting() const { return {record.nanoseconds, record.number}; }
  // As the frame has it; 0 if it has none.
  std::uint32_t icrc() const {
    const PlacedHeader* const placed = dissection.find(kIcrcHeader);
    return placed == nullptr ? 0 : wire::load_be32(&record.bytes[placed->offset]);
  }
};

struct FlowTracker::Tables {
  explicit Tables(PacketStore& packets, std::vector<PacketId>& changed) : judge(packets, flows, changed) {}

  FlowTable flows;
  PacketJudge judge;
  RecordJoin join;
  // Points that the capture has, by device.
  std::set<std::string> devices_with_arrivals;
  std::size_t known_interfaces = 0;
  bool arrivals_are_seen = false;
  bool losses_are_seen = false;
  std::set<PortAddress> watched;  // addresses of devices whose arrivals are seen
  struct Connecting {
    QueuePairEnd active;
    PortAddress passive;
  };
  std::unordered_map<std::uint32_t, Connecting> connecting;  // by the active side's communication id
  std::unordered_map<FrameNumber, std::string> comments;
  std::deque<FrameNumber> commented;
};

FlowTracker::FlowTracker(std::size_t most)
    : packets_(most), tables_(std::make_unique<Tables>(packets_, changed_)) {}
FlowTracker::~FlowTracker() = default;

const std::vector<Flow>& FlowTracker::flows() const { return tables_->flows.flows(); }

const Packet* FlowTracker::packet(FrameNumber number) const {
  const PacketId id = packets_.find(number);
  return id == kNoPacket ? nullptr : &packets_[id];
}

std::string_view FlowTracker::comment(FrameNumber number) const {
  const auto found = tables_->comments.find(number);
  return found == tables_->comments.end() ? std::string_view{} : std::string_view(found->second);
}

PacketId FlowTracker::add(const CapturedPacket& record, const std::vector<CaptureInterface>& interfaces) {
  return add(record, interfaces, dissect(record.bytes, record.original_bytes, record.link_layer));
}

PacketId FlowTracker::add(const CapturedPacket& record, const std::vector<CaptureInterface>& interfaces,
                          const Dissection& dissection) {
  changed_.clear();
  count_record(record);
  learn_points(interfaces);
  if (!dissection.has_bth()) {
    ++other_records_;
    return kNoPacket;
  }
  const CaptureInterface& interface = interfaces[record.interface];
  const Seen seen{record, dissection, interface.point, interface.device};
  learn_address(seen);
  Packet packet = packet_of(seen);
  const PacketId known = find_packet(seen, packet);
  const bool is_new = known == kNoPacket;
  PacketId id = is_new ? create(seen, packet) : known;
  switch (seen.point) {
    case CapturePoint::unknown:
    case CapturePoint::before:
      break;
    case CapturePoint::after:
      if (!is_new && packets_[id].arrived != 0) id = create_copy(seen, id);
      see_arrival(seen, id);
      break;
    case CapturePoint::dropped:
      if (!is_new && is_lost(packets_[id].fate)) id = create_copy(seen, id);
      see_drop(seen, id);
      break;
  }
  return id;
}

void FlowTracker::count_record(const CapturedPacket& record) {
  if (records_++ == 0) first_time_ = record.nanoseconds;
  last_time_ = std::max(last_time_, record.nanoseconds);
}

void FlowTracker::learn_points(const std::vector<CaptureInterface>& interfaces) {
  for (; tables_->known_interfaces < interfaces.size(); ++tables_->known_interfaces) {
    const CaptureInterface& interface = interfaces[tables_->known_interfaces];
    if (interface.point == CapturePoint::after) tables_->devices_with_arrivals.insert(interface.device);
    if (interface.point == CapturePoint::dropped) tables_->losses_are_seen = true;
  }
}

// A device with a point for what it sends has the address from which it sends. A file may describe points
// whose records somebody has taken out.
void FlowTracker::learn_address(const Seen& seen) {
  if (seen.point == CapturePoint::after) tables_->arrivals_are_seen = true;
  auto& watched = tables_->watched;
  if (!tables_->arrivals_are_seen || watched.size() >= kMostAddresses) return;
  const wire::NetworkHeaders& network = seen.dissection.network();
  if (seen.point == CapturePoint::before && tables_->devices_with_arrivals.count(seen.device) != 0)
    watched.insert(source_of(network));
  if (seen.point == CapturePoint::after && seen.is_right()) watched.insert(destination_of(network));
}

Packet FlowTracker::packet_of(const Seen& seen) {
  const wire::TransportHeaders& headers = seen.dissection.transport();
  Packet packet;
  packet.number = seen.record.number;
  packet.sent = seen.record.nanoseconds;
  packet.psn = headers.bth.psn;
  packet.opcode = headers.bth.opcode;
  packet.ack_request = headers.bth.ack_request;
  packet.role = role_of(headers.bth.opcode);
  packet.payload = static_cast<std::uint32_t>(seen.dissection.payload_bytes());
  packet.frame_bytes = seen.record.original_bytes;
  packet.length = length_of(headers);
  packet.management = management_of(seen.dissection);
  packet.congestion = is_marked(seen.dissection);
  packet.injected = seen.record.comment.starts_with(kMadeByFault);
  packet.transmission = 1;
  if (packet.role == Role::response) {
    packet.syndrome = headers.aeth.syndrome;
    packet.answer = answer_of(headers.bth.opcode, headers.aeth.syndrome);
    packet.latest = headers.selective_ack_eth.latest;
    packet.earlier = headers.selective_ack_eth.earlier;
  }
  packet.identification = seen.dissection.network().ip_identification;
  // A damaged packet may name a QP that nobody has.
  packet.flow =
      seen.is_right() ? tables_->flows.flow_of(seen.dissection) : tables_->flows.find(seen.dissection);
  return packet;
}

PacketId FlowTracker::find_packet(const Seen& seen, const Packet& packet) const {
  const bool is_later = seen.point == CapturePoint::after || seen.point == CapturePoint::dropped;
  if (!is_later || packet.injected) return kNoPacket;
  return tables_->join.find(packets_, packet, seen.icrc(), seen.is_right(), tables_->losses_are_seen);
}

PacketId FlowTracker::create(const Seen& seen, Packet packet) {
  keep_comment(seen, packet);
  const PacketId id = packets_.add(packet);
  // At the sender or on its way a wrong packet is one that no receiver takes.
  if (!seen.is_right()) tables_->judge.set_fate(id, Fate::damaged, seen.sighting());
  if (!seen.is_right() || packet.flow == kNoFlow) return id;
  learn_connection(seen.dissection);
  see_sent(seen, id);
  changed_.erase(std::remove(changed_.begin(), changed_.end(), id), changed_.end());
  return id;
}

void FlowTracker::see_sent(const Seen& seen, PacketId id) {
  const PortAddress receiver = destination_of(seen.dissection.network());
  FlowState& first = tables_->flows.state(packets_[id].flow);
  if (!first.is_watched) first.is_watched = tables_->watched.count(receiver) != 0;
  tables_->judge.sent(id);
  const Packet& packet = packets_[id];
  if (packet.flow == kNoFlow) return;
  FlowState& state = tables_->flows.state(packet.flow);
  if (packet.congestion) see_mark(packet);
  if (packet.role == Role::notification) see_notification(id);
  if (seen.point == CapturePoint::before) tables_->join.sent(id, packet, seen.icrc());
  // An answer counts when it arrives, if that is seen.
  const bool arrives_later = state.is_watched && seen.point == CapturePoint::before;
  const bool is_lost_here = seen.point == CapturePoint::dropped;
  if (packet.role == Role::response && !arrives_later && !is_lost_here)
    tables_->judge.answer(id, seen.sighting());
}

void FlowTracker::see_mark(const Packet& packet) {
  ++tables_->flows.flows()[packet.flow].counters.congestion_marks;
  tables_->flows.state(packet.flow).marked = packet.number;
}

// It goes to the sender of a packet that was marked: of several in an interval, the first is answered at
// once.
void FlowTracker::see_notification(PacketId id) {
  Packet& packet = packets_[id];
  const FlowIndex opposite = tables_->flows.flows()[packet.flow].opposite;
  if (opposite != kNoFlow) packet.answers = tables_->flows.state(opposite).marked;
}

void FlowTracker::see_arrival(const Seen& seen, PacketId id) {
  Packet& packet = packets_[id];
  if (packet.number != seen.record.number) keep_comment(seen, packet);
  if (!seen.is_right()) {
    packet.arrived = seen.record.nanoseconds;
    tables_->judge.set_fate(id, Fate::damaged, seen.sighting());
    return;
  }
  if (is_marked(seen.dissection) && !packet.congestion) {
    packet.congestion = true;
    if (packet.flow != kNoFlow) see_mark(packet);
  }
  if (packet.flow != kNoFlow) tables_->flows.state(packet.flow).is_watched = true;
  tables_->judge.arrived(id, seen.sighting());
  if (packet.role == Role::response) tables_->judge.answer(id, seen.sighting());
}

void FlowTracker::see_drop(const Seen& seen, PacketId id) {
  Packet& packet = packets_[id];
  if (packet.number != seen.record.number) keep_comment(seen, packet);
  tables_->judge.set_fate(id, Fate::dropped, seen.sighting());
}

// The network has made another copy of a packet: it has the time of the original, and arrives by itself.
PacketId FlowTracker::create_copy(const Seen& seen, PacketId original) {
  Packet packet = packets_[original];
  packet.of = packet.number;
  packet.number = seen.record.number;
  packet.order = Order::copy;
  packet.fate = Fate::unknown;
  packet.arrived = 0;
  packet.arrival = Arrival::not_seen;
  packet.is_judged = false;
  packet.has_comment = false;
  if (packet.flow != kNoFlow) ++tables_->flows.flows()[packet.flow].counters.copies;
  keep_comment(seen, packet);
  return packets_.add(packet);
}

void FlowTracker::keep_comment(const Seen& seen, Packet& packet) {
  if (seen.record.comment.empty()) return;
  auto& comments = tables_->comments;
  packet.has_comment = true;
  comments[packet.number] = seen.record.comment;
  tables_->commented.push_back(packet.number);
  if (tables_->commented.size() <= kMostComments) return;
  comments.erase(tables_->commented.front());
  tables_->commented.pop_front();
}

// REQ and REP name both QPs of a connection (IBTA 12.6.5, 12.6.8).
void FlowTracker::learn_connection(const Dissection& dissection) {
  if (dissection.find(kMadHeader) == nullptr || dissection.payload().size() != wire::mad::kMadBytes) return;
  wire::mad::Req request;
  wire::mad::Rep reply;
  const PortAddress source = source_of(dissection.network());
  const PortAddress destination = destination_of(dissection.network());
  auto& connecting = tables_->connecting;
  if (wire::mad::decode(dissection.payload(), request) == wire::mad::MadError::none) {
    if (connecting.size() >= kMostConnecting) connecting.clear();
    connecting[request.local_id.value] = {{source, request.local_qpn}, destination};
  } else if (wire::mad::decode(dissection.payload(), reply) == wire::mad::MadError::none) {
    const auto found = connecting.find(reply.remote_id.value);
    if (found == connecting.end() || found->second.active.address != destination ||
        found->second.passive != source) {
      return;
    }
    const std::uint64_t identity =
        std::uint64_t{reply.local_id.value} << 32 | (reply.remote_id.value ^ reply.starting_psn.value());
    tables_->flows.learn_pair(found->second.active, {source, reply.local_qpn}, identity);
  }
}

bool FlowTracker::is_settled(const Packet& packet) const {
  if (packet.flow == kNoFlow || packet.fate != Fate::unknown) return true;
  return !tables_->flows.state(packet.flow).is_watched;
}

void FlowTracker::finish() {
  changed_.clear();
  // From the latest packet back: what was sent before an arrival of its flow has vanished.
  std::set<FlowIndex> arrived;
  for (PacketId id = packets_.end(); id-- > packets_.begin();) {
    const Packet& packet = packets_[id];
    if (packet.arrived != 0) arrived.insert(packet.flow);
    if (packet.fate != Fate::unknown || is_settled(packet) || arrived.count(packet.flow) == 0) continue;
    tables_->judge.set_fate(id, Fate::vanished, {last_time_, 0});
  }
}

}  // namespace urnic::analysis
