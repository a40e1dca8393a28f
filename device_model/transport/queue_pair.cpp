#include "device_model/transport/queue_pair.hpp"

#include <algorithm>

#include "device_model/transport/requester.hpp"
#include "device_model/transport/responder.hpp"
#include "device_model/transport/shared_state.hpp"

namespace urnic::transport {
namespace {

// States in which a QP takes requests, and sends what it owes for them (IBTA 10.3.1).
bool responds(QpState state) {
  return state == QpState::rtr || state == QpState::rts || state == QpState::sqd || state == QpState::sqe;
}

// States in which a QP's requests are under way.
bool requests(QpState state) { return state == QpState::rts || state == QpState::sqd; }

// The same partition, and at least one of the two a full member of it (IBTA 10.9.3).
bool pkeys_match(wire::Pkey one, wire::Pkey other) {
  constexpr std::uint16_t kFullMember = 0x8000;
  const auto same = ((one.value ^ other.value) & ~kFullMember) == 0;
  return same && ((one.value | other.value) & kFullMember) != 0 && (one.value & ~kFullMember) != 0;
}

}  // namespace

struct QueuePair::Parts {
  explicit Parts(const QpConfig& config)
      : shared{.config = config, .parameters = {}}, requester(shared), responder(shared) {}

  SharedState shared;
  Requester requester;
  Responder responder;
  bool established = false;     // a request has arrived since the QP entered RTR
  bool notify_drained = false;  // send_queue_drained is still to be raised

  bool requests_turn = false;  // whose the odd packet is when both halves want to send

  std::uint32_t room_for_responses(std::uint32_t packets);
  // Carries out what a call into one of the halves has brought about.
  void settle();
  void enter_error();
};

std::uint32_t QueuePair::Parts::room_for_responses(std::uint32_t packets) {
  if (!requests(shared.state) || !responder.wants_pump() || !requester.wants_pump()) return packets;
  requests_turn = !requests_turn;
  return packets / 2 + (requests_turn ? packets % 2 : 0);
}

void QueuePair::Parts::settle() {
  if (shared.failed) enter_error();
  if (notify_drained && shared.state == QpState::sqd && requester.idle()) {
    notify_drained = false;
    shared.config.host->event(AsyncEvent::send_queue_drained);
  }
}

void QueuePair::Parts::enter_error() {
  shared.failed = false;
  shared.state = QpState::error;
  notify_drained = false;
  requester.flush();
  responder.flush();
}

QueuePair::QueuePair(const QpConfig& config) : parts_(std::make_unique<Parts>(config)) {}
QueuePair::~QueuePair() = default;

QpState QueuePair::state() const { return parts_->shared.state; }
const QpParameters& QueuePair::parameters() const { return parts_->shared.parameters; }
wire::Qpn QueuePair::qpn() const { return parts_->shared.config.qpn; }

void QueuePair::modify(QpState state, const QpParameters& parameters, Time now, bool notify_drained) {
  Parts& parts = *parts_;
  const QpState from = parts.shared.state;
  parts.shared.parameters = parameters;
  parts.shared.state = state;
  parts.notify_drained = state == QpState::sqd && (notify_drained || (from == state && parts.notify_drained));
  switch (state) {
    case QpState::reset:
      parts.shared.failed = false;
      parts.established = false;
      parts.requester.reset();
      parts.responder.reset();
      return;
    case QpState::error:
      parts.enter_error();
      return;
    case QpState::rtr:
      parts.responder.start();
      return;
    case QpState::rts:
      if (from == QpState::rtr) {
        parts.requester.start(now);
      } else {
        parts.requester.parameters_changed(now);
      }
      // Work requests may have been posted while none were taken.
      parts.requester.doorbell(now);
      break;
    case QpState::sqd:
      parts.responder.parameters_changed();
      parts.requester.parameters_changed(now);
      break;
    case QpState::init:
    case QpState::sqe:
      break;
  }
  parts.settle();
}

bool QueuePair::drained() const { return parts_->shared.state == QpState::sqd && parts_->requester.idle(); }

void QueuePair::set_recovery(const RecoverySettings& settings) {
  parts_->shared.recovery = settings;
  parts_->requester.use(settings);
}

void QueuePair::doorbell(Time now) {
  Parts& parts = *parts_;
  if (parts.shared.state == QpState::error) {
    // Work requests that are posted in the error state complete with flushed (IBTA 10.3.1.7).
    parts.requester.flush();
    parts.responder.flush();
    return;
  }
  if (parts.shared.state == QpState::rts) parts.requester.doorbell(now);
  parts.settle();
}

void QueuePair::receive(const InboundPacket& packet, Time now) {
  Parts& parts = *parts_;
  const wire::Bth& bth = packet.headers.bth;
  const wire::OpcodeTraits& traits = wire::traits(bth.opcode);
  if (!traits.known || bth.opcode.service() != wire::Service::rc) return;
  if (!pkeys_match(bth.pkey, parts.shared.parameters.pkey)) return;
  if (traits.request) {
    if (!responds(parts.shared.state)) return;
    if (parts.shared.state == QpState::rtr && !parts.established) {
      parts.shared.config.host->event(AsyncEvent::communication_established);
    }
    parts.established = true;
    parts.responder.receive(packet, now);
  } else {
    if (!requests(parts.shared.state)) return;
    parts.requester.receive(packet, now);
  }
  parts.settle();
}

// Responses first, for the peer waits for them; but when both halves have packets to send, half of the room
// is kept for requests, or a peer that reads without pause would silence this side's requester.
std::uint32_t QueuePair::pump(Time now, std::uint32_t packets) {
  Parts& parts = *parts_;
  std::uint32_t sent = 0;
  if (responds(parts.shared.state)) sent = parts.responder.pump(now, parts.room_for_responses(packets));
  if (requests(parts.shared.state) && !parts.shared.failed) {
    sent += parts.requester.pump(now, packets - sent);
  }
  parts.settle();
  return sent;
}

bool QueuePair::wants_pump() const {
  const Parts& parts = *parts_;
  if (responds(parts.shared.state) && parts.responder.wants_pump()) return true;
  return requests(parts.shared.state) && parts.requester.wants_pump();
}

bool QueuePair::tells_of_hole() const {
  return responds(parts_->shared.state) && parts_->responder.tells_of_hole();
}

std::uint32_t QueuePair::pump_responses(Time now, std::uint32_t packets) {
  Parts& parts = *parts_;
  const std::uint32_t sent = responds(parts.shared.state) ? parts.responder.pump(now, packets) : 0;
  parts.settle();
  return sent;
}

bool QueuePair::is_urgent() const {
  const Parts& parts = *parts_;
  if (responds(parts.shared.state) && parts.responder.is_urgent()) return true;
  return requests(parts.shared.state) && parts.requester.must_send_again();
}

// Each half has a share of the room, if it needs it.
std::uint32_t QueuePair::pump_urgent(Time now, std::uint32_t packets) {
  Parts& parts = *parts_;
  const bool again = requests(parts.shared.state) && parts.requester.must_send_again();
  std::uint32_t sent = 0;
  if (responds(parts.shared.state)) {
    sent = parts.responder.pump_urgent(again ? (packets + 1) / 2 : packets);
  }
  if (requests(parts.shared.state) && !parts.shared.failed) {
    sent += parts.requester.pump_again(now, packets - sent);
  }
  parts.settle();
  return sent;
}

std::optional<Time> QueuePair::deadline() const {
  const Parts& parts = *parts_;
  return requests(parts.shared.state) ? parts.requester.deadline() : std::nullopt;
}

void QueuePair::on_timer(Time now) {
  Parts& parts = *parts_;
  if (requests(parts.shared.state)) parts.requester.on_timer(now);
  parts.settle();
}

void QueuePair::memory_failed(const AccessTag& tag, Time now) {
  Parts& parts = *parts_;
  if (tag.stream == Stream::requester) {
    parts.requester.memory_failed(tag, now);
  } else {
    parts.responder.memory_failed(tag, now);
  }
  parts.settle();
}

}  // namespace urnic::transport
