#include "device_model/engine/queue_pair/queue_pair_context.hpp"

#include <algorithm>

#include "device_model/engine/completion/completion_queue.hpp"
#include "device_model/engine/completion/event_pipe.hpp"
#include "device_model/engine/data_path.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/queue_pair/memory_stall.hpp"
#include "device_model/transport/requester/ack_timer.hpp"

namespace urnic::engine {

using transport::QpState;

QueuePairContext::QueuePairContext(const HostedQueuePairConfig& config, wire::Qpn qpn)
    : data_path_(config.device->data_path()),
      qpn_(qpn),
      send_ring_(config.send_ring, config.send_slots, config.send_slot_size, &config.indices->send_producer,
                 config.signal_all),
      shared_receives_(config.shared_receive_queue != nullptr
                           ? std::make_unique<SharedReceiveView>(*config.shared_receive_queue)
                           : nullptr),
      xrc_receives_(config.xrc_domain != nullptr ? std::make_unique<XrcReceiveView>(*config.xrc_domain)
                                                 : nullptr),
      tagged_(config.tag_matching != nullptr
                  ? std::make_unique<TaggedQueuePair>(*config.tag_matching, *shared_receives_, qpn)
                  : nullptr),
      machine_(config.service, transport_config(config)),
      receive_ring_(config.receive_ring, config.receive_slots, config.receive_slot_size,
                    &config.indices->receive_producer),
      config_(config) {
  requester_.queue_pair = responder_.queue_pair = this;
  requester_.stream = transport::Stream::requester;
  responder_.stream = transport::Stream::responder;
  if (config.async_events != nullptr) listeners_.add(*config.async_events, config.user_handle);
}

namespace {

transport::ReceiveQueue& receives_of(ReceiveRing& ring, SharedReceiveView* shared, XrcReceiveView* xrc) {
  if (xrc != nullptr) return *xrc;
  if (shared != nullptr) return *shared;
  return ring;
}

}  // namespace

transport::QpConfig QueuePairContext::transport_config(const HostedQueuePairConfig& config) {
  const bool shared = shared_receives_ != nullptr || xrc_receives_ != nullptr;
  const bool tagged = tagged_ != nullptr;
  return {.qpn = qpn_,
          .pd = config.pd,
          .send_slots = tagged ? RendezvousQueue::kSlots : config.send_slots,
          .receive_slots = shared ? SharedReceiveView::kMost : config.receive_slots,
          .host = this,
          .keys = &config.device->memory_table(),
          .addresses = &config.device->address_handles(),
          .send_queue = tagged ? static_cast<transport::SendQueue*>(&tagged_->sends()) : &send_ring_,
          .receive_queue = tagged ? tagged_.get()
                                  : &receives_of(receive_ring_, shared_receives_.get(), xrc_receives_.get()),
          .packets = transport::is_xrc(config.service) ? wire::Service::xrc : wire::Service::rc,
          .xrc_receives = xrc_receives_.get(),
          .shared_receive_queue = shared,
          .tagged_receives = tagged_.get(),
          .counters = &config.device->transport_counters(),
          .recovery = config.recovery,
          .held_packets = &data_path_.held_packets()};
}

QueuePairContext::~QueuePairContext() {
  if (stall_ != nullptr) data_path_.forget_stall(*this);
  if (!timer_) return;
  data_path_.timers().remove(*timer_);
  if (config_.xrc_domain != nullptr) config_.xrc_domain->remove(*this);
}

void QueuePairContext::install() {
  timer_ = data_path_.timers().add(*this);
  if (config_.xrc_domain != nullptr) config_.xrc_domain->add(*this);
}

void QueuePairContext::modify(QpState state, const transport::QpParameters& parameters,
                              const std::optional<wire::NetworkHeaders>& path, bool notify_drained) {
  // What waits is done before what the program asks for now, and may not be done in time.
  if (stall_ != nullptr && (state == QpState::reset || state == QpState::error)) data_path_.end_wait(*this);
  if (path) {
    path_ = *path;
    frame_template_.emplace(path_);
    peer_device_ = data_path_.device_with(path_.destination_mac);
  }
  if (state == QpState::reset) {
    frame_template_.reset();
    config_.indices->send_producer.store(0, std::memory_order_relaxed);
    config_.indices->receive_producer.store(0, std::memory_order_relaxed);
    send_ring_.reset();
    receive_ring_.reset();
    if (tagged_) tagged_->reset();
    if (shared_receives_) shared_receives_->reset();
    if (xrc_receives_) xrc_receives_->reset();
  }
  machine_.modify(state, parameters, data_path_.now(), notify_drained);
  follow_state();
  data_path_.touch(*this);
}

void QueuePairContext::set_recovery(const transport::RecoverySettings& settings) {
  machine_.set_recovery(settings);
  data_path_.touch(*this);
}

void QueuePairContext::limit_rate(std::uint32_t rate_kbps, std::uint32_t burst_bytes) {
  machine_.pace().limit(rate_kbps, burst_bytes);
  ready_hook.unlink();  // it may be waiting for the old pace
  data_path_.touch(*this);
}

void QueuePairContext::prefetch_peer() const {
  if (peer_device_ != nullptr) peer_device_->queue_pairs().prefetch(machine_.parameters().destination);
}

void QueuePairContext::stall(MemoryStall& stall) {
  stall_ = &stall;
  ready_hook.unlink();
  urgent_hook.unlink();
}

void QueuePairContext::resume(MemoryStall& stall) {
  stall_ = nullptr;
  for (const HeldInput* input; (input = stall.next_input()) != nullptr; stall.drop_input()) {
    if (!take_held(*input)) break;
  }
  no_timer_before_ = time_for_answers();
  send_ring_.doorbell();
  take_posted();
}

// What the transport believes to have sent long ago leaves only now.
transport::Time QueuePairContext::time_for_answers() const {
  transport::AckTimer timer;
  timer.set_code(machine_.parameters().timeout);
  const transport::Time now = data_path_.now();
  return timer.interval() == transport::Nanoseconds::max() ? now : now + timer.interval();
}

// False: the arena has no room, and what is held counts as lost.
bool QueuePairContext::take_held(const HeldInput& input) {
  const std::size_t size = input.bytes.size();
  std::byte* const place = data_path_.filling().arena->take(static_cast<std::uint32_t>(size));
  if (place == nullptr) return false;
  std::copy(input.bytes.begin(), input.bytes.end(), place);
  if (input.origin) {
    config_.device->arrive_again({.headers = {place, size}, .payload = {}, .trailer = {}}, *input.origin);
    return true;
  }
  receive_datagram({
      .headers = input.headers,
      .payload = {place + input.grh_bytes, size - input.grh_bytes},
      .congestion_experienced = input.congestion_experienced,
      .selective_acks = input.selective_acks,
      .grh = {place, input.grh_bytes},
  });
  return true;
}

void QueuePairContext::hold(const wire::Frame& frame, const link::PacketOrigin& origin) {
  stall_->hold(frame, origin);
}

// In the error state receives are completed at a doorbell, too.
bool QueuePairContext::doorbell() {
  if (stall_ != nullptr) [[unlikely]]
    return false;
  send_ring_.doorbell();
  if (!send_ring_.pending() && !send_ring_.lied() && !in_error_) return false;
  take_posted();
  return true;
}

void QueuePairContext::take_posted() {
  send_ring_.prefetch_next();
  machine_.prefetch_next_request();
  machine_.doorbell(data_path_.now());
  data_path_.touch(*this);
}

void QueuePairContext::receive(const transport::InboundPacket& packet) {
  receive_ring_.prefetch_producer();  // for the credits of the acknowledgement
  machine_.receive(packet, data_path_.now());
  data_path_.touch(*this);
}

void QueuePairContext::receive_datagram(const transport::InboundPacket& packet) {
  if (stall_ != nullptr) [[unlikely]]
    return stall_->hold(packet);
  machine_.receive_datagram(packet);
  data_path_.touch(*this);
}

void QueuePairContext::on_timer(transport::Time now) {
  if (stall_ != nullptr) [[unlikely]]
    return;  // resumed, it sets its timer anew
  if (now < no_timer_before_) return data_path_.timers().set(*timer_, no_timer_before_);
  machine_.on_timer(now);
  data_path_.touch(*this);
}

std::uint32_t QueuePairContext::pump(std::uint32_t packets) {
  return machine_.pump(data_path_.now(), packets);
}

std::uint32_t QueuePairContext::pump_responses(std::uint32_t packets) {
  return machine_.pump_responses(data_path_.now(), packets);
}

std::uint32_t QueuePairContext::pump_urgent(std::uint32_t packets) {
  return machine_.pump_urgent(data_path_.now(), packets);
}

void QueuePairContext::memory_failed(const ActionStream& stream) {
  machine_.memory_failed(stream.failed_tag, data_path_.now());
  data_path_.touch(*this);
}

void QueuePairContext::owner_died() {
  must_enter_error_ = true;
  data_path_.touch(*this);
}

void QueuePairContext::forget(const SharedReceiveQueue& queue) {
  if (stall_ != nullptr) data_path_.end_wait(*this);
  if (xrc_receives_->forget(queue)) machine_.receive_lost();
}

void QueuePairContext::after_input() {
  if (stall_ != nullptr) [[unlikely]]
    return;
  if (queues_make_no_sense() || must_enter_error_) enter_error();
  follow_state();
  if (machine_.wants_pump()) data_path_.want_pump(*this);
  if (machine_.tells_of_hole()) data_path_.hole_to_tell();
  if (machine_.is_urgent()) data_path_.want_urgent_pump(*this);
  if (timer_) data_path_.timers().set(*timer_, machine_.deadline());
}

bool QueuePairContext::queues_make_no_sense() const {
  return send_ring_.lied() || receive_ring_.lied() || (shared_receives_ && shared_receives_->broken());
}

// A program that lies about its indices, or whose CQ overran, loses this QP (IBTA 10.10.2.3: errors that no
// WQE can report are affiliated asynchronous errors).
void QueuePairContext::enter_error() {
  must_enter_error_ = false;
  const QpState state = machine_.state();
  if (state == QpState::error || state == QpState::reset) return;
  const bool lied = queues_make_no_sense();
  machine_.modify(QpState::error, machine_.parameters(), data_path_.now());
  if (lied) raise(transport::AsyncEvent::qp_fatal);
}

// Publishes the error state, and then looks once more for what was posted before the program could see it
// (queues.hpp, QueuePairIndices).
void QueuePairContext::follow_state() {
  const bool error = machine_.state() == QpState::error;
  if (error == in_error_) return;
  in_error_ = error;
  config_.indices->in_error.store(error ? 1 : 0, std::memory_order_seq_cst);
  if (!error) return;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  send_ring_.doorbell();
  machine_.doorbell(data_path_.now());
}

bool QueuePairContext::push(CompletionQueue& queue, const transport::Completion& completion) {
  if (!completion.receive || !shared_receives_) return queue.push(completion);
  transport::Completion of_slot = completion;
  of_slot.wqe_index = shared_receives_->complete(completion.wqe_index);
  return queue.push(of_slot, shared_receives_->number());
}

void QueuePairContext::finish(const transport::Completion& completion) {
  CompletionQueue* const queue = completion.receive ? config_.receive_cq : config_.send_cq;
  if (queue == nullptr) return tagged_ ? finish_tagged(completion) : finish_of_domain(completion);
  const bool first = !queue->notification_owed();
  added(*queue, first, push(*queue, completion));
}

// To the CQ of the SRQ that the WQE is of (IBTA A14); to nobody if that has gone.
void QueuePairContext::finish_of_domain(const transport::Completion& completion) {
  if (!xrc_receives_) return;
  const XrcReceiveView::Place from = xrc_receives_->complete(completion.wqe_index);
  if (from.queue == nullptr) return;
  CompletionQueue& queue = *from.queue->config().cq;
  transport::Completion of_slot = completion;
  of_slot.wqe_index = from.slot;
  const bool first = !queue.notification_owed();
  added(queue, first, queue.push(of_slot, from.queue->number()));
}

void QueuePairContext::added(CompletionQueue& queue, bool first, bool there_was_room) {
  if (there_was_room) {
    data_path_.added_to(queue, first);
    return;
  }
  if (queue.async_pipe() != nullptr) data_path_.wrote_to(*queue.async_pipe());
  must_enter_error_ = true;
  data_path_.touch(*this);
}

void QueuePairContext::finish_tagged(const transport::Completion& completion) {
  if (!tagged_) return;
  switch (tagged_->finish(completion, machine_.state() == QpState::error)) {
    case TaggedQueuePair::Outcome::reported:
      break;
    case TaggedQueuePair::Outcome::lost:
      must_enter_error_ = true;
      break;
    case TaggedQueuePair::Outcome::peer_lost:
      raise(transport::AsyncEvent::qp_fatal);
      break;
  }
  data_path_.touch(*this);
}

void QueuePairContext::raise(transport::AsyncEvent event) {
  for (EventListeners::Listener& listener : listeners_) {
    ++listener.told;
    listener.pipe->push(listener.user_handle, static_cast<std::uint32_t>(event));
    data_path_.wrote_to(*listener.pipe);
  }
}

// Null: the program makes whole frames, or there is no path.
const wire::FrameTemplate* QueuePairContext::frames_to(const transport::DatagramAddress* address) const {
  if (address != nullptr) return &static_cast<const AddressHandle*>(address)->frames;
  return frame_template_ ? &*frame_template_ : nullptr;
}

void QueuePairContext::transmit(PacketAction& packet) {
  const wire::FrameTemplate* const frames = frames_to(packet.address);
  if (frames == nullptr) return transmit_frame(packet);
  if (packet.atomic_original != nullptr) packet.headers.atomic_original = *packet.atomic_original;
  wire::FrameStorage storage;
  const wire::Frame frame = frames->encode(packet.headers, {packet.payload, packet.length}, storage);
  config_.device->transmit(frame, origin_of(packet.headers));
}

// The program's own frame is a frame in one piece (wire/frame.hpp), as those are that links have copied.
void QueuePairContext::transmit_frame(const PacketAction& packet) {
  if (config_.service != transport::QpService::raw_packet) return;
  config_.device->transmit({.headers = {packet.payload, packet.length}, .payload = {}, .trailer = {}},
                           origin_of(packet.headers));
}

link::PacketOrigin QueuePairContext::origin_of(const wire::TransportHeaders& headers) {
  const transport::QpParameters& parameters = machine_.parameters();
  const bool request = wire::traits(headers.bth.opcode).request;
  return {.identity = {config_.device->config().number, config_.ordinal, ++packets_sent_},
          .queue_pair = qpn_,
          .first_psn = request ? parameters.send_psn : parameters.receive_psn,
          .selective_acks = machine_.selective_acks(request),
          .device = config_.device->config().mac};
}

std::size_t QueuePairContext::port_room(std::uint64_t round, std::size_t least) const {
  return waits_for_pace() ? 0 : config_.device->port_room(round, least);
}

void QueuePairContext::promise_port(std::uint64_t round, std::size_t bytes) {
  config_.device->promise_port(round, bytes);
}

transport::Time QueuePairContext::port_room_at(std::size_t least) const {
  const transport::Time room_at = config_.device->port_room_at(least);
  return waits_for_pace() ? std::max(room_at, machine_.pace().free_at()) : room_at;
}

bool QueuePairContext::waits_for_pace() const {
  return !machine_.pace().may_send(data_path_.now()) && !machine_.owes_responses();
}

std::size_t QueuePairContext::frame_bytes(const transport::OutboundPacket& packet) const {
  std::size_t payload = packet.bytes.size();
  for (const transport::MemoryRange& range : packet.gather) payload += range.length;
  const wire::FrameTemplate* const frames = frames_to(packet.address);
  return frames != nullptr ? frames->frame_bytes(packet.headers.bth.opcode, payload) : payload;
}

bool QueuePairContext::waits_for_memory(const ActionStream& stream) const {
  return stream.list_with_access == data_path_.filling().number;
}

void QueuePairContext::mark_access(ActionStream& stream) {
  stream.list_with_access = data_path_.filling().number;
}

// Has the ranges read into adjacent bytes of the arena, and returns where; null if there is no room.
const std::byte* QueuePairContext::gather(std::span<const transport::MemoryRange> ranges,
                                          transport::AccessTag tag, std::uint32_t& length) {
  ActionList& list = data_path_.filling();
  ActionStream& from = stream(tag.stream);
  for (const transport::MemoryRange& range : ranges) length += range.length;
  list.arena->align_like(ranges.front().address);
  std::byte* place = list.arena->take(length);
  const std::byte* const begin = place;
  if (begin == nullptr) return nullptr;
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

// Nobody awaits an answer: the request is done with, and the next one may be copied to the place of its
// inline data, before the packet has arrived.
const std::byte* QueuePairContext::keep(std::span<const std::byte> bytes) {
  std::byte* const copy = data_path_.filling().arena->take(static_cast<std::uint32_t>(bytes.size()));
  if (copy != nullptr) std::copy(bytes.begin(), bytes.end(), copy);
  return copy;
}

void QueuePairContext::send(const transport::OutboundPacket& packet) {
  std::uint32_t length = static_cast<std::uint32_t>(packet.bytes.size());
  const std::byte* payload = packet.bytes.data();
  if (!packet.gather.empty()) {
    payload = gather(packet.gather, packet.tag, length);
    // As if lost on the wire: the transport sends it again. `pump_ready` asks for no more than fits.
    if (payload == nullptr) return;
  } else if (length != 0 && !machine_.is_reliable()) {
    payload = keep(packet.bytes);
    if (payload == nullptr) return;
  }
  ActionList& list = data_path_.filling();
  // Made in its place: headers are large, and this is for each packet.
  PacketAction& action = list.packets.emplace_back(packet.headers, &stream(packet.tag.stream),
                                                   static_cast<std::uint32_t>(list.memory.size()));
  action.payload = payload;
  action.length = length;
  action.atomic_original = packet.atomic_original;
  action.address = static_cast<const AddressHandle*>(packet.address);
}

void QueuePairContext::write(const transport::MemoryRange& target, std::span<const std::byte> data,
                             bool message_end, transport::AccessTag tag) {
  if (data.empty()) return;
  ActionStream& from = stream(tag.stream);
  mark_access(from);
  data_path_.filling().memory.push_back({.kind = AccessKind::write,
                                         .message_end = message_end,
                                         .length = static_cast<std::uint32_t>(data.size()),
                                         .memory = static_cast<memory::ApplicationMemory*>(target.space),
                                         .address = target.address,
                                         .local = const_cast<std::byte*>(data.data()),  // read only
                                         .stream = &from,
                                         .tag = tag});
}

void QueuePairContext::atomic(const transport::AtomicAction& action) {
  ActionList& list = data_path_.filling();
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

namespace {

// The message goes to the program of the SRQ, whoever made the QP.
std::uint32_t inline_room(const SharedReceiveQueue* queue) {
  if (queue == nullptr || queue->config().several_processes == nullptr) return 0;
  const bool fits = !*queue->config().several_processes && queue->config().cq->has_room_for_data();
  return fits ? abi::kCqeInlineBytes : 0;
}

}  // namespace

std::uint32_t QueuePairContext::completion_room() const {
  if (xrc_receives_) return inline_room(xrc_receives_->selected());
  const bool one_process = config_.several_processes != nullptr && !*config_.several_processes;
  const bool fits = config_.receive_cq != nullptr && config_.receive_cq->has_room_for_data();
  return one_process && fits ? abi::kCqeInlineBytes : 0;
}

// What waits for no memory access is done at once: nothing of its stream can be in front of it, since the
// completions of a list are finished before its packets become new inputs.
void QueuePairContext::complete(const transport::Completion& completion, transport::Stream which) {
  ActionStream& from = stream(which);
  if (!waits_for_memory(from)) return finish(completion);
  ActionList& list = data_path_.filling();
  list.completions.push_back({.completion = completion,
                              .stream = &from,
                              .accesses = static_cast<std::uint32_t>(list.memory.size())});
}

void QueuePairContext::event(transport::AsyncEvent event) {
  if (!waits_for_memory(requester_) && !waits_for_memory(responder_)) return raise(event);
  data_path_.filling().events.push_back({this, event});
}

}  // namespace urnic::engine
