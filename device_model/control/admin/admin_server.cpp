#include "device_model/control/admin/admin_server.hpp"

#include <sys/socket.h>

#include <algorithm>

#include "device_model/control/admin/active_capture.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/loop/peer.hpp"
#include "json/json.hpp"

namespace urnic::control {

AdminServer::AdminServer(const Surroundings& surroundings, const std::filesystem::path& socket)
    : surroundings_(surroundings),
      socket_(surroundings.loop, surroundings.disposal, socket, SOCK_STREAM,
              [this](memory::Descriptor connection) { adopt(std::move(connection)); }) {}

AdminServer::~AdminServer() = default;

void AdminServer::adopt(memory::Descriptor socket) {
  const std::uint64_t number = next_connection_++;
  AdminConnectionState initial;
  initial.account = surroundings_.fabric.quotas().account(peer_number(socket.get()));
  initial.connected = initial.account->charge(Resource::admin_connections, 1);
  connections_.emplace(number,
                       std::make_unique<AdminConnection>(
                           surroundings_.loop, surroundings_.disposal, std::move(socket), std::move(initial),
                           [this](const nlohmann::json& request, AdminConnectionState& state) {
                             return handle(request, state);
                           },
                           [this, number] { close(number); }));
}

void AdminServer::close(std::uint64_t connection) {
  connections_.erase(connection);
  surroundings_.changed();
}

std::size_t AdminServer::leases() const {
  return static_cast<std::size_t>(std::count_if(connections_.begin(), connections_.end(),
                                                [](const auto& entry) { return entry.second->has_lease(); }));
}

std::size_t AdminServer::captures() const {
  return static_cast<std::size_t>(
      std::count_if(connections_.begin(), connections_.end(),
                    [](const auto& entry) { return entry.second->has_capture(); }));
}

}  // namespace urnic::control
