#include "device_model/engine/queue_pair/queue_pair_context.hpp"

#include <algorithm>

#include "device_model/engine/device/address_handle_table.hpp"
#include "device_model/engine/device/device_resources.hpp"
#include "device_model/engine/device/multicast_groups.hpp"
#include "device_model/engine/device/notified_peers.hpp"
#include "device_model/engine/device/port_egress.hpp"
#include "device_model/engine/queue_pair/memory_stall.hpp"
#include "device_model/engine/queue_pair/qp_table.hpp"
#include "device_model/engine/receives/shared_receives.hpp"
#include "device_model/engine/receives/tagged_receives.hpp"
#include "device_model/engine/receives/xrc_receives.hpp"
#include "device_model/engine/round/round.hpp"
#include "device_model/memory/memory_table.hpp"
#include "device_model/transport/requester/ack_timer.hpp"
#include "wire/frame_checksums.hpp"

namespace urnic::engine {

using transport::QpState;

namespace {

// Null: the QP has its own receive queue.
std::unique_ptr<Receives> make_receives(const QueuePairConfig& config, wire::Qpn qpn) {
  Notifications& notifications = config.device->round.notifications();
  if (config.xrc_domain != nullptr) return std::make_unique<XrcReceives>(*config.xrc_domain, notifications);
  if (config.tag_matching != nullptr)
    return std::make_unique<TaggedReceives>(*config.tag_matching, *config.shared_receive_queue, qpn);
  if (config.shared_receive_queue == nullptr) return nullptr;
  return std::make_unique<SharedReceives>(*config.shared_receive_queue, *config.receive_cq,
                                          config.several_processes, notifications);
}

std::uint32_t own_slots(const QueuePairConfig& config, std::uint32_t slots) {
  return config.queues == nullptr ? slots : 0;
}

}  // namespace

std::unique_ptr<QueuePairContext> QueuePairContext::make(const QueuePairConfig& config) {
  const auto qpn = config.device->queue_pairs.reserve();
  if (!qpn) return nullptr;
  try {
    return std::make_unique<QueuePairContext>(config, *qpn);
  } catch (...) {
    config.device->queue_pairs.release(*qpn);
    throw;
  }
}

QueuePairContext::QueuePairContext(const QueuePairConfig& config, wire::Qpn qpn)
    : round_(config.device->round),
      qpn_(qpn),
      own_send_ring_(config.send_ring, own_slots(config, config.send_slots), config.send_slot_size,
                     &config.indices->send_producer, config.signal_all),
      sends_(config.queues != nullptr ? config.queues->sends() : own_send_ring_),
      config_(config),
      own_receive_ring_(config.receive_ring, own_slots(config, config.receive_slots),
                        config.receive_slot_size, &config.indices->receive_producer),
      own_receives_(config.queues != nullptr ? config.queues->receives() : own_receive_ring_,
                    config.receive_slots, config.receive_cq, config.several_processes),
      other_receives_(make_receives(config, qpn)),
      receives_(other_receives_ != nullptr ? *other_receives_ : own_receives_),
      receive_cq_(receives_.completion_queue()),
      machine_(config.service, transport_config()) {
  requester_.queue_pair = responder_.queue_pair = this;
  requester_.stream = transport::Stream::requester;
  responder_.stream = transport::Stream::responder;
  if (config.async_events != nullptr)
    listeners_.add(*config.async_events, config.user_handle, config.event_source);
}

transport::QpConfig QueuePairContext::transport_config() {
  transport::QpConfig result{
      .qpn = qpn_,
      .pd = config_.pd,
      .send_slots = config_.send_slots,
      .max_message_size = config_.max_message_size,
      .window_packets = config_.window_packets,
      .congestion_window_packets = config_.congestion_window_packets,
      .host = this,
      .keys = &config_.device->memory_table,
      .addresses = &config_.device->address_handles,
      .send_queue = &sends_,
      .packets = transport::is_xrc(config_.service) ? wire::Service::xrc : wire::Service::rc,
      .counters = &config_.device->counters,
      .recovery = config_.recovery,
      .reorder_pool = &round_.reorder_pool()};
  receives_.describe(result);
  return result;
}

// Emitted actions and owed events refer to the QP and to its CQs.
QueuePairContext::~QueuePairContext() {
  const DeviceResources& device = *config_.device;
  if (timer_) {
    round_.settle();
    if (stall_ != nullptr) round_.forget_stall(*this);
    device.queue_pairs.remove(*this);
    device.multicast_groups.remove(*this);
    device.memory_table.release_queue_pair(qpn_);
    round_.timers().remove(*timer_);
    if (config_.xrc_domain != nullptr) config_.xrc_domain->remove(*this);
  }
  device.queue_pairs.release(qpn_);
}

const void* QueuePairContext::send_producer() const {
  return config_.queues != nullptr ? config_.queues->send_producer() : &config_.indices->send_producer;
}

void QueuePairContext::install() {
  if (config_.xrc_domain != nullptr) config_.xrc_domain->add(*this);
  try {
    timer_ = round_.timers().add(*this);
  } catch (...) {
    if (config_.xrc_domain != nullptr) config_.xrc_domain->remove(*this);
    throw;
  }
  config_.device->queue_pairs.install(*this);
  if (transport::is_on(config_.congestion)) set_congestion(config_.congestion);
}

void QueuePairContext::modify(QpState state, const transport::QpParameters& parameters,
                              const std::optional<wire::NetworkHeaders>& path, bool notify_drained) {
  // Waiting accesses come before what the program asks for now, and may not finish in time.
  if (stall_ != nullptr && (state == QpState::reset || state == QpState::error)) round_.end_wait(*this);
  if (path) {
    path_ = *path;
    make_frame_template();
  }
  if (state == QpState::reset) {
    frame_template_.reset();
    config_.indices->send_producer.store(0, std::memory_order_relaxed);
    config_.indices->receive_producer.store(0, std::memory_order_relaxed);
    sends_.reset();
    receives_.reset();
  }
  machine_.modify(state, parameters, round_.now(), notify_drained);
  follow_state();
  round_.touch(*this);
}

// An index beyond the table has the P_Key 0, which matches no other (IBTA 10.9.1.2).
void QueuePairContext::follow_pkeys(std::span<const std::uint16_t> pkeys) {
  const std::size_t index = machine_.parameters().pkey_index;
  machine_.set_pkey(wire::Pkey{index < pkeys.size() ? pkeys[index] : std::uint16_t{0}});
}

void QueuePairContext::follow_lids(const LocalLids& lids) {
  if (!path_.local) return;
  path_.local->source = lids.moved(path_.local->source);
  if (frame_template_) make_frame_template();
}

void QueuePairContext::set_recovery(const transport::RecoverySettings& settings) {
  machine_.set_recovery(settings);
  round_.touch(*this);
}

void QueuePairContext::set_congestion(const transport::CongestionSettings& settings) {
  machine_.set_congestion(settings, round_.now());
  ecn_capable_ = machine_.is_reliable() && transport::reacts_to_marks(settings);
  notification_dscp_ = settings.notification_dscp;
  if (frame_template_) make_frame_template();
  ready_hook.unlink();  // it may be waiting at the old rate
  round_.touch(*this);
}

// ECT(0) where the program has set no ECN bits itself (RFC 3168, section 5).
void QueuePairContext::make_frame_template() {
  constexpr std::uint8_t kEcnMask = 3;
  constexpr std::uint8_t kEct0 = 2;
  wire::NetworkHeaders network = path_;
  if (ecn_capable_ && (network.traffic_class & kEcnMask) == 0) network.traffic_class |= kEct0;
  frame_template_.emplace(network);
}

void QueuePairContext::limit_rate(std::uint32_t rate_kbps, std::uint32_t burst_bytes) {
  machine_.pace().limit(rate_kbps, burst_bytes);
  ready_hook.unlink();  // it may be waiting at the old rate
  round_.touch(*this);
}

void QueuePairContext::limit_path(std::uint32_t rate_kbps) {
  machine_.pace().limit_path(rate_kbps);
  ready_hook.unlink();
  round_.touch(*this);
}

QueuePairStatus QueuePairContext::status() const {
  return {.qpn = qpn_,
          .service = config_.service,
          .packets_sent = packets_sent_,
          .wants_to_send = machine_.wants_pump(),
          .waits_for_memory = is_stalled(),
          .transport = machine_.snapshot()};
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
  sends_.doorbell();
  take_posted();
}

// Packets that the transport sent long ago leave only now.
transport::Time QueuePairContext::time_for_answers() const {
  transport::AckTimer timer;
  timer.set_code(machine_.parameters().timeout);
  const transport::Time now = round_.now();
  return timer.interval() == transport::Nanoseconds::max() ? now : now + timer.interval();
}

// False: the arena has no room; the held input counts as lost.
bool QueuePairContext::take_held(const HeldInput& input) {
  const std::size_t size = input.bytes.size();
  std::byte* const place = round_.filling().arena->take(static_cast<std::uint32_t>(size));
  if (place == nullptr) return false;
  std::copy(input.bytes.begin(), input.bytes.end(), place);
  if (input.origin) {
    config_.device->ingress.arrive_again(
        {.headers = {place, size}, .payload = {}, .trailer = {}, .link_layer = config_.device->link_layer},
        *input.origin);
    return true;
  }
  receive_datagram({
      .headers = input.headers,
      .payload = {place + input.grh_bytes, size - input.grh_bytes},
      .congestion_experienced = input.congestion_experienced,
      .selective_acks = input.selective_acks,
      .grh = {place, input.grh_bytes},
      .local_route = input.local_route,
  });
  return true;
}

void QueuePairContext::hold(const wire::Frame& frame, const link::PacketOrigin& origin) {
  stall_->hold(frame, origin);
}

// In the error state a doorbell also completes receives.
bool QueuePairContext::doorbell() {
  if (stall_ != nullptr) [[unlikely]]
    return false;
  sends_.doorbell();
  if (!sends_.pending() && !sends_.lied() && !in_error_) return false;
  take_posted();
  return true;
}

void QueuePairContext::take_posted() {
  sends_.prefetch_next();
  machine_.prefetch_next_request();
  machine_.doorbell();
  round_.touch(*this);
}

void QueuePairContext::receive(const transport::InboundPacket& packet) {
  __builtin_prefetch(&config_.indices->receive_producer);  // for the credits of the acknowledgement
  machine_.receive(packet, round_.now());
  round_.touch(*this);
}

void QueuePairContext::receive_datagram(const transport::InboundPacket& packet) {
  if (stall_ != nullptr) [[unlikely]]
    return stall_->hold(packet);
  machine_.receive_datagram(packet);
  round_.touch(*this);
}

void QueuePairContext::on_timer(transport::Time now) {
  if (stall_ != nullptr) [[unlikely]]
    return;  // `resume` sets its timer anew
  if (now < no_timer_before_) return round_.timers().set(*timer_, no_timer_before_);
  machine_.on_timer(now);
  round_.touch(*this);
}

std::uint32_t QueuePairContext::pump(std::uint32_t packets) { return machine_.pump(round_.now(), packets); }

std::uint32_t QueuePairContext::pump_responses(std::uint32_t packets) {
  return machine_.pump_responses(packets);
}

std::uint32_t QueuePairContext::pump_urgent(std::uint32_t packets) {
  return machine_.pump_urgent(round_.now(), packets);
}

void QueuePairContext::memory_failed(const ActionStream& stream) {
  machine_.memory_failed(stream.failed_tag);
  round_.touch(*this);
}

void QueuePairContext::owner_died() {
  must_enter_error_ = true;
  round_.touch(*this);
}

void QueuePairContext::forget(const SharedReceiveQueue& queue) {
  if (stall_ != nullptr) round_.end_wait(*this);
  if (receives_.forget(queue)) machine_.receive_lost();
}

void QueuePairContext::after_input() {
  if (stall_ != nullptr) [[unlikely]]
    return;
  if (queues_make_no_sense() || must_enter_error_) enter_error();
  follow_state();
  if (machine_.wants_pump()) {
    if (aside_for_pace && !waits_for_pace()) ready_hook.unlink();
    round_.want_pump(*this);
  }
  if (machine_.tells_of_hole()) round_.hole_to_tell();
  if (machine_.is_urgent()) round_.want_urgent_pump(*this);
  if (timer_) round_.timers().set(*timer_, machine_.deadline());
}

bool QueuePairContext::queues_make_no_sense() const { return sends_.lied() || receives_.broken(); }

// A program that writes impossible indices, or whose CQ overran, loses this QP (IBTA 10.10.2.3: errors that
// no WQE can report are affiliated asynchronous errors).
void QueuePairContext::enter_error() {
  must_enter_error_ = false;
  const QpState state = machine_.state();
  if (state == QpState::error || state == QpState::reset) return;
  const bool lied = queues_make_no_sense();
  machine_.modify(QpState::error, machine_.parameters(), round_.now());
  if (lied) raise(transport::AsyncEvent::qp_fatal);
}

// Publishes the error state, then looks once more for WQEs posted before the program could see it
// (queues.hpp, QueuePairIndices).
void QueuePairContext::follow_state() {
  const bool error = machine_.state() == QpState::error;
  if (error == in_error_) return;
  in_error_ = error;
  config_.indices->in_error.store(error ? 1 : 0, std::memory_order_seq_cst);
  if (!error) return;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  sends_.doorbell();
  machine_.doorbell();
}

void QueuePairContext::finish(const transport::Completion& completion) {
  CompletionQueue* const queue = completion.receive ? receive_cq_ : config_.send_cq;
  if (queue != nullptr) {
    if (!round_.notifications().complete(*queue, completion)) settle_report(Reported::lost);
    return;
  }
  const bool in_error = machine_.state() == QpState::error;
  settle_report(completion.receive ? receives_.report(completion, in_error)
                                   : receives_.report_send(completion, in_error));
}

// A QP with tag matching may begin its next rendezvous.
void QueuePairContext::settle_report(Reported reported) {
  if (reported == Reported::yes && config_.tag_matching == nullptr) [[likely]]
    return;
  if (reported == Reported::lost) must_enter_error_ = true;
  if (reported == Reported::peer_lost) raise(transport::AsyncEvent::qp_fatal);
  round_.touch(*this);
}

void QueuePairContext::raise(transport::AsyncEvent event) {
  for (EventListeners::Listener& listener : listeners_) {
    listener.tell(event);
    round_.notifications().wrote_to(*listener.pipe);
  }
}

// Null: the program makes whole frames, or there is no path.
const wire::FrameTemplate* QueuePairContext::frames_to(const transport::DatagramAddress* address) const {
  if (address != nullptr) return &static_cast<const AddressHandle*>(address)->frames;
  return frame_template_ ? &*frame_template_ : nullptr;
}

std::optional<link::Connection> QueuePairContext::connection() const {
  if (!frame_template_) return {};
  const transport::QpParameters& parameters = machine_.parameters();
  return link::Connection{path_, parameters.destination, parameters.send_psn, parameters.receive_psn};
}

link::PacketOrigin QueuePairContext::origin_of(const wire::TransportHeaders& headers) {
  const transport::QpParameters& parameters = machine_.parameters();
  const bool request = wire::traits(headers.bth.opcode).request;
  return {.identity = {config_.device->number, config_.ordinal, ++packets_sent_},
          .queue_pair = qpn_,
          .first_psn = request ? parameters.send_psn : parameters.receive_psn,
          .selective_acks = machine_.selective_acks(request),
          .device = config_.device->mac};
}

void QueuePairContext::transmit(PacketAction& packet) {
  const wire::FrameTemplate* const frames = frames_to(packet.address);
  if (frames == nullptr) return transmit_frame(packet);
  if (packet.headers.bth.opcode == wire::kCongestionNotification) [[unlikely]]
    return transmit_notification(packet);
  if (packet.atomic_original != nullptr) packet.headers.atomic_original = *packet.atomic_original;
  wire::FrameStorage storage;
  const wire::Frame frame =
      frames->encode(packet.headers, {packet.payload, packet.length}, storage, config_.device->icrc);
  config_.device->port.transmit(frame, origin_of(packet.headers), round_.now());
}

// It has a traffic class of its own, so that it does not wait where it reports a queue (IBTA A17.9.3).
void QueuePairContext::transmit_notification(const PacketAction& packet) {
  wire::NetworkHeaders network = path_;
  network.traffic_class = static_cast<std::uint8_t>(notification_dscp_ << 2);
  wire::FrameStorage storage;
  const wire::Frame frame = wire::FrameTemplate(network).encode(
      packet.headers, {packet.payload, packet.length}, storage, config_.device->icrc);
  config_.device->port.transmit(frame, origin_of(packet.headers), round_.now());
}

// The program's own frame is contiguous (wire/frame.hpp), like frames that links have copied. It is a copy,
// as of every unreliable packet: checksums are made there.
void QueuePairContext::transmit_frame(const PacketAction& packet) {
  if (config_.service != transport::QpService::raw_packet) return;
  if (packet.checksums.any())
    wire::fill_checksums({const_cast<std::byte*>(packet.payload), packet.length}, packet.checksums);
  config_.device->port.transmit({.headers = {packet.payload, packet.length}, .payload = {}, .trailer = {}},
                                origin_of(packet.headers), round_.now());
}

std::size_t QueuePairContext::port_room(std::uint64_t round, std::size_t least) const {
  return waits_for_pace() ? 0 : config_.device->port.room(round_.now(), round, least);
}

void QueuePairContext::promise_port(std::uint64_t round, std::size_t bytes) {
  config_.device->port.promise(round, bytes);
}

transport::Time QueuePairContext::port_room_at(std::size_t least) const {
  const transport::Time room_at = config_.device->port.room_at(least);
  return waits_for_pace() ? std::max(room_at, machine_.free_at()) : room_at;
}

bool QueuePairContext::waits_for_pace() const { return machine_.is_held_back(round_.now()); }

std::size_t QueuePairContext::frame_bytes(const transport::OutboundPacket& packet) const {
  std::size_t payload = packet.bytes.size();
  for (const transport::MemoryRange& range : packet.gather) payload += range.length;
  const wire::FrameTemplate* const frames = frames_to(packet.address);
  return frames != nullptr ? frames->frame_bytes(packet.headers.bth.opcode, payload) : payload;
}

bool QueuePairContext::may_notify_peer(transport::Nanoseconds interval, transport::Time now) {
  return config_.device->notified_peers.take_turn(path_.destination, interval, now);
}

}  // namespace urnic::engine
