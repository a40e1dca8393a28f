// Serves sockets of NETLINK_RDMA to programs: what they learn in this way of devices, ports, objects,
// counters and device nodes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <unordered_map>

#include "device_model/control/loop/listening_socket.hpp"
#include "device_model/control/netlink/netlink_file.hpp"

namespace urnic::control::netlink {

class NetlinkServer {
 public:
  // Listens at `socket`; tells of the nodes in the tree `sysfs`, which is complete. The others outlive it.
  // Throws std::system_error.
  NetlinkServer(EventLoop& loop, DescriptorDisposal& disposal, Fabric& fabric,
                const ContextRegistry& contexts, const std::filesystem::path& socket,
                const std::filesystem::path& sysfs);
  ~NetlinkServer();
  NetlinkServer(const NetlinkServer&) = delete;
  NetlinkServer& operator=(const NetlinkServer&) = delete;

  // From now on also of rdma_cm identifiers. `source` outlives the server.
  void tell_of(const CmIdentifierSource& source) { surroundings_.subjects.cm_identifiers = &source; }

  std::size_t files() const { return files_.size(); }

  // How many sockets programs have opened so far. libibverbs opens one when it looks for devices.
  std::uint64_t opened() const { return next_file_; }

 private:
  void open(memory::Descriptor socket);

  CharacterNodes nodes_;
  Surroundings surroundings_;
  std::unordered_map<std::uint64_t, std::unique_ptr<NetlinkFile>> files_;
  std::uint64_t next_file_ = 0;
  ListeningSocket listener_;
};

}  // namespace urnic::control::netlink
