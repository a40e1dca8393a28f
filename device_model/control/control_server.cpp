#include "device_model/control/control_server.hpp"

#include <sys/socket.h>

#include "device_model/control/peer.hpp"

namespace urnic::control {

namespace {

// The socket, the peer's pidfd, what a program introduces itself with (a pidfd, its memory, an event pipe's
// two ends) and what a context has (doorbells, a wake event, a first arena).
constexpr std::uint64_t kDescriptorsOfConnection = 10;

}  // namespace

ControlServer::ControlServer(EventLoop& loop, Fabric& fabric, DescriptorDisposal& disposal,
                             const ControlServerOptions& options)
    : loop_(loop), fabric_(fabric), disposal_(disposal), options_(options) {}

ControlServer::~ControlServer() = default;

void ControlServer::serve(ServedDevice& device, const std::filesystem::path& node) {
  nodes_.push_back(std::make_unique<ListeningSocket>(
      loop_, disposal_, node, SOCK_SEQPACKET,
      [this, &device](memory::Descriptor socket) { adopt(device, std::move(socket)); }));
}

void ControlServer::adopt(ServedDevice& device, memory::Descriptor socket) {
  const std::uint64_t number = next_connection_++;
  Session session{fabric_, device, contexts_, {}, {}, {}};
  session.disposal = &disposal_;
  session.refuse_own_process = options_.refuse_own_process;
  session.copiers = options_.copiers;
  const auto peer = std::make_shared<Peer>(socket.get());
  session.peer = peer->pid();
  session.account = fabric_.quotas().account(peer->pid());
  session.connected = session.account->charge(Resource::descriptors, kDescriptorsOfConnection);
  session.has_net_raw = [peer] { return peer->has_net_raw(); };
  connections_.emplace(number, std::make_unique<Connection>(
                                   loop_, disposal_, std::move(socket), std::move(session),
                                   [this] { note_change(); }, [this, number] { close(number); }));
  note_change();
}

void ControlServer::note_change() {
  if (changed_) changed_();
}

void ControlServer::close(std::uint64_t connection) {
  connections_.erase(connection);
  note_change();
}

}  // namespace urnic::control
