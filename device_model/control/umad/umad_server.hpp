// /dev/infiniband/umadN of every device: management datagrams for programs, such as those of
// infiniband-diags.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <unordered_map>
#include <vector>

#include "device_model/control/gsi/gsi.hpp"
#include "device_model/control/loop/listening_socket.hpp"
#include "device_model/control/umad/agents.hpp"
#include "device_model/control/umad/infiniband_ports.hpp"
#include "device_model/control/umad/manager_file.hpp"
#include "device_model/control/umad/umad_file.hpp"

namespace urnic::control {

class UmadServer {
 public:
  // Takes what no class's handler of `gsi` takes. All outlive it.
  UmadServer(EventLoop& loop, Fabric& fabric, Gsi& gsi, DescriptorDisposal& disposal);
  ~UmadServer();
  UmadServer(const UmadServer&) = delete;
  UmadServer& operator=(const UmadServer&) = delete;

  // Listens for programs that open `device` at `node`. Throws std::system_error.
  void serve(ServedDevice& device, const std::filesystem::path& node);
  // The same for the node by which a program says that it is the port's subnet manager; an InfiniBand
  // device's.
  void serve_manager(ServedDevice& device, const std::filesystem::path& node);
  std::size_t files() const { return files_.size(); }
  // How often programs have opened a node so far.
  std::uint64_t opened() const { return next_file_; }
  InfinibandPorts& infiniband_ports() { return ports_; }

 private:
  void open(ServedDevice& device, memory::Descriptor socket);
  bool take(const ServedDevice& device, const GsiAddress& from, MadBytes mad);

  UmadAgents agents_;
  InfinibandPorts ports_;
  UmadFile::Surroundings surroundings_;
  std::vector<std::unique_ptr<ListeningSocket>> nodes_;
  std::deque<ManagerSeat> seats_;
  std::unordered_map<std::uint64_t, std::unique_ptr<UmadFile>> files_;
  std::unordered_map<std::uint64_t, std::unique_ptr<ManagerFile>> managers_;
  std::uint64_t next_file_ = 0;
};

}  // namespace urnic::control
