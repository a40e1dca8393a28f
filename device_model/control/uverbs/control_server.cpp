#include "device_model/control/uverbs/control_server.hpp"

#include <sys/socket.h>

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/loop/peer.hpp"
#include "device_model/control/uverbs/connection.hpp"

namespace urnic::control {

namespace {

// The socket, the peer's pidfd, what the program sends (a pidfd, its memory, both ends of an event pipe) and
// what a context has (doorbells, a wake event, a first arena).
constexpr std::uint64_t kDescriptorsOfConnection = 10;

}  // namespace

struct ControlServer::Ending {
  Ending(std::shared_ptr<Context> taken_down, std::shared_ptr<Account> of)
      : context(std::move(taken_down)), account(std::move(of)) {
    account->begin_ending();
  }
  ~Ending() { account->finish_ending(); }
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

  std::shared_ptr<Context> context;
  std::shared_ptr<Account> account;
  WorkInPortions::Work work;
};

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
  if (device.settings.face == Face::mlx5) session.kernel_commands = options_.kernel_commands;
  const auto peer = std::make_shared<Peer>(socket.get());
  session.peer = peer->pid();
  session.account = fabric_.quotas().account(peer->pid());
  session.connected = session.account->charge(Resource::descriptors, kDescriptorsOfConnection);
  session.peer_pidfd = [peer] { return peer->pidfd(); };
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
  const auto closed = connections_.extract(connection);
  if (auto context = closed.mapped()->take_context())
    take_down(std::move(context), closed.mapped()->account());
  note_change();
}

// In portions: other programs would wait while thousands of objects are destroyed.
void ControlServer::take_down(std::shared_ptr<Context> context, std::shared_ptr<Account> account) {
  context->ending = true;
  const auto ending = endings_.emplace(endings_.end(), std::move(context), std::move(account));
  ending->work = WorkInPortions::Work(loop_.work(), [this, ending] {
    if (ending->context->remove_portion()) return true;
    endings_.erase(ending);
    note_change();
    return false;
  });
}

}  // namespace urnic::control
