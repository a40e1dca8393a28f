// What the transport asks of its host: each is put into the round's action list, in the order of its stream.
#include <algorithm>

#include "device_model/engine/device/device_resources.hpp"
#include "device_model/engine/device/port_egress.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "device_model/engine/round/round.hpp"

namespace urnic::engine {

bool QueuePairContext::waits_for_memory(const ActionStream& stream) const {
  return stream.list_with_access == round_.filling().number;
}

void QueuePairContext::mark_access(ActionStream& stream) {
  stream.list_with_access = round_.filling().number;
}

// Payloads of at least this length are sent from where they lie, for this list.
std::size_t QueuePairContext::in_place_from() {
  const std::uint64_t list = round_.filling().number;
  if (in_place_in_ != list) {
    in_place_in_ = list;
    in_place_from_ = path_takes_in_place_from();
  }
  return in_place_from_;
}

// A program may change the bytes at any time, those of a READ rightly so. So nobody may read them twice on
// the way, to make or check an ICRC or a checksum; and they must be read before the request completes, which
// an unreliable one does without an answer.
std::size_t QueuePairContext::path_takes_in_place_from() const {
  const DeviceResources& device = *config_.device;
  const bool is_read_once = machine_.is_reliable() && !round_.memory_may_wait() &&
                            device.icrc == wire::Icrc::owed && path_.udp_checksum == 0;
  return is_read_once ? device.port.in_place_from(path_) : link::kNeverInPlace;
}

// `front` and the bytes of the ranges one after the other: where they lie, or read into the arena; null if
// that has no room.
const std::byte* QueuePairContext::gather(std::span<const std::byte> front,
                                          std::span<const transport::MemoryRange> ranges,
                                          transport::AccessTag tag, std::uint32_t& length) {
  ActionList& list = round_.filling();
  ActionStream& from = stream(tag.stream);
  for (const transport::MemoryRange& range : ranges) length += range.length;
  if (ranges.size() == 1 && length >= in_place_from() && front.empty()) {
    auto* const memory = static_cast<memory::ApplicationMemory*>(ranges.front().space);
    if (const std::byte* const place = memory->in_place(ranges.front().address, length)) return place;
  }
  list.arena->align_like(ranges.front().address);
  std::byte* place = list.arena->take(length);
  const std::byte* const begin = place;
  if (begin == nullptr) return nullptr;
  if (!front.empty()) [[unlikely]]
    place = std::copy(front.begin(), front.end(), place);
  for (const transport::MemoryRange& range : ranges) {
    if (range.length == 0) continue;
    mark_access(from);
    list.memory.push_back({.kind = AccessKind::read,
                           .length = range.length,
                           .memory = static_cast<memory::ApplicationMemory*>(range.space),
                           .address = range.address,
                           .local = place,
                           .stream = &from,
                           .tag = tag});
    place += range.length;
  }
  return begin;
}

// The request is complete for an unreliable QP: the program may reuse its inline data's slot before the
// packet has arrived.
const std::byte* QueuePairContext::keep(std::span<const std::byte> bytes) {
  std::byte* const copy = round_.filling().arena->take(static_cast<std::uint32_t>(bytes.size()));
  if (copy != nullptr) std::copy(bytes.begin(), bytes.end(), copy);
  return copy;
}

void QueuePairContext::send(const transport::OutboundPacket& packet) {
  std::uint32_t length = static_cast<std::uint32_t>(packet.bytes.size());
  const std::byte* payload = packet.bytes.data();
  if (!packet.gather.empty()) {
    payload = gather(packet.bytes, packet.gather, packet.tag, length);
    // As if lost on the wire: the transport retransmits it. `pump_ready` asks for no more than fits.
    if (payload == nullptr) return;
  } else if (length != 0 && !machine_.is_reliable()) {
    payload = keep(packet.bytes);
    if (payload == nullptr) return;
  }
  ActionList& list = round_.filling();
  // Constructed in place: headers are large, and this runs for each packet.
  PacketAction& action = list.packets.emplace_back(packet.headers, &stream(packet.tag.stream),
                                                   static_cast<std::uint32_t>(list.memory.size()));
  action.payload = payload;
  action.length = length;
  action.atomic_original = packet.atomic_original;
  action.address = static_cast<const AddressHandle*>(packet.address);
  action.checksums = packet.checksums;
}

void QueuePairContext::write(const transport::MemoryRange& target, std::span<const std::byte> data,
                             bool message_end, transport::AccessTag tag) {
  if (data.empty()) return;
  ActionStream& from = stream(tag.stream);
  mark_access(from);
  round_.filling().memory.push_back({.kind = AccessKind::write,
                                     .message_end = message_end,
                                     .length = static_cast<std::uint32_t>(data.size()),
                                     .memory = static_cast<memory::ApplicationMemory*>(target.space),
                                     .address = target.address,
                                     .local = const_cast<std::byte*>(data.data()),  // only read from
                                     .stream = &from,
                                     .tag = tag});
}

void QueuePairContext::atomic(const transport::AtomicAction& action) {
  ActionList& list = round_.filling();
  ActionStream& from = stream(action.tag.stream);
  mark_access(from);
  list.memory.push_back({.kind = AccessKind::atomic,
                         .length = sizeof(std::uint64_t),
                         .operands = static_cast<std::uint32_t>(list.atomics.size()),
                         .memory = static_cast<memory::ApplicationMemory*>(action.target.space),
                         .address = action.target.address,
                         .stream = &from,
                         .tag = action.tag});
  list.atomics.push_back({.kind = action.kind,
                          .swap_or_add = action.swap_or_add,
                          .compare = action.compare,
                          .original = action.original});
  if (!action.send_reply) return;
  list.packets.emplace_back(action.reply, &from, static_cast<std::uint32_t>(list.memory.size()))
      .atomic_original = action.original;
}

std::uint32_t QueuePairContext::completion_room() const { return receives_.inline_room(); }

// A send of an unreliable service completes when its packet has left, and not before: a program that posts a
// receive then would get its own datagram to a group, which comes back meanwhile.
//
// Another completion without memory accesses is written at once: nothing of its stream can be before it,
// since a list's completions are finished before its packets become new inputs.
void QueuePairContext::complete(const transport::Completion& completion, transport::Stream which) {
  ActionStream& from = stream(which);
  ActionList& list = round_.filling();
  const bool when_sent = which == transport::Stream::requester && !list.packets.empty() &&
                         transport::is_unreliable(config_.service);
  if (!when_sent && !waits_for_memory(from)) return finish(completion);
  (when_sent ? list.sent : list.completions)
      .push_back({.completion = completion,
                  .stream = &from,
                  .accesses = static_cast<std::uint32_t>(list.memory.size())});
}

void QueuePairContext::event(transport::AsyncEvent event) {
  if (!waits_for_memory(requester_) && !waits_for_memory(responder_)) return raise(event);
  round_.filling().events.push_back({this, event});
}

}  // namespace urnic::engine
