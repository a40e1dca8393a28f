// The admin socket, with which the urnic command controls a device process (docs/admin-socket.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <unordered_map>
#include <vector>

#include "device_model/control/admin/admin_connection.hpp"
#include "device_model/control/fabric/configuration.hpp"
#include "device_model/control/loop/listening_socket.hpp"
#include "device_model/subnet/node.hpp"

namespace urnic::control {

class ActiveFaults;
class ControlServer;
class EngineWatch;
class Fabric;
struct NetworkNamespace;
struct ServedDevice;
class SubnetManager;
class SysfsTree;
namespace rdma_cm {
class RdmaCmServer;
}

class AdminServer {
 public:
  struct Surroundings {
    EventLoop& loop;
    DescriptorDisposal& disposal;
    Fabric& fabric;
    const NetworkNamespace& network;
    const ControlServer& control;
    const SysfsTree& sysfs;
    rdma_cm::RdmaCmServer& rdma_cm;
    ActiveFaults& faults;
    const SubnetManager& manager;
    // Pulls the cables of these ports of the InfiniBand fabric, or plugs them in again.
    std::function<void(const std::vector<subnet::PortPlace>& places, bool is_plugged)> set_cables;
    const EngineWatch& watch;
    std::function<std::uint64_t()> openings;  // how often programs have opened a device so far
    std::function<std::uint64_t()> lookups;   // how often they have looked for devices
    std::function<void()> changed;            // a lease has begun or ended
    std::function<void()> keep;               // the process stays even when unused
    ConfigurationSource source;
    std::function<bool()> is_about_to_end;  // nothing uses it, and its linger time runs
    // Runs a "down" request. The requesting connection is closed when everything else is gone: its other end
    // waits for that.
    std::function<void(memory::Descriptor waiting)> shut_down;
  };

  AdminServer(const Surroundings& surroundings, const std::filesystem::path& socket);
  ~AdminServer();

  std::size_t leases() const;
  int listening_descriptor() const { return socket_.descriptor(); }

 private:
  using Handler = nlohmann::json (AdminServer::*)(const nlohmann::json&, AdminConnectionState&);

  void adopt(memory::Descriptor socket);
  void close(std::uint64_t connection);
  std::size_t captures() const;

  // admin_commands.cpp. A std::exception becomes the answer {"error": …}.
  nlohmann::json handle(const nlohmann::json& request, AdminConnectionState& state);
  nlohmann::json status(const nlohmann::json& request, AdminConnectionState& state);
  nlohmann::json counters(const nlohmann::json& request, AdminConnectionState& state);
  nlohmann::json lease(const nlohmann::json& request, AdminConnectionState& state);
  nlohmann::json keep(const nlohmann::json& request, AdminConnectionState& state);
  nlohmann::json capture(const nlohmann::json& request, AdminConnectionState& state);
  nlohmann::json source(const nlohmann::json& request, AdminConnectionState& state);
  nlohmann::json make_way(const nlohmann::json& request, AdminConnectionState& state);
  nlohmann::json down(const nlohmann::json& request, AdminConnectionState& state);
  // queue_pair_commands.cpp
  nlohmann::json queue_pairs(const nlohmann::json& request, AdminConnectionState& state);
  nlohmann::json queue_pair(const nlohmann::json& request, AdminConnectionState& state);
  // network_command.cpp
  nlohmann::json network(const nlohmann::json& request, AdminConnectionState& state);
  // subnet_command.cpp
  nlohmann::json subnet(const nlohmann::json& request, AdminConnectionState& state);
  // station_command.cpp
  nlohmann::json station(const nlohmann::json& request, AdminConnectionState& state);
  nlohmann::json station_in_subnet(const ServedDevice& device, const nlohmann::json& request,
                                   AdminConnectionState& state);
  // link_commands.cpp
  nlohmann::json link(const nlohmann::json& request, AdminConnectionState& state);
  // set_command.cpp
  nlohmann::json set(const nlohmann::json& request, AdminConnectionState& state);
  // gid_commands.cpp
  nlohmann::json gid(const nlohmann::json& request, AdminConnectionState& state);
  // fault_commands.cpp
  nlohmann::json fault(const nlohmann::json& request, AdminConnectionState& state);
  nlohmann::json describe_device(const ServedDevice& device) const;

  Surroundings surroundings_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::unordered_map<std::uint64_t, std::unique_ptr<AdminConnection>> connections_;
  std::uint64_t next_connection_ = 0;
  ListeningSocket socket_;
};

}  // namespace urnic::control
