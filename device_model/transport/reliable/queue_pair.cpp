#include "device_model/transport/reliable/queue_pair.hpp"

#include <algorithm>

#include "device_model/transport/partition_key.hpp"
#include "wire/congestion_notification.hpp"
#include "wire/selective_ack_offer.hpp"

namespace urnic::transport {
namespace {

// States in which a QP's requests are under way.
bool requests(QpState state) { return state == QpState::rts || state == QpState::sqd; }

}  // namespace

QueuePair::QueuePair(const QpConfig& config)
    : shared_{.config = config, .parameters = {}}, requester_(shared_), responder_(shared_) {}

std::uint32_t QueuePair::room_for_responses(Time now, std::uint32_t packets) {
  if (!requests(shared_.state) || !responder_.wants_pump() || !requester_.wants_pump()) return packets;
  if (!requester_.pace().may_send(now)) return packets;
  requests_turn_ = !requests_turn_;
  return packets / 2 + (requests_turn_ ? packets % 2 : 0);
}

void QueuePair::settle() {
  if (shared_.failed) enter_error();
  if (notify_drained_ && shared_.state == QpState::sqd && requester_.idle()) {
    notify_drained_ = false;
    shared_.config.host->event(AsyncEvent::send_queue_drained);
  }
}

void QueuePair::enter_error() {
  shared_.failed = false;
  shared_.state = QpState::error;
  notify_drained_ = false;
  requester_.flush();
  responder_.flush();
}

void QueuePair::modify(QpState state, const QpParameters& parameters, Time now, bool notify_drained) {
  const QpState from = shared_.state;
  shared_.parameters = parameters;
  shared_.state = state;
  notify_drained_ = state == QpState::sqd && (notify_drained || (from == state && notify_drained_));
  switch (state) {
    case QpState::reset:
      shared_.failed = false;
      established_ = false;
      requester_.forget_peer();
      requester_.reset();
      responder_.reset();
      shared_.offers.forget_peer();
      shared_.peer_port.forget();
      shared_.notifications.forget_peer();
      return;
    case QpState::error:
      enter_error();
      return;
    case QpState::rtr:
      responder_.start();
      if (response_control_ != nullptr) response_control_->start(now);
      return;
    case QpState::rts:
      if (from == QpState::rtr) {
        requester_.start(now);
      } else {
        requester_.parameters_changed(now);
      }
      break;
    case QpState::sqd:
      responder_.parameters_changed();
      requester_.parameters_changed(now);
      break;
    case QpState::init:
    case QpState::sqe:
      break;
  }
  settle();
}

bool QueuePair::drained() const { return shared_.state == QpState::sqd && requester_.idle(); }

void QueuePair::set_recovery(const RecoverySettings& settings) {
  shared_.recovery = settings;
  shared_.offers.changed();
  requester_.use(settings);
}

void QueuePair::set_congestion(const CongestionSettings& settings, Time now) {
  shared_.notifications.use(settings);
  requester_.use(settings, now);
  response_control_ = reacts_to_marks(settings) ? std::make_unique<ResponseControl>(settings, now) : nullptr;
}

void QueuePair::doorbell() {
  if (shared_.state == QpState::error) {
    // Work requests that are posted in the error state complete with flushed (IBTA 10.3.1.7).
    requester_.flush();
    responder_.flush();
    return;
  }
  settle();
}

bool QueuePair::is_in_partition(const wire::Bth& bth) const {
  return transport::is_in_partition(bth.pkey, shared_.parameters.pkey, *shared_.config.counters);
}

// An extended reliable connection has requests in one direction only (IBTA A14.3).
bool QueuePair::lets_in(const wire::Bth& bth, bool request) const {
  const QpConfig& config = shared_.config;
  const bool ours = bth.opcode == wire::kSelectiveAcknowledge;
  if (bth.opcode.service() != config.packets && !ours) return false;
  if (config.packets == wire::Service::xrc && request != (config.xrc_receives != nullptr)) return false;
  return is_in_partition(bth);
}

void QueuePair::receive(const InboundPacket& packet, Time now) {
  const wire::Bth& bth = packet.headers.bth;
  if (bth.opcode == wire::kSelectiveAckOffer) [[unlikely]]
    return take_offer(packet);
  if (bth.opcode == wire::kCongestionNotification) [[unlikely]]
    return take_notification(bth, now);
  const wire::OpcodeTraits& traits = wire::traits(bth.opcode);
  // The upper three bits of an opcode name the service. An opcode whose lower bits are reserved is a request
  // that the responder refuses (IBTA 9.7.4.1.4).
  const bool request = traits.request || !traits.known;
  if (!lets_in(bth, request)) return;
  if (request) {
    if (!takes_requests(shared_.state)) return;
    if (has_other_port(packet) && !responder_.takes_from_other_port(packet)) [[unlikely]]
      return drop_for_port();
    if (shared_.state == QpState::rtr && !established_) {
      shared_.config.host->event(AsyncEvent::communication_established);
    }
    established_ = true;
    if (packet.congestion_experienced) [[unlikely]]
      take_mark(traits, now);
    responder_.receive(packet);
  } else {
    if (!requests(shared_.state)) return;
    if (has_other_port(packet) && !requester_.takes_from_other_port(packet)) [[unlikely]]
      return drop_for_port();
    if (packet.congestion_experienced) [[unlikely]]
      take_mark(traits, now);
    requester_.receive(packet, now);
  }
  settle();
}

// As if the network had lost it.
void QueuePair::drop_for_port() { ++shared_.config.counters->other_port_discards; }

void QueuePair::take_offer(const InboundPacket& packet) {
  const std::optional<wire::SelectiveAckOffer> offer = wire::offer_in(packet.headers.selective_ack_eth);
  if (!is_in_partition(packet.headers.bth)) return;
  if (!offer || packet.selective_acks != SelectiveAcks::outside || !takes_requests(shared_.state)) return;
  if (shared_.peer_port.known() && has_other_port(packet)) return drop_for_port();
  shared_.offers.heard(offer->wants_answer);
  responder_.peer_offers(offer->reads);
  requester_.peer_offers(offer->gives);
}

// A peer that does not know the opcode drops the packet (IBTA 9.6). Should it take it for a response all the
// same, as Soft-RoCE does, the PSN makes it a response to a request of long ago, which is dropped, too
// (IBTA 9.7.5.1.4).
void QueuePair::send_offer() {
  constexpr std::uint32_t kLongAgo = 1u << 22;  // packets; half of those that can be duplicates (IBTA 9.7.1)
  wire::TransportHeaders headers;
  headers.bth.opcode = wire::kSelectiveAckOffer;
  headers.bth.pkey = shared_.parameters.pkey;
  headers.bth.destination = shared_.parameters.destination;
  headers.bth.psn = responder_.expected_psn() - kLongAgo;
  headers.selective_ack_eth = wire::header_of({.reads = requester_.would_read_selective_acks(),
                                               .gives = responder_.would_give_selective_acks(),
                                               .wants_answer = shared_.offers.asks()});
  ++shared_.config.counters->selective_ack_offers_sent;
  shared_.config.host->send({.headers = headers,
                             .bytes = {},
                             .gather = {},
                             .tag = {.stream = Stream::responder, .psn = headers.bth.psn}});
  shared_.offers.sent();
}

// IBTA A17.9.3: the notification names the queue pair whose packet was marked, and no PSN.
void QueuePair::take_notification(const wire::Bth& bth, Time now) {
  if (!is_in_partition(bth) || !takes_requests(shared_.state)) return;
  const bool reacts = requester_.notified(now);
  if (response_control_ != nullptr) response_control_->marked(now);
  ++(reacts ? shared_.config.counters->notifications_handled
            : shared_.config.counters->notifications_ignored);
}

// Packets without data are not answered: they are short, and their sender could do nothing about the queue.
void QueuePair::take_mark(const wire::OpcodeTraits& traits, Time now) {
  if (!shared_.notifications.is_on() || !(traits.carries_payload || traits.request)) return;
  ++shared_.config.counters->congestion_marks;
  shared_.notifications.marked(*shared_.config.host, now);
}

void QueuePair::send_notification() {
  const wire::TransportHeaders headers =
      wire::congestion_notification(shared_.parameters.pkey, shared_.parameters.destination);
  ++shared_.config.counters->congestion_notifications;
  shared_.config.host->send({.headers = headers,
                             .bytes = wire::kNotificationPayload,
                             .gather = {},
                             .tag = {.stream = Stream::responder, .psn = headers.bth.psn}});
  shared_.notifications.sent();
}

// Responses go first, because the peer waits for them. While both halves have packets to send, half of the
// room is kept for requests: otherwise a peer that reads without pause would silence this side's requester.
std::uint32_t QueuePair::pump(Time now, std::uint32_t packets) {
  std::uint32_t sent = 0;
  if (takes_requests(shared_.state)) {
    if (shared_.offers.owed() && packets > 0) [[unlikely]] {
      send_offer();
      ++sent;
    }
    if (shared_.notifications.owed() && sent < packets) [[unlikely]] {
      send_notification();
      ++sent;
    }
    sent += pump_responder(now, room_for_responses(now, packets - sent));
  }
  if (requests(shared_.state) && !shared_.failed) {
    sent += requester_.pump(now, packets - sent);
  }
  settle();
  return sent;
}

bool QueuePair::wants_pump() const {
  const bool owes = takes_requests(shared_.state) &&
                    (responder_.wants_pump() || shared_.offers.owed() || shared_.notifications.owed());
  return owes || (requests(shared_.state) && requester_.wants_pump());
}

Time QueuePair::free_at() const {
  const Time requests_at = requester_.pace().free_at();
  if (response_control_ == nullptr || !responder_.next_is_data()) return requests_at;
  const Time responses_at = response_control_->free_at();
  return requests(shared_.state) && requester_.wants_pump() ? std::min(requests_at, responses_at)
                                                            : responses_at;
}

// As many as its pace lets leave.
std::uint32_t QueuePair::pump_responder(Time now, std::uint32_t packets) {
  if (response_control_ == nullptr) [[likely]]
    return responder_.pump(packets);
  if (packets == 0 || holds_responses_back(now)) return 0;
  const bool is_data = responder_.next_is_data();
  const std::size_t bytes = shared_.parameters.path_mtu;
  const std::uint32_t sent = responder_.pump(is_data ? response_control_->together(packets, bytes) : packets);
  if (is_data) response_control_->sent(sent, bytes, now);
  return sent;
}

bool QueuePair::tells_of_hole() const { return takes_requests(shared_.state) && responder_.tells_of_hole(); }

std::uint32_t QueuePair::pump_responses(std::uint32_t packets) {
  const std::uint32_t sent = takes_requests(shared_.state) ? responder_.pump(packets) : 0;
  settle();
  return sent;
}

bool QueuePair::is_urgent() const {
  if (takes_requests(shared_.state) && responder_.is_urgent()) return true;
  return requests(shared_.state) && requester_.must_send_again();
}

// Each half that has urgent packets gets half of the room.
std::uint32_t QueuePair::pump_urgent(Time now, std::uint32_t packets) {
  const bool again = requests(shared_.state) && requester_.must_send_again();
  std::uint32_t sent = 0;
  if (takes_requests(shared_.state)) {
    sent = responder_.pump_urgent(again ? (packets + 1) / 2 : packets);
  }
  if (requests(shared_.state) && !shared_.failed) {
    sent += requester_.pump_again(now, packets - sent);
  }
  settle();
  return sent;
}

std::optional<Time> QueuePair::deadline() const {
  return requests(shared_.state) ? requester_.deadline() : std::nullopt;
}

QueuePairSnapshot QueuePair::snapshot() const {
  return {.state = shared_.state,
          .destination = shared_.parameters.destination,
          .reliable = true,
          .requester = requester_.snapshot(),
          .responder = responder_.snapshot(),
          .deadline = deadline()};
}

QueuePairDetail QueuePair::detail() const { return {requester_.detail(), responder_.detail()}; }

void QueuePair::on_timer(Time now) {
  if (requests(shared_.state)) requester_.on_timer(now);
  settle();
}

void QueuePair::memory_failed(const AccessTag& tag) {
  if (tag.stream == Stream::requester) {
    requester_.memory_failed(tag);
  } else {
    responder_.memory_failed(tag);
  }
  settle();
}

}  // namespace urnic::transport
