// What the program in a virtual host does with its queues: posts, polls, takes events, looks at its memory.
#include <algorithm>
#include <cstring>

#include "script/virtual_host/virtual_host.hpp"
#include "wire/byte_order.hpp"

namespace urnic::script {
namespace {

// Immediate data is written as the number that it is on the wire; verbs carries the four bytes.
std::uint32_t as_on_the_wire(std::uint64_t number) {
  std::byte bytes[4];
  wire::store_be32(bytes, static_cast<std::uint32_t>(number));
  std::uint32_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

std::uint64_t from_the_wire(std::uint32_t word) {
  std::byte bytes[4];
  std::memcpy(bytes, &word, sizeof word);
  return wire::load_be32(bytes);
}

Answer completion_answer(const in_process::PolledCompletion& polled, std::uint64_t wr_id) {
  Answer answer;
  const auto flag = [&](std::uint8_t bit) { return std::uint64_t{(polled.flags & bit) != 0}; };
  answer.numbers = {{"wr_id", wr_id},
                    {"status", polled.status},
                    {"opcode", polled.opcode},
                    {"bytes", polled.byte_length},
                    {"source_qpn", polled.source_qpn},
                    {"with_imm", flag(abi::cqe_with_immediate)},
                    {"with_invalidate", flag(abi::cqe_with_invalidate)},
                    {"with_grh", flag(abi::cqe_grh)}};
  if ((polled.flags & abi::cqe_with_immediate) != 0)
    answer.numbers["imm"] = from_the_wire(polled.immediate_or_rkey);
  if ((polled.flags & abi::cqe_with_invalidate) != 0)
    answer.numbers["invalidated"] = polled.immediate_or_rkey;
  // Of a datagram on InfiniBand.
  if (polled.status == 0 && polled.error_or_route != 0) {
    answer.numbers["slid"] = abi::source_lid_of(polled.error_or_route);
    answer.numbers["sl"] = abi::service_level_of(polled.error_or_route);
  }
  return answer;
}

const Answer kNothing{.nothing = true};
const Answer kInvalid{.refusal = "EINVAL: too many segments, or bytes inline"};
const Answer kFull{.refusal = "ENOMEM: the queue is full, or there is none"};

// As an agent's queue pairs have them.
constexpr std::size_t kMostSges = 4;
constexpr std::size_t kMostInlineBytes = 64;

}  // namespace

std::vector<abi::ScatterGather> VirtualHost::sges_of(const Call& call) const {
  std::vector<abi::ScatterGather> sges;
  for (const Place& place : call.places) {
    const VirtualRegion& region = regions_.at(place.region);
    sges.push_back(
        {region.address + place.offset, static_cast<std::uint32_t>(place.length), region.key.value});
  }
  return sges;
}

Answer VirtualHost::post_send(const Call& call) {
  VirtualQueuePair& queue_pair = queue_pairs_.at(call.object);
  if (call.places.size() > kMostSges || call.bytes.size() > kMostInlineBytes) return kInvalid;
  if (queue_pair.end->send_producer - queue_pair.sends_done >= queue_pair.end->layout.send_slots)
    return kFull;
  abi::SendWqe head{};
  head.opcode = static_cast<std::uint8_t>(call.opcode);
  if (call.number("signaled", 1) != 0) head.flags |= abi::send_signaled;
  if (call.number("solicited") != 0) head.flags |= abi::send_solicited;
  if (call.number("fence") != 0) head.flags |= abi::send_fence;
  if (call.has("imm")) head.immediate_or_rkey = as_on_the_wire(call.number("imm"));
  if (call.has("invalidate")) head.immediate_or_rkey = static_cast<std::uint32_t>(call.number("invalidate"));
  head.rkey = static_cast<std::uint32_t>(call.number("rkey"));
  head.remote_address = call.number("remote");
  head.compare_add = call.has("add") ? call.number("add") : call.number("compare");
  head.swap = call.number("swap");
  head.remote_srq = static_cast<std::uint32_t>(call.number("srqn"));
  head.remote_qpn = static_cast<std::uint32_t>(call.number("qpn"));
  head.remote_qkey = static_cast<std::uint32_t>(call.number("qkey"));
  if (call.names.contains("ah")) head.address_handle = address_handles_.at(call.names.at("ah"));
  if (call.names.contains("window") && call.names.contains("region")) {
    head.rkey = windows_.at(call.names.at("window")).rkey.value;
    head.bind_lkey = regions_.at(call.names.at("region")).key.value;
    head.immediate_or_rkey = static_cast<std::uint32_t>(call.number("new_rkey"));
    head.remote_address = call.number("address");
    head.compare_add = call.number("length");
    head.swap = call.number("access");
  }
  queue_pair.send_ids.push_back(call.number("wr_id"));
  if (call.has("inline")) {
    queue_pair.end->post_inline(head, call.bytes);
  } else {
    queue_pair.end->post_send(head, sges_of(call));
  }
  return {};
}

Answer VirtualHost::post_receive(const Call& call) {
  if (call.places.size() > kMostSges) return kInvalid;
  const auto shared = shared_receives_.find(call.object);
  if (shared == shared_receives_.end()) {
    VirtualQueuePair& queue_pair = queue_pairs_.at(call.object);
    if (queue_pair.end->receive_producer - queue_pair.receives_done >= queue_pair.end->layout.receive_slots)
      return kFull;
    queue_pair.receive_ids.push_back(call.number("wr_id"));
    queue_pair.end->post_receive(sges_of(call));
    return {};
  }
  VirtualSharedReceives& receives = shared->second;
  if (receives.free_slots.empty()) return kFull;
  const std::uint32_t slot = receives.free_slots.front();
  receives.free_slots.pop_front();
  receives.wr_ids[slot] = call.number("wr_id");
  receives.end->post(slot, sges_of(call));
  return {};
}

Answer VirtualHost::poll_send(const Call& call) {
  VirtualQueuePair& queue_pair = queue_pairs_.at(call.object);
  const auto polled = queue_pair.end->send_cq.poll();
  if (!polled) return kNothing;
  queue_pair.sends_done = polled->wqe_index + 1;
  return completion_answer(*polled, queue_pair.send_ids.at(polled->wqe_index));
}

Answer VirtualHost::poll_receive(const Call& call) {
  const auto shared = shared_receives_.find(call.object);
  const auto take_shared = [](VirtualSharedReceives& receives, const in_process::PolledCompletion& polled) {
    receives.free_slots.push_back(polled.wqe_index);
    return completion_answer(polled, receives.wr_ids.at(polled.wqe_index));
  };
  if (shared != shared_receives_.end()) {
    if (shared->second.cq == nullptr)
      return {.refusal = "EINVAL: its completions are those of its queue pairs"};
    const auto polled = shared->second.cq->poll();
    return polled ? take_shared(shared->second, *polled) : kNothing;
  }
  VirtualQueuePair& queue_pair = queue_pairs_.at(call.object);
  const auto polled = queue_pair.shared_receives != nullptr ? queue_pair.end->receive_cq.poll()
                                                            : queue_pair.end->poll_receive();
  if (!polled) return kNothing;
  if ((polled->flags & abi::cqe_shared_receive) != 0)
    return take_shared(*queue_pair.shared_receives, *polled);
  queue_pair.receives_done = polled->wqe_index + 1;
  return completion_answer(*polled, queue_pair.receive_ids.at(polled->wqe_index));
}

// The next event of the context, of whatever object: events come in their order.
Answer VirtualHost::next_event(const Call&) {
  const auto record = context_.async_events.read();
  if (!record) return kNothing;
  return {.numbers = {{"event", record->type}}};
}

Answer VirtualHost::arm(const Call& call) {
  queue_pairs_.at(call.object)
      .end->receive_cq.arm(call.opcode != 0 ? abi::ArmKind::solicited : abi::ArmKind::next);
  return {};
}

Answer VirtualHost::notified(const Call& call) {
  const auto record = context_.channel.read();
  if (!record) return kNothing;
  const std::uint64_t mine = queue_pairs_.at(call.object).end->receive_cq.device_end->user_handle();
  if (record->element != mine) return {.refusal = "an event of another completion queue came"};
  return {};
}

Answer VirtualHost::write_memory(const Call& call) {
  const Place& place = call.places.front();
  VirtualRegion& region = regions_.at(place.region);
  std::copy(call.bytes.begin(), call.bytes.end(),
            region.bytes.begin() + static_cast<std::ptrdiff_t>(place.offset));
  return {};
}

Answer VirtualHost::read_memory(const Call& call) {
  const Place& place = call.places.front();
  const VirtualRegion& region = regions_.at(place.region);
  const auto begin = region.bytes.begin() + static_cast<std::ptrdiff_t>(place.offset);
  return {.bytes = {begin, begin + static_cast<std::ptrdiff_t>(place.length)}};
}

}  // namespace urnic::script
