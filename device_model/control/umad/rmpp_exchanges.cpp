#include "device_model/control/umad/rmpp_exchanges.hpp"

#include <algorithm>
#include <cerrno>

namespace urnic::control {
namespace {

using wire::mad::MadHeader;
using wire::mad::Method;
using wire::mad::RmppHeader;
using wire::mad::RmppStatus;
using wire::mad::RmppType;

constexpr std::uint8_t kResponse = 0x80;
// What STOP and ABORT may say (IBTA 13.6.2).
constexpr auto kFirstAbort = static_cast<std::uint8_t>(RmppStatus::total_time_too_long);
constexpr auto kLastAbort = static_cast<std::uint8_t>(RmppStatus::unspecified);

bool is_end(const RmppHeader& header) {
  const auto status = static_cast<std::uint8_t>(header.status);
  if (header.type == RmppType::stop) return header.status == RmppStatus::resources_exhausted;
  return status >= kFirstAbort && status <= kLastAbort;
}

bool is_same_peer(const GsiAddress& one, const GsiAddress& other) {
  return one.peer == other.peer && one.lid == other.lid;
}

MadHeader header_of(const RmppMessage& message) {
  MadHeader header;
  wire::mad::decode(message.packet.mad, header);
  return header;
}

bool is_same_class(const MadHeader& one, const MadHeader& other) {
  return one.transaction == other.transaction && one.management_class == other.management_class;
}

RmppSender::Limits limits_of(const ib_user_mad_hdr& header, std::uint32_t window) {
  return {.wait = std::chrono::milliseconds(header.timeout_ms), .retries = header.retries, .window = window};
}

}  // namespace

bool RmppExchanges::Source::matches(const Source& other) const {
  return agent == other.agent && is_same_peer(from, other.from) && from.peer_qpn == other.from.peer_qpn &&
         is_same_class(header, other.header) && header.class_version == other.header.class_version &&
         header.method == other.header.method;
}

int RmppExchanges::check(const UmadPacket& packet, std::size_t bytes, const GsiAddress& to) {
  MadHeader header;
  wire::mad::decode(packet.mad, header);
  const auto is_like_it = [&](const RmppMessage& other) {
    const MadHeader theirs = header_of(other);
    return is_same_class(theirs, header) && is_response(theirs.method) == is_response(header.method) &&
           (!is_response(header.method) || is_same_peer(other.to, to));
  };
  if (bytes < data_offset(header.management_class)) return EINVAL;
  if (std::any_of(outgoing_.begin(), outgoing_.end(), is_like_it)) return EINVAL;
  if (outgoing_.size() >= kMostMessages || bytes > kLongestMessage) return ENOMEM;
  if (!surroundings_.may_send(outgoing_bytes() + bytes)) return ENOMEM;
  promised_ = bytes;
  return 0;
}

void RmppExchanges::withdraw() {
  promised_ = 0;
  tell_bytes();
}

void RmppExchanges::send(const UmadPacket& packet, std::vector<std::byte> message, const GsiAddress& to,
                         Clock::time_point now) {
  MadHeader header;
  wire::mad::decode(packet.mad, header);
  const auto limits = limits_of(packet.header, first_window(header, to));
  promised_ = 0;
  outgoing_.push_back({packet, to, RmppSender(std::move(message), limits, now)});
  pump(now);
}

// An answer begins with the window that the acknowledgement of its request has announced (IBTA 13.6).
std::uint32_t RmppExchanges::first_window(const MadHeader& header, const GsiAddress& to) const {
  for (const Incoming& incoming : incoming_) {
    const MadHeader& request = incoming.source.header;
    if (is_response(header.method) && !is_response(request.method) && is_same_class(request, header) &&
        is_same_peer(incoming.source.from, to))
      return incoming.receiver.answer_window;
  }
  return 1;
}

bool RmppExchanges::take(std::uint32_t agent, const GsiAddress& from, const MadHeader& header, MadBytes mad,
                         Clock::time_point now) {
  RmppHeader rmpp;
  decode(mad, rmpp);
  if (!rmpp.active) return false;
  const Source source{agent, from, header};
  const Part part{source, rmpp, mad, now};
  if (rmpp.version != wire::mad::kRmppVersion) {
    refuse(part, RmppStatus::unsupported_version);
  } else if (rmpp.type == RmppType::data) {
    take_data(part);
  } else if (rmpp.type == RmppType::acknowledgement) {
    take_acknowledgement(part);
  } else if (rmpp.type == RmppType::stop || rmpp.type == RmppType::abort) {
    take_end(part);
  } else {
    refuse(part, RmppStatus::bad_type);
  }
  pump(now);
  return true;
}

void RmppExchanges::take_data(const Part& part) {
  if (const RmppStatus why = check_segment(part.header); why != RmppStatus::normal) return refuse(part, why);
  Incoming* const incoming = begin(part);
  if (incoming == nullptr) return;
  const bool was_complete = incoming->receiver.state() == RmppReceiver::State::complete;
  // What others have grown to since this one began counts, too.
  const bool has_room = surroundings_.may_receive(incoming_bytes() + wire::mad::kMadBytes);
  const RmppReply answer = incoming->receiver.take(part.header, part.mad, has_room, part.now);
  std::vector<std::byte> whole;
  if (!was_complete && incoming->receiver.state() == RmppReceiver::State::complete)
    whole = std::exchange(incoming->receiver.message(), {});
  // Afterwards: the reply may lead to what ends this message.
  if (incoming->receiver.state() == RmppReceiver::State::over)
    std::erase_if(incoming_, [&](const Incoming& each) { return &each == incoming; });
  if (answer.type != RmppType::none) reply(part.source.from, part.mad, answer);
  if (whole.empty()) return;
  // It is the program's to read, and counts there.
  tell_bytes();
  surroundings_.arrived(part.source.agent, part.source.from, std::move(whole));
}

// The message that the segment is of; null: of none, or there is no room for it.
RmppExchanges::Incoming* RmppExchanges::begin(const Part& part) {
  if (Incoming* const known = find_incoming(part.source)) return known;
  if (!part.header.first) return nullptr;
  if (!make_room()) {
    reply(part.source.from, part.mad, {.type = RmppType::stop, .status = RmppStatus::resources_exhausted});
    return nullptr;
  }
  incoming_.push_back({part.source, RmppReceiver(data_offset(part.source.header.management_class),
                                                 kLongestMessage, part.now)});
  return &incoming_.back();
}

// Forgets the oldest whole message if there are as many as there may be.
bool RmppExchanges::make_room() {
  if (incoming_.size() < kMostMessages) return true;
  const auto oldest = std::find_if(incoming_.begin(), incoming_.end(), [](const Incoming& each) {
    return each.receiver.state() == RmppReceiver::State::complete;
  });
  if (oldest == incoming_.end()) return false;
  incoming_.erase(oldest);
  return true;
}

std::size_t RmppExchanges::outgoing_bytes() const {
  std::size_t bytes = promised_;
  for (const RmppMessage& each : outgoing_) bytes += each.sender.bytes();
  return bytes;
}

std::size_t RmppExchanges::incoming_bytes() const {
  std::size_t bytes = 0;
  for (const Incoming& each : incoming_) bytes += each.receiver.bytes();
  return bytes;
}

// Less is always allowed.
void RmppExchanges::tell_bytes() const {
  surroundings_.may_send(outgoing_bytes());
  surroundings_.may_receive(incoming_bytes());
}

void RmppExchanges::take_acknowledgement(const Part& part) {
  const RmppHeader& header = part.header;
  if (header.status != RmppStatus::normal) return refuse(part, RmppStatus::illegal_status);
  RmppMessage* const message = find_outgoing(part.source);
  if (message == nullptr) {
    if (header.length_or_window < header.segment) return refuse(part, RmppStatus::window_too_small);
    // The requester is ready for the answer.
    Incoming* const request = header.segment == 0 ? find_incoming(part.source) : nullptr;
    if (request != nullptr) request->receiver.answer_window = std::max(header.length_or_window, 1U);
    return;
  }
  const RmppStatus why = message->sender.acknowledge(header.segment, header.length_or_window, part.now);
  if (why != RmppStatus::normal) return reply(part.source.from, part.mad, rmpp_abort(why));
  // A request whose answer is awaited: this side is ready for it (IBTA 13.6).
  if (message->sender.state() == RmppSender::State::acknowledged && message->packet.header.timeout_ms != 0)
    reply(part.source.from, part.mad, {.type = RmppType::acknowledgement, .segment = 0, .window = 1});
}

void RmppExchanges::take_end(const Part& part) {
  if (!is_end(part.header)) return refuse(part, RmppStatus::illegal_status);
  if (RmppMessage* const message = find_outgoing(part.source)) message->sender.abort();
  std::erase_if(incoming_, [&](const Incoming& each) { return each.source.matches(part.source); });
}

void RmppExchanges::refuse(const Part& part, RmppStatus why) {
  if (RmppMessage* const message = find_outgoing(part.source)) message->sender.abort();
  reply(part.source.from, part.mad, rmpp_abort(why));
}

// With the headers of what it answers, and the other direction's method (IBTA 13.6.2).
void RmppExchanges::reply(const GsiAddress& to, std::span<const std::byte> headers, const RmppReply& reply) {
  wire::mad::Mad mad{};
  MadHeader header;
  std::copy_n(headers.begin(), wire::mad::kMadHeaderBytes, mad.begin());
  wire::mad::decode(mad, header);
  const std::size_t offset = data_offset(header.management_class);
  std::copy_n(headers.begin(), std::min(headers.size(), offset), mad.begin());
  header.method = static_cast<Method>(static_cast<std::uint8_t>(header.method) ^ kResponse);
  wire::mad::encode(header, mad);
  encode(RmppHeader{.version = wire::mad::kRmppVersion,
                    .type = reply.type,
                    .active = true,
                    .status = reply.status,
                    .segment = reply.segment,
                    .length_or_window = reply.window},
         mad);
  surroundings_.transmit(to, mad);
}

RmppExchanges::Incoming* RmppExchanges::find_incoming(const Source& source) {
  const auto found = std::find_if(incoming_.begin(), incoming_.end(),
                                  [&](const Incoming& each) { return each.source.matches(source); });
  return found != incoming_.end() ? &*found : nullptr;
}

// What the receiver of a message says has the other direction's method.
RmppMessage* RmppExchanges::find_outgoing(const Source& source) {
  const auto is_its = [&](const RmppMessage& message) {
    const MadHeader header = header_of(message);
    return message.packet.header.id == source.agent && is_same_class(header, source.header) &&
           is_response(header.method) != is_response(source.header.method) &&
           message.to.peer == source.from.peer &&
           // A request may have gone to another LID of the peer's: to the permissive one, or one of its LMC.
           (!is_response(header.method) || message.to.lid == source.from.lid);
  };
  const auto found = std::find_if(outgoing_.begin(), outgoing_.end(), is_its);
  return found != outgoing_.end() ? &*found : nullptr;
}

void RmppExchanges::forget_request(const PendingRequests::Key& key) {
  for (RmppMessage& message : outgoing_) {
    const MadHeader header = header_of(message);
    if (!is_response(header.method) && header.transaction.value == key.first &&
        header.management_class == key.second)
      message.sender.abort();
  }
  if (!pumps_) end_finished();
}

void RmppExchanges::drop_agent(std::uint32_t agent) {
  outgoing_.remove_if([&](const RmppMessage& message) { return message.packet.header.id == agent; });
  incoming_.remove_if([&](const Incoming& each) { return each.source.agent == agent; });
  tell_bytes();
}

// Acknowledgements that come while a segment leaves move the window, and this loop goes on; so however long a
// message is, calls are not nested deeper.
void RmppExchanges::pump(Clock::time_point now) {
  if (pumps_) return;
  pumps_ = true;
  goes_on_.reset();
  unsigned left = kSegmentsPerTurn;
  for (RmppMessage& message : outgoing_) {
    while (message.sender.has_next() && !goes_on_) {
      if (left == 0) {
        goes_on_ = now;
      } else if (!surroundings_.has_room()) {
        goes_on_ = now + kPauseForRoom;
      } else {
        --left;
        surroundings_.transmit(message.to, *message.sender.next(now));
      }
    }
  }
  pumps_ = false;
  end_finished();
}

void RmppExchanges::end_finished() {
  std::list<RmppMessage> finished;
  for (auto message = outgoing_.begin(); message != outgoing_.end();) {
    const auto next = std::next(message);
    if (message->sender.state() != RmppSender::State::under_way)
      finished.splice(finished.end(), outgoing_, message);
    message = next;
  }
  tell_bytes();
  for (const RmppMessage& message : finished) surroundings_.ended(message);
}

std::optional<RmppExchanges::Clock::time_point> RmppExchanges::next_due() const {
  std::optional<Clock::time_point> next = goes_on_;
  for (const RmppMessage& message : outgoing_)
    next = std::min(next.value_or(message.sender.due()), message.sender.due());
  for (const Incoming& each : incoming_)
    next = std::min(next.value_or(each.receiver.due()), each.receiver.due());
  return next;
}

void RmppExchanges::expire(Clock::time_point now) {
  for (RmppMessage& message : outgoing_) message.sender.expire(now);
  std::list<Incoming> over;
  for (auto each = incoming_.begin(); each != incoming_.end();) {
    const auto next = std::next(each);
    if (each->receiver.due() <= now) over.splice(over.end(), incoming_, each);
    each = next;
  }
  for (Incoming& each : over) {
    if (each.receiver.state() == RmppReceiver::State::under_way && !each.receiver.message().empty())
      reply(each.source.from, each.receiver.message(), rmpp_abort(RmppStatus::total_time_too_long));
  }
  pump(now);
}

}  // namespace urnic::control
