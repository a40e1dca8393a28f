#include "tests/unit/cm/golden_dialogue.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <stdexcept>

#include "tests/unit/wire/capture_file.hpp"
#include "wire/frame.hpp"

namespace urnic::cm::test {
namespace {

// The id by which a message's sender names the connection, and the one by which it names the peer's.
CommunicationId local_id(const Req& message) { return message.local_id; }
CommunicationId local_id(const SidrReq& message) { return {message.request_id.value}; }
CommunicationId local_id(const SidrRep&) { return {}; }
template <class T>
CommunicationId local_id(const T& message) {
  return message.local_id;
}
CommunicationId remote_id(const Req&) { return {}; }
CommunicationId remote_id(const SidrReq&) { return {}; }
CommunicationId remote_id(const SidrRep& message) { return {message.request_id.value}; }
template <class T>
CommunicationId remote_id(const T& message) {
  return message.remote_id;
}

CommunicationId local_id(const CmMessage& message) {
  return std::visit([](const auto& known) { return local_id(known); }, message);
}
CommunicationId remote_id(const CmMessage& message) {
  return std::visit([](const auto& known) { return remote_id(known); }, message);
}

bool begins_a_transaction(const CmMessage& message) {
  return std::holds_alternative<Req>(message) || std::holds_alternative<Dreq>(message) ||
         std::holds_alternative<SidrReq>(message);
}

bool says_that_nobody_listens(const CmMessage& message) {
  if (const Rej* rej = std::get_if<Rej>(&message)) return rej->reason == RejectReason::invalid_service_id;
  if (const SidrRep* rep = std::get_if<SidrRep>(&message))
    return rep->status == SidrStatus::unsupported_service;
  return false;
}

template <std::size_t kSize>
bool is_empty(const std::array<std::byte, kSize>& bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{}; });
}

// Puts the id in the place of the one by which the message names the receiver's connection.
struct NameReceiver {
  CommunicationId id;
  void operator()(Req&) const {}
  void operator()(SidrReq&) const {}
  void operator()(SidrRep& message) const { message.request_id = {id.value}; }
  template <class T>
  void operator()(T& message) const {
    message.remote_id = id;
  }
};

// Takes over from `golden` what a manager chooses freely.
struct TakeOverChoices {
  const CmMessage& golden;
  void operator()(Req& message) const {
    message.local_id = std::get<Req>(golden).local_id;
    message.starting_psn = std::get<Req>(golden).starting_psn;
  }
  void operator()(Rep& message) const {
    message.local_id = std::get<Rep>(golden).local_id;
    message.starting_psn = std::get<Rep>(golden).starting_psn;
  }
  void operator()(SidrReq& message) const { message.request_id = std::get<SidrReq>(golden).request_id; }
  void operator()(SidrRep&) const {}
  template <class T>
  void operator()(T& message) const {
    // 0 is no choice.
    if (message.local_id != CommunicationId{}) message.local_id = std::get<T>(golden).local_id;
  }
};

wire::mad::Guid guid_of(const std::vector<GoldenMessage>& messages, const wire::Gid& host) {
  for (const GoldenMessage& message : messages) {
    if (message.source != host) continue;
    if (const Req* req = std::get_if<Req>(&message.message)) return req->local_ca_guid;
    if (const Rep* rep = std::get_if<Rep>(&message.message)) return rep->local_ca_guid;
  }
  return {};
}

Path path_of(const Req& req) {
  Path path;
  path.own = req.primary.local_gid;
  path.peer = req.primary.remote_gid;
  path.flow_label = req.primary.flow_label;
  path.traffic_class = req.primary.traffic_class;
  path.hop_limit = req.primary.hop_limit;
  path.mtu = req.path_mtu;
  path.pkey = req.pkey;
  return path;
}

}  // namespace

std::vector<GoldenMessage> golden_messages(std::size_t first, std::size_t last) {
  static const auto frames = wire::test::read_capture(URNIC_GOLDEN_DIR "/soft-roce-cm.pcap");
  std::vector<GoldenMessage> messages;
  for (std::size_t number = first; number <= last; ++number) {
    wire::ParsedFrame frame;
    if (parse(std::span<const std::byte>(frames.at(number - 1)), frame) != wire::ParseError::none) {
      throw std::runtime_error("a frame of the capture is damaged");
    }
    if (frame.transport.bth.destination != wire::Qpn{1}) continue;
    GoldenMessage message{
        number, frame.network.source, frame.network.destination, frame.network.hop_limit, {}, {}, {}};
    if (decode(frame.payload, message.message) != MadError::none) continue;
    decode(frame.payload, message.header);
    std::ranges::copy(frame.payload, message.mad.begin());
    messages.push_back(message);
  }
  return messages;
}

GoldenDialogue::GoldenDialogue(std::vector<GoldenMessage> messages, bool active, const LostMessage& lost)
    : messages_(std::move(messages)),
      lost_(lost),
      own_(active ? messages_.front().source : messages_.front().destination),
      linux_(1, {}) {
  linux_.guid = guid_of(messages_, own_);
  linux_.on_send = [this](const SentMad& mad) { outbox_.push_back(mad.mad); };
  linux_.on_event = [this](const Event& event) {
    if (event.told == Told::requested) requests_[std::get<Req>(event.message).local_id] = event.id;
    if (event.told == Told::sidr_requested) requests_[local_id(std::get<SidrReq>(event.message))] = event.id;
  };
}

void GoldenDialogue::play() {
  for (const GoldenMessage& message : messages_) {
    BOOST_TEST_CONTEXT("frame " << message.frame) {
      now_ += 1ms;
      if (is_ours(message)) {
        say(message);
      } else {
        hear(message);
      }
    }
    if (message.frame != lost_.behind) continue;
    for (const GoldenMessage& later : messages_) {
      if (later.frame != lost_.like || !is_ours(later)) continue;
      cause(later);
      outbox_.clear();
    }
  }
  BOOST_TEST(outbox_.empty());
}

void GoldenDialogue::hear(GoldenMessage message) {
  BOOST_TEST(outbox_.empty());
  const CommunicationId golden = remote_id(message.message);
  if (const auto own = ids_.find(golden); own != ids_.end()) {
    std::visit(NameReceiver{own->second}, message.message);
  }
  TransactionId transaction = message.header.transaction;
  if (const auto own = transactions_.find(transaction); own != transactions_.end()) transaction = own->second;
  listen_as_linux_did(message);
  const GsiAddress from{message.destination, message.source, message.hop_limit};
  const Mad mad = std::visit([&](const auto& known) { return encode(known, transaction); }, message.message);
  const auto rejections = [&] {
    return std::ranges::count(linux_.events, Told::rejected, [](const Event& event) { return event.told; });
  };
  const auto before = rejections();
  linux_.manager.receive({}, from, mad, now_);
  BOOST_TEST(rejections() - before == (std::holds_alternative<Rej>(message.message) ? 1 : 0));
}

void GoldenDialogue::listen_as_linux_did(const GoldenMessage& request) {
  ServiceId service;
  if (const Req* req = std::get_if<Req>(&request.message)) service = req->service;
  if (const SidrReq* req = std::get_if<SidrReq>(&request.message)) service = req->service;
  if (service == ServiceId{}) return;
  const bool nobody = std::ranges::any_of(messages_, [&](const GoldenMessage& answer) {
    return is_ours(answer) && remote_id(answer.message) == local_id(request.message) &&
           says_that_nobody_listens(answer.message);
  });
  if (nobody) return linux_.manager.stop_listening(service);
  linux_.manager.listen(service, 2);
}

void GoldenDialogue::say(const GoldenMessage& message) {
  cause(message);
  BOOST_REQUIRE(!outbox_.empty());
  const Mad sent = outbox_.front();
  outbox_.pop_front();
  compare(message, sent);
}

void GoldenDialogue::cause(const GoldenMessage& message) {
  const bool repeated =
      !said_.emplace(message.header.attribute.value, local_id(message.message).value).second;
  if (!outbox_.empty()) return;
  if (!repeated) return std::visit([this](const auto& known) { act(known); }, message.message);
  while (outbox_.empty() && linux_.manager.next_deadline()) {
    now_ = *linux_.manager.next_deadline();
    linux_.manager.expire(now_);
  }
}

CommunicationId GoldenDialogue::own_id(CommunicationId golden, CommunicationId remote) {
  if (const auto own = ids_.find(golden); own != ids_.end()) return own->second;
  if (const auto own = requests_.find(remote); own != requests_.end()) return own->second;
  return {};
}

void GoldenDialogue::act(const Req& message) {
  ConnectParameters parameters;
  parameters.path = path_of(message);
  parameters.service_id = message.service;
  parameters.qpn = message.local_qpn;
  parameters.srq = message.srq;
  parameters.flow_control = message.end_to_end_flow_control;
  parameters.responder_resources = message.responder_resources;
  parameters.initiator_depth = message.initiator_depth;
  parameters.retry_count = message.retry_count;
  parameters.rnr_retry_count = message.rnr_retry_count;
  parameters.private_data = message.private_data;
  parameters.ece = message.ece;
  linux_.manager.connect(parameters, now_);
}

void GoldenDialogue::act(const Rej& message) {
  const CommunicationId id = own_id(message.local_id, message.remote_id);
  if (is_empty(message.private_data)) return linux_.manager.destroy(id, now_);
  linux_.manager.reject(id, {message.reason, message.private_data}, now_);
}

void GoldenDialogue::act(const Rep& message) {
  ReplyParameters parameters;
  parameters.qpn = message.local_qpn;
  parameters.srq = message.srq;
  parameters.flow_control = message.end_to_end_flow_control;
  parameters.responder_resources = message.responder_resources;
  parameters.initiator_depth = message.initiator_depth;
  parameters.rnr_retry_count = message.rnr_retry_count;
  parameters.private_data = message.private_data;
  parameters.ece = message.ece;
  linux_.manager.reply(own_id(message.local_id, message.remote_id), parameters, now_);
}

void GoldenDialogue::act(const Rtu& message) {
  linux_.manager.ready(own_id(message.local_id, message.remote_id));
}

void GoldenDialogue::act(const Dreq& message) {
  linux_.manager.disconnect(own_id(message.local_id, message.remote_id), now_);
}

void GoldenDialogue::act(const Drep& message) {
  linux_.manager.disconnect(own_id(message.local_id, message.remote_id), now_);
}

void GoldenDialogue::act(const SidrReq& message) {
  SidrRequestParameters parameters;
  parameters.path.own = own_;
  parameters.path.pkey = message.pkey;
  parameters.service_id = message.service;
  parameters.private_data = message.private_data;
  linux_.manager.sidr_request(parameters, now_);
}

void GoldenDialogue::act(const SidrRep& message) {
  const CommunicationId id = own_id({}, remote_id(CmMessage{message}));
  if (message.status == SidrStatus::rejected && is_empty(message.private_data)) {
    return linux_.manager.destroy(id, now_);
  }
  linux_.manager.sidr_reply(id,
                            {message.status, message.qpn, message.qkey, message.private_data, message.ece});
}

void GoldenDialogue::compare(const GoldenMessage& expected, const Mad& sent) {
  MadHeader header;
  CmMessage message;
  BOOST_REQUIRE((decode(sent, header) == MadError::none));
  BOOST_REQUIRE((decode(sent, message) == MadError::none));
  BOOST_REQUIRE_EQUAL(message.index(), expected.message.index());
  const CommunicationId golden = local_id(expected.message);
  const CommunicationId own = local_id(message);
  BOOST_TEST((own == CommunicationId{}) == (golden == CommunicationId{}));
  if (golden != CommunicationId{}) BOOST_TEST((ids_.emplace(golden, own).first->second == own));
  BOOST_TEST(remote_id(message).value == remote_id(expected.message).value);

  const TransactionId transaction = expected.header.transaction;
  if (begins_a_transaction(message)) transactions_.emplace(transaction, header.transaction);
  const auto known = transactions_.find(transaction);
  BOOST_TEST((header.transaction == (known == transactions_.end() ? transaction : known->second)));

  std::visit(TakeOverChoices{expected.message}, message);
  const Mad same = std::visit([&](const auto& ours) { return encode(ours, transaction); }, message);
  BOOST_TEST((same == expected.mad));
}

}  // namespace urnic::cm::test
