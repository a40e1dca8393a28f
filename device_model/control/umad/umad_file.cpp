#include "device_model/control/umad/umad_file.hpp"

#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <type_traits>

#include "device_model/control/log/log.hpp"
#include "device_model/control/loop/message_socket.hpp"
#include "device_model/control/umad/packet_rest.hpp"
#include "device_model/control/umad/umad_address.hpp"
#include "device_model/control/umad/unread_mark.hpp"
#include "wire/identifiers.hpp"
#include "wire/mad/smp.hpp"

namespace urnic::control {
namespace {

using wire::mad::ManagementClass;
using wire::mad::Method;

// The socket, the peer's pidfd, the timer, and a long packet's stream.
constexpr std::uint64_t kDescriptorsOfFile = 4;
constexpr unsigned kMessagesPerTurn = 64;
constexpr std::uint32_t kOver = EPOLLHUP | EPOLLRDHUP | EPOLLERR;
constexpr std::uint32_t kIncoming = EPOLLIN | EPOLLRDHUP | EPOLLET;
constexpr std::uint64_t kBytesOfFile = 2 * UnreadPackets::kBytes + PendingRequests::kMost * 1024;
constexpr std::uint64_t kBytesOfAgent = 16 * 1024;  // an entry for each method
// What a packet has to have behind its header, as in Linux.
constexpr std::size_t kLeastMad = 36;
// Of each direction. What grows may have as much memory again.
constexpr std::size_t kMostBytesOfMessages = abi::kMostUmadBytes;
constexpr std::size_t kGrowth = 2;
// Of a file in memory: at once, and in each portion of work afterwards.
constexpr std::size_t kReadAtOnce = std::size_t{64} << 10;
constexpr std::size_t kReadInPortion = std::size_t{1} << 20;
// In place of an errno: the answer comes when all is read.
constexpr int kLater = -1;

template <class Value>
std::vector<std::byte> bytes_of(const Value& value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  return {bytes.begin(), bytes.end()};
}

PendingRequests::Key key_of(const wire::mad::MadHeader& header) {
  return {header.transaction.value, header.management_class};
}

bool is_request(const wire::mad::MadHeader& header) {
  return !is_response(header.method) && header.method != Method::trap_repress;
}

bool awaits_answer(const UmadPacket& packet) {
  wire::mad::MadHeader header;
  wire::mad::decode(packet.mad, header);
  return is_request(header) && packet.header.timeout_ms != 0;
}

int error_of(GsiSent sent) {
  switch (sent) {
    case GsiSent::bad_address:
      return EINVAL;
    case GsiSent::no_route:
      return ETIMEDOUT;  // as address handles to nobody (uverbs/path_resolution.hpp)
    case GsiSent::sent:
    case GsiSent::busy:  // lost, as it may be on the network
      break;
  }
  return 0;
}

}  // namespace

UmadFile::UmadFile(const Surroundings& surroundings, ServedDevice& device, memory::Descriptor socket,
                   std::function<void()> closed)
    : surroundings_(surroundings),
      device_(device),
      peer_(socket.get()),
      socket_(std::move(socket)),
      closed_(std::move(closed)),
      account_(surroundings.fabric.quotas().account(peer_.pid())),
      charge_(account_->charge(Resource::descriptors, kDescriptorsOfFile, kBytesOfFile)),
      outgoing_memory_(account_, kMostBytesOfMessages),
      incoming_memory_(account_, kGrowth * kMostBytesOfMessages),
      exchanges_({.transmit = [this](const GsiAddress& to, const wire::mad::Mad& mad) { transmit(to, mad); },
                  .arrived =
                      [this](std::uint32_t id, const GsiAddress& from, std::vector<std::byte> message) {
                        take_message(agents_[id]->agent, from, std::move(message));
                      },
                  .ended = [this](const RmppMessage& message) { message_ended(message); },
                  .may_send = [this](std::size_t bytes) { return outgoing_memory_.hold_as_asked(bytes); },
                  .may_receive = [this](std::size_t bytes) { return incoming_memory_.hold(kGrowth * bytes); },
                  .has_room = [this] { return surroundings_.gsi.has_room(device_); }}),
      unread_(surroundings.loop, socket_.get(), account_, device.settings.name, [this] { hand_over(); }),
      timer_(surroundings.loop, [this] { expire(); }),
      watch_(surroundings.loop, socket_.get(), kIncoming, [this](std::uint32_t events) { ready(events); }) {}

UmadFile::~UmadFile() {
  for (std::uint32_t id = 0; id < kAgents; ++id) remove_agent(id);
  watch_.reset();
  if (late_) surroundings_.disposal.close(late_->descriptors, peer_.pid());
  // Not shut down before: until it is closed, the program would read 0 (abi/umad_messages.hpp).
  surroundings_.disposal.close(std::move(socket_), peer_.pid());
}

void UmadFile::close() {
  watch_.reset();
  const auto closed = std::move(closed_);
  closed();
}

void UmadFile::ready(std::uint32_t events) {
  if ((events & EPOLLOUT) != 0) hand_over();
  const bool over = (events & kOver) != 0;
  if (!handle_all() || over) close();
}

// The messages that are there, but for a last mark: the loop tells of new ones only, or, after a turn's
// worth, of those that are left. A long one takes as long as many others, and those behind it wait for its
// answer.
bool UmadFile::handle_all() {
  int bytes = 0;
  if (late_) return true;
  long_request_ = false;
  for (unsigned handled = 0; handled < kMessagesPerTurn && !long_request_; ++handled) {
    if (ioctl(socket_.get(), FIONREAD, &bytes) != 0) return false;
    if (bytes <= static_cast<int>(abi::kUmadMarkBytes)) return is_mark_or_nothing(socket_.get());
    if (!handle_one()) return false;
  }
  watch_for(waits_for_room_);
  return true;
}

void UmadFile::watch_for(bool room) {
  waits_for_room_ = room;
  watch_.change(room ? kIncoming | EPOLLOUT : kIncoming);
}

// False: the connection is to be closed.
bool UmadFile::handle_one() {
  std::array<std::byte, sizeof(abi::UmadRequest) + abi::kMaxUmadPacket> message;
  std::vector<memory::Descriptor> descriptors;
  int flags = 0;
  const ssize_t length = receive_bytes(socket_.get(), message, descriptors, flags);
  if (length < 0) return errno == EAGAIN;
  if (length == abi::kUmadMarkBytes && descriptors.empty()) return true;
  std::optional<Answer> answer;
  if ((flags & (MSG_TRUNC | MSG_CTRUNC)) == 0 && !surroundings_.disposal.refuses(peer_.pid()))
    answer = handle(std::span(message).first(static_cast<std::size_t>(length)), descriptors);
  if (answer && answer->error == kLater) {
    late_->descriptors = std::move(descriptors);
    reading_ = WorkInPortions::Work(surroundings_.loop.work(), [this] { return read_more(); });
    return true;
  }
  if (answer) {
    reply(descriptors, *answer);
  } else if (length != 0) {
    log::warn("{}: pid {} sent {} bytes that are no umad request: connection closed", device_.settings.name,
              peer_.pid(), length);
  }
  surroundings_.disposal.close(descriptors, peer_.pid());
  return answer.has_value();
}

void UmadFile::reply(std::vector<memory::Descriptor>& descriptors, const Answer& answer) {
  std::vector<std::byte> bytes = bytes_of(abi::UmadReply{abi::kUmadMagic, answer.error});
  bytes.insert(bytes.end(), answer.argument.begin(), answer.argument.end());
  control::send_message(descriptors[0].get(), bytes, {});
}

// Empty: nonsense. The first descriptor is for the answer, the second one a packet's rest.
std::optional<UmadFile::Answer> UmadFile::handle(std::span<const std::byte> message,
                                                 const std::vector<memory::Descriptor>& descriptors) {
  abi::UmadRequest request{};
  if (message.size() < sizeof request || descriptors.empty() || !is_socket(descriptors[0].get())) return {};
  std::memcpy(&request, message.data(), sizeof request);
  if (request.magic != abi::kUmadMagic) return {};
  const auto kind = static_cast<abi::UmadRequestKind>(request.kind);
  Body body{message.subspan(sizeof request)};
  if (descriptors.size() == 1) return handle(kind, body);
  const bool may_have_rest = kind == abi::UmadRequestKind::write && body.bytes.size() == abi::kMaxUmadPacket;
  if (descriptors.size() > 2 || !may_have_rest) return {};
  body.rest = descriptors[1].get();
  long_request_ = true;
  return handle(kind, body);
}

std::optional<UmadFile::Answer> UmadFile::handle(abi::UmadRequestKind kind, const Body& body) {
  switch (kind) {
    case abi::UmadRequestKind::write:
      return Answer{write(body), {}};
    case abi::UmadRequestKind::register_agent:
      return register_agent<ib_user_mad_reg_req>(body.bytes);
    case abi::UmadRequestKind::register_agent2:
      return register_agent<ib_user_mad_reg_req2>(body.bytes);
    case abi::UmadRequestKind::unregister_agent:
      return Answer{unregister_agent(body.bytes), {}};
    case abi::UmadRequestKind::enable_pkey:
      return Answer{enable_pkey(), {}};
  }
  return {};
}

template <class Argument>
std::optional<UmadFile::Answer> UmadFile::register_agent(std::span<const std::byte> body) {
  Argument argument;
  if (body.size() != sizeof argument) return {};
  std::memcpy(&argument, body.data(), sizeof argument);
  if constexpr (requires { argument.flags; }) {
    if ((argument.flags & ~std::uint32_t{IB_USER_MAD_REG_FLAGS_CAP}) != 0) {
      argument.flags = IB_USER_MAD_REG_FLAGS_CAP;
      return Answer{EINVAL, bytes_of(argument)};
    }
  }
  std::uint32_t id = 0;
  const int error = add_agent(to_agent_request(argument), id);
  if (error != 0) return Answer{error, {}};
  if (!registered_) has_pkey_index_ |= std::is_same_v<Argument, ib_user_mad_reg_req2>;
  registered_ = true;
  argument.id = id;
  return Answer{0, bytes_of(argument)};
}

int UmadFile::add_agent(const AgentRequest& request, std::uint32_t& id) {
  if (request.qpn > 1) return EINVAL;
  const auto free = std::find(agents_.begin(), agents_.end(), nullptr);
  if (free == agents_.end()) return ENOMEM;
  if (const int error = check_agent(request)) return error;
  if (device_.settings.connection_manager && takes_connection_management(request)) return EINVAL;
  auto own = std::make_unique<OwnAgent>();
  try {
    own->charge = account_->charge(Resource::memory, kBytesOfAgent);
  } catch (const std::system_error& refused) {
    return refused.code().value();
  }
  id = static_cast<std::uint32_t>(free - agents_.begin());
  own->agent = {.file = this, .id = id, .device = device_.index, .request = request};
  if (const int error = surroundings_.agents.add(own->agent)) return error;
  *free = std::move(own);
  return 0;
}

int UmadFile::unregister_agent(std::span<const std::byte> body) {
  std::uint32_t id = kAgents;
  if (body.size() == sizeof id) std::memcpy(&id, body.data(), sizeof id);
  if (id >= kAgents || agents_[id] == nullptr) return EINVAL;
  remove_agent(id);
  return 0;
}

void UmadFile::remove_agent(std::uint32_t id) {
  if (agents_[id] == nullptr) return;
  surroundings_.agents.remove(agents_[id]->agent);
  pending_.drop_agent(id);
  exchanges_.drop_agent(id);
  agents_[id].reset();
}

int UmadFile::enable_pkey() {
  if (registered_) return EINVAL;
  has_pkey_index_ = true;
  return 0;
}

std::size_t UmadFile::header_bytes() const {
  return has_pkey_index_ ? sizeof(ib_user_mad_hdr) : sizeof(ib_user_mad_hdr_old);
}

int UmadFile::write(const Body& body) {
  if (body.bytes.size() < header_bytes() + kLeastMad) return EINVAL;
  UmadPacket packet;
  std::memcpy(&packet.header, body.bytes.data(), header_bytes());
  if (packet.header.id >= kAgents) return EINVAL;
  if (agents_[packet.header.id] == nullptr) return EIO;
  GsiAddress to;
  if (const int error = find_address(surroundings_.fabric, device_, packet.header, to)) return error;
  if (has_pkey_index_) to.pkey_index = packet.header.pkey_index;
  const Body mad{body.bytes.subspan(header_bytes()), body.rest};
  std::copy_n(mad.bytes.begin(), std::min(mad.bytes.size(), packet.mad.size()), packet.mad.begin());
  return send(packet, mad, to);
}

// A RoCE port has no QP0. Messages of the connection manager could end other programs' connections: they are
// as dangerous as raw packets.
int UmadFile::check_class(const UmadAgent& agent, ManagementClass management_class) const {
  const bool on_qp0 = agent.request.qpn == 0;
  const bool allowed = device_.adapter ? on_qp0 == is_subnet_management(management_class)
                                       : !on_qp0 && !is_subnet_management(management_class);
  if (!allowed) return EINVAL;
  if (management_class != ManagementClass::communication) return 0;
  return device_.settings.raw_packets == RawPackets::all || peer_.has_net_raw() ? 0 : EPERM;
}

// `mad` is the packet's datagram as the program wrote it: longer than the packet's if it is several.
int UmadFile::send(UmadPacket& packet, const Body& mad, const GsiAddress& to) {
  const UmadAgent& agent = agents_[packet.header.id]->agent;
  wire::mad::MadHeader header;
  wire::mad::RmppHeader rmpp;
  wire::mad::decode(packet.mad, header);
  wire::mad::decode(packet.mad, rmpp);
  if (const int error = check_class(agent, header.management_class)) return error;
  if (is_request(header)) {
    header.transaction.value = std::uint64_t{agent.number} << 32 | (header.transaction.value & 0xFFFF'FFFF);
    wire::mad::encode(header, packet.mad);
  }
  const bool awaits = awaits_answer(packet);
  const bool has_parts = agent.request.wants_rmpp() && has_rmpp(header.management_class) && rmpp.active;
  if (!has_parts && (mad.bytes.size() > packet.mad.size() || mad.rest >= 0)) return EINVAL;
  if (const int error = awaits ? pending_.check(key_of(header)) : 0) return error;
  const int error = has_parts ? send_message(packet, mad, to) : send_datagram(packet, to, awaits);
  if (awaits || has_parts) set_timer();
  return error;
}

// On InfiniBand the answer may come before `transmit` returns.
int UmadFile::send_datagram(UmadPacket& packet, const GsiAddress& to, bool awaits) {
  wire::mad::MadHeader header;
  wire::mad::decode(packet.mad, header);
  if (awaits)
    pending_.add(key_of(header), {.packet = packet, .to = to, .repetitions = packet.header.retries},
                 PendingRequests::Clock::now());
  const int error = transmit(to, packet.mad);
  if (awaits && error != 0) pending_.drop(key_of(header));
  return error;
}

int UmadFile::send_message(const UmadPacket& packet, const Body& mad, const GsiAddress& to) {
  const auto rest = mad.rest < 0 ? 0 : rest_bytes(mad.rest);
  if (!rest) return EINVAL;
  if (const int error = exchanges_.check(packet, mad.bytes.size() + *rest, to)) return error;
  LongWrite message(packet, to, mad.bytes, mad.rest, *rest);
  const LongWrite::State state = message.read(kReadAtOnce);
  if (state != LongWrite::State::under_way) return finish_message(message, state);
  late_.emplace(LateAnswer{std::move(message), {}});
  return kLater;
}

// A portion of work. Whether more is left.
bool UmadFile::read_more() {
  const LongWrite::State state = late_->message.read(kReadInPortion);
  if (state == LongWrite::State::under_way) return true;
  reply(late_->descriptors, {finish_message(late_->message, state), {}});
  surroundings_.disposal.close(late_->descriptors, peer_.pid());
  late_.reset();
  set_timer();
  watch_for(waits_for_room_);
  return false;
}

// Linux repeats a request that is such a message while it is being sent, but not once it has been
// acknowledged.
int UmadFile::finish_message(LongWrite& message, LongWrite::State state) {
  if (state == LongWrite::State::cut_off) {
    exchanges_.withdraw();
    return EINVAL;
  }
  const UmadPacket& packet = message.packet();
  std::vector<std::byte> bytes = message.take_message();
  std::copy_n(packet.mad.begin(), wire::mad::kMadHeaderBytes, bytes.begin());
  wire::mad::MadHeader header;
  wire::mad::decode(packet.mad, header);
  if (awaits_answer(packet)) pending_.add_leaving(key_of(header), {.packet = packet, .to = message.to()});
  exchanges_.send(packet, std::move(bytes), message.to(), PendingRequests::Clock::now());
  return 0;
}

// As on Linux, the program hears of a message that has timed out, and of no other end.
void UmadFile::message_ended(const RmppMessage& message) {
  wire::mad::MadHeader header;
  wire::mad::decode(message.packet.mad, header);
  const bool has_left = message.sender.state() == RmppSender::State::acknowledged;
  if (!is_response(header.method)) {
    if (has_left)
      pending_.has_left(key_of(header), PendingRequests::Clock::now());
    else
      pending_.drop(key_of(header));
  }
  if (message.sender.state() == RmppSender::State::timed_out) give_back(message.packet);
}

// 0 or an errno.
int UmadFile::transmit(const GsiAddress& to, MadBytes mad) {
  return error_of(device_.adapter ? surroundings_.ports.send(device_, to, mad)
                                  : surroundings_.gsi.send(device_, to, mad));
}

void UmadFile::expire() {
  pending_.expire(
      PendingRequests::Clock::now(),
      [this](const PendingRequest& request) { transmit(request.to, request.packet.mad); },
      [this](const PendingRequest& request) { give_back(request.packet); });
  exchanges_.expire(PendingRequests::Clock::now());
  set_timer();
}

// A packet that the program has written, because nobody has answered it.
void UmadFile::give_back(UmadPacket packet) {
  packet.header.status = ETIMEDOUT;
  queue(packet.header, std::span(packet.mad).first(wire::mad::kMadHeaderBytes));
}

void UmadFile::set_timer() {
  const auto never = PendingRequests::Clock::time_point::max();
  const auto due = std::min(pending_.next_due().value_or(never), exchanges_.next_due().value_or(never));
  if (due == never) return timer_.cancel();
  timer_.set(std::max<std::chrono::nanoseconds>(due - PendingRequests::Clock::now(), {}));
}

void UmadFile::take_request(const UmadAgent& agent, const GsiAddress& from, MadBytes mad,
                            const wire::mad::MadHeader& header) {
  if (!take_part(agent, from, mad, header)) queue(header_for(agent, from, mad.size()), mad);
}

bool UmadFile::take_response(const UmadAgent& agent, const GsiAddress& from, MadBytes mad,
                             const wire::mad::MadHeader& header) {
  if (take_part(agent, from, mad, header)) return true;
  // A program that joins messages itself gets every segment, and its acknowledgements.
  wire::mad::RmppHeader rmpp;
  wire::mad::decode(mad, rmpp);
  const bool is_own_part = agent.request.has_own_rmpp && has_rmpp(header.management_class) && rmpp.active;
  const bool was_awaited = pending_.take(key_of(header), from.peer).has_value();
  if (!was_awaited && !is_own_part) return false;
  // A request of several datagrams may be answered before its last acknowledgement comes.
  if (was_awaited) exchanges_.forget_request(key_of(header));
  set_timer();
  queue(header_for(agent, from, mad.size()), mad);
  return true;
}

// Whether the datagram is a part of a message of several.
bool UmadFile::take_part(const UmadAgent& agent, const GsiAddress& from, MadBytes mad,
                         const wire::mad::MadHeader& header) {
  if (!agent.request.wants_rmpp() || !has_rmpp(header.management_class)) return false;
  if (!exchanges_.take(agent.id, from, header, mad, RmppExchanges::Clock::now())) return false;
  set_timer();
  return true;
}

void UmadFile::take_message(const UmadAgent& agent, const GsiAddress& from, std::vector<std::byte> message) {
  wire::mad::MadHeader header;
  wire::mad::Mad first{};
  std::copy_n(message.begin(), wire::mad::kMadHeaderBytes, first.begin());
  wire::mad::decode(first, header);
  if (is_response(header.method)) {
    if (!pending_.take(key_of(header), from.peer)) return;
    exchanges_.forget_request(key_of(header));
  }
  const ib_user_mad_hdr own = header_for(agent, from, message.size());
  if (message.size() <= wire::mad::kMadBytes) return queue(own, message);
  count_lost(unread_.add(std::as_bytes(std::span(&own, 1)).first(header_bytes()), std::move(message)));
}

ib_user_mad_hdr UmadFile::header_for(const UmadAgent& agent, const GsiAddress& from,
                                     std::size_t bytes) const {
  ib_user_mad_hdr header{};
  header.id = agent.id;
  header.length = static_cast<std::uint32_t>(header_bytes() + bytes);
  header.qpn = htonl(from.peer_qpn.value);
  header.lid = htons(device_.adapter ? from.lid : umad_lid_of(surroundings_.fabric, from.peer));
  header.grh_present = device_.adapter ? 0 : 1;
  header.gid_index = static_cast<std::uint8_t>(gid_index(device_, from.own).value_or(0));
  header.hop_limit = from.hop_limit;
  header.traffic_class = from.traffic_class;
  header.sl = from.service_level;
  std::copy(from.peer.bytes.begin(), from.peer.bytes.end(), header.gid);
  header.flow_label = htonl(from.flow_label);
  header.pkey_index = from.pkey_index;
  return header;
}

void UmadFile::queue(const ib_user_mad_hdr& header, std::span<const std::byte> mad) {
  std::vector<std::byte> bytes(header_bytes() + mad.size());
  std::memcpy(bytes.data(), &header, header_bytes());
  std::copy(mad.begin(), mad.end(), bytes.begin() + static_cast<std::ptrdiff_t>(header_bytes()));
  count_lost(unread_.add(std::move(bytes)));
}

void UmadFile::count_lost(bool is_queued) {
  if (!is_queued) ++device_.gsi.unclaimed;
  if (waits_for_room_ != unread_.awaits_room()) watch_for(unread_.awaits_room());
}

void UmadFile::hand_over() {
  unread_.hand_over();
  if (waits_for_room_ != unread_.awaits_room()) watch_for(unread_.awaits_room());
}

}  // namespace urnic::control
