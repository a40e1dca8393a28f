#include "device_model/control/rdma_cm/rdma_cm_server.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "device_model/control/log/log.hpp"
#include "device_model/engine/engine.hpp"

namespace urnic::control::rdma_cm {
namespace {

// How often addresses that nobody has are looked for.
constexpr std::chrono::milliseconds kLookAgain{20};

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  const Name name = random_name();
  std::memcpy(&seed, name.data(), sizeof seed);
  return seed;
}

Name to_name(const abi::SocketName& name) {
  Name copy;
  static_assert(sizeof copy == sizeof name);
  std::memcpy(&copy, &name, sizeof copy);
  return copy;
}

// Of a command that is not answered.
bool is_none(const abi::SocketName& name) { return to_name(name) == Name{}; }

}  // namespace

RdmaCmServer::RdmaCmServer(EventLoop& loop, Fabric& fabric, Gsi& gsi, DescriptorDisposal& disposal,
                           std::function<bool()> has_administration, const std::filesystem::path& node)
    : loop_(loop),
      fabric_(fabric),
      gsi_(gsi),
      disposal_(disposal),
      host_(loop, fabric, gsi,
            [this] {
              rdma_cm_.connections().expire(steady_now());
              rdma_cm_.send_tokens();
            }),
      administration_host_(loop, fabric, gsi,
                           [this] {
                             rdma_cm_.administration().expire(steady_now());
                             rdma_cm_.send_tokens();
                           }),
      rdma_cm_(fabric, {host_, administration_host_, std::move(has_administration)}, steady_now,
               {.seed = random_seed()}, loop.work()),
      address_timer_(loop, [this] { look_for_addresses(); }),
      node_(loop, disposal, node, SOCK_SEQPACKET,
            [this](memory::Descriptor socket) { accept(std::move(socket)); }) {
  host_.on_mad([this](cm::DeviceIndex device, const cm::GsiAddress& from, const wire::mad::Mad& mad) {
    rdma_cm_.connections().receive(device, from, mad, steady_now());
    rdma_cm_.send_tokens();
  });
  administration_host_.on_answer(
      [this](subnet::NodeIndex adapter, wire::Lid source, const wire::mad::Mad& mad) {
        if (!rdma_cm_.administration().receive(adapter, source, mad)) return false;
        rdma_cm_.send_tokens();
        return true;
      });
}

RdmaCmServer::~RdmaCmServer() { host_.stop(); }

void RdmaCmServer::accept(memory::Descriptor socket) {
  const std::uint64_t number = next_connection_++;
  auto& place = connections_[number];
  try {
    place = std::make_unique<Connection>(
        loop_, disposal_, fabric_.quotas(), std::move(socket),
        [this, &place](std::span<const std::byte> message) { return handle(*place, message); },
        [this, number] { close(number); });
  } catch (...) {
    connections_.erase(number);
    throw;
  }
  note_change();
}

void RdmaCmServer::close(std::uint64_t number) {
  const auto closed = connections_.extract(number);
  const Connection& connection = *closed.mapped();
  if (connection.reply_name) reply_sockets_.erase(*connection.reply_name);
  if (connection.channel_name) named_channels_.erase(*connection.channel_name);
  if (connection.channel != nullptr) rdma_cm_.close(*connection.channel);
  note_change();
}

void RdmaCmServer::note_change() {
  if (changed_) changed_();
}

bool RdmaCmServer::handle(Connection& connection, std::span<const std::byte> message) {
  abi::RdmaCmRequest request{};
  if (message.size() < sizeof request) return false;
  std::memcpy(&request, message.data(), sizeof request);
  const auto rest = message.subspan(sizeof request);
  if (request.magic != abi::kRdmaCmMagic || connection.reply_name) return false;
  switch (static_cast<abi::RdmaCmRequestKind>(request.kind)) {
    case abi::RdmaCmRequestKind::open_reply_socket:
      return connection.channel == nullptr && open_reply_socket(connection);
    case abi::RdmaCmRequestKind::command:
      return execute(connection, request, rest);
    case abi::RdmaCmRequestKind::name_channel:
      return name_channel(connection, request);
  }
  return false;
}

bool RdmaCmServer::open_reply_socket(Connection& connection) {
  const Name name = random_name();
  connection.reply_name = name;
  reply_sockets_[name] = &connection;
  const abi::RdmaCmReply reply{abi::kRdmaCmMagic, 0, 0, sizeof name, 0};
  const std::array changes{rdma_cm_.identifiers().changes().descriptor()};
  return connection.answer(reply, std::as_bytes(std::span(name)), {}, changes);
}

bool RdmaCmServer::execute(Connection& connection, const abi::RdmaCmRequest& request,
                           std::span<const std::byte> rest) {
  const bool fits = request.command_length <= abi::kMaxRdmaCmCommand &&
                    request.option_length <= abi::kMaxRdmaCmOption &&
                    rest.size() == std::size_t{request.command_length} + request.option_length;
  if (!fits) return false;
  if (connection.channel == nullptr)
    connection.channel =
        &rdma_cm_.open(connection.opener(), [&connection] { return connection.send_token(); });
  if (request.takes_events != 0) let_tokens_carry_events(connection);
  Channel* const old_channel = take_named_channel(request.channel);
  Answer result;
  {
    Gsi::Look arrivals(gsi_);
    rdma_cm_.execute(*connection.channel, rest.first(request.command_length),
                     rest.subspan(request.command_length), old_channel, result, request.token);
    // Before the answer: then the program finds the event at its first look.
    rdma_cm_.send_tokens();
    // Also before the answer, after which this program waits for what the other one does now.
    arrivals.take();
  }
  if (!is_none(request.reply)) {
    // The program discards on the old channel what MIGRATE_ID has taken away from there.
    Channel& emptied = old_channel != nullptr ? *old_channel : *connection.channel;
    const abi::RdmaCmReply reply{abi::kRdmaCmMagic, result.error, emptied.excess_tokens(),
                                 static_cast<std::uint32_t>(result.length),
                                 static_cast<std::uint32_t>(result.further_length)};
    answer(request.reply, reply, result.bytes(), result.further_bytes());
  }
  if (!rdma_cm_.resolutions().empty() && !address_timer_.is_set()) address_timer_.set(kLookAgain);
  return true;
}

void RdmaCmServer::let_tokens_carry_events(Connection& connection) {
  if (std::exchange(connection.takes_events, true) || !connection.unread()) return;
  rdma_cm_.carry_events(
      *connection.channel,
      [this, &connection](const Answer& answer, std::uint32_t number) {
        return connection.send_event(answer, number, rdma_cm_.identifiers().changes().withdrawals());
      },
      [&connection] { return connection.unread().value_or(0); });
}

bool RdmaCmServer::name_channel(Connection& connection, const abi::RdmaCmRequest& request) {
  if (connection.channel == nullptr)
    connection.channel =
        &rdma_cm_.open(connection.opener(), [&connection] { return connection.send_token(); });
  if (connection.channel_name) named_channels_.erase(*connection.channel_name);
  const Name name = random_name();
  connection.channel_name = name;
  named_channels_[name] = &connection;
  answer(request.reply, {abi::kRdmaCmMagic, 0, 0, sizeof name, 0}, std::as_bytes(std::span(name)));
  return true;
}

// A name serves once.
Channel* RdmaCmServer::take_named_channel(const abi::SocketName& name) {
  const auto found = named_channels_.find(to_name(name));
  if (found == named_channels_.end()) return nullptr;
  Connection& named = *found->second;
  named_channels_.erase(found);
  named.channel_name.reset();
  return named.channel;
}

void RdmaCmServer::answer(const abi::SocketName& name, const abi::RdmaCmReply& reply,
                          std::span<const std::byte> bytes, std::span<const std::byte> further) {
  const auto found = reply_sockets_.find(to_name(name));
  if (found == reply_sockets_.end()) return;
  if (!found->second->answer(reply, bytes, further))
    log::debug("an answer of rdma_cm is lost: {}", std::strerror(errno));
}

void RdmaCmServer::look_for_addresses() {
  rdma_cm_.resolutions().look_again();
  rdma_cm_.send_tokens();
  if (!rdma_cm_.resolutions().empty()) address_timer_.set(kLookAgain);
}

}  // namespace urnic::control::rdma_cm
