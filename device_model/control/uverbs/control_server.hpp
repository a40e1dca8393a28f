// The device nodes of a run directory: a socket per device, and the connections that programs make by opening
// /dev/infiniband/uverbsN.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "device_model/control/loop/event_loop.hpp"
#include "device_model/control/loop/listening_socket.hpp"
#include "device_model/control/objects/context_registry.hpp"

namespace urnic::control {

class Account;
class Connection;
class Context;
class CopierParent;
class Fabric;
struct KernelCommands;
struct ServedDevice;

// Settings of all sessions of a server (session.hpp).
struct ControlServerOptions {
  bool refuse_own_process = false;
  CopierParent* copiers = nullptr;
  const KernelCommands* kernel_commands = nullptr;  // of devices with the mlx5 face
};

class ControlServer {
 public:
  // Loop, fabric, disposal and copiers outlive it. Throws std::system_error.
  ControlServer(EventLoop& loop, Fabric& fabric, DescriptorDisposal& disposal,
                const ControlServerOptions& options);
  // Closes all connections and destroys all objects of all programs.
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  // Listens for programs that open `device` at `node`.
  void serve(ServedDevice& device, const std::filesystem::path& node);
  // Takes over a connected socket, as if a program had opened `device`.
  void adopt(ServedDevice& device, memory::Descriptor socket);

  const ContextRegistry& contexts() const { return contexts_; }
  std::size_t connections() const { return connections_.size(); }
  // Called after a connection has begun or ended, or has been sent an answer.
  void on_change(std::function<void()> changed) { changed_ = std::move(changed); }

 private:
  // A context without a program, which is being destroyed.
  struct Ending;

  void close(std::uint64_t connection);
  void take_down(std::shared_ptr<Context> context, std::shared_ptr<Account> account);
  void note_change();

  EventLoop& loop_;
  Fabric& fabric_;
  DescriptorDisposal& disposal_;
  const ControlServerOptions options_;
  ContextRegistry contexts_;
  std::vector<std::unique_ptr<ListeningSocket>> nodes_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  std::list<Ending> endings_;
  std::uint64_t next_connection_ = 0;
  std::function<void()> changed_;
};

}  // namespace urnic::control
