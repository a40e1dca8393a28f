// The node /dev/infiniband/rdma_cm: channels and reply sockets of programs (abi/rdma_cm_messages.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>

#include "device_model/control/loop/listening_socket.hpp"
#include "device_model/control/rdma_cm/administration_host.hpp"
#include "device_model/control/rdma_cm/connection.hpp"
#include "device_model/control/rdma_cm/gsi_host.hpp"
#include "device_model/control/rdma_cm/rdma_cm.hpp"

namespace urnic::control::rdma_cm {

class RdmaCmServer {
 public:
  // Listens at `node`. The others outlive it. `has_administration`: whether the manager of the InfiniBand
  // fabric answers requests of subnet administration. Throws std::system_error.
  RdmaCmServer(EventLoop& loop, Fabric& fabric, Gsi& gsi, DescriptorDisposal& disposal,
               std::function<bool()> has_administration, const std::filesystem::path& node);
  // Closes all connections; all identifiers of all programs go.
  ~RdmaCmServer();
  RdmaCmServer(const RdmaCmServer&) = delete;
  RdmaCmServer& operator=(const RdmaCmServer&) = delete;

  // Whether a program has the node open.
  bool is_used() const { return !connections_.empty(); }
  // Called after a connection has come or gone.
  void on_change(std::function<void()> changed) { changed_ = std::move(changed); }
  RdmaCm& rdma_cm() { return rdma_cm_; }

 private:
  void accept(memory::Descriptor socket);
  void close(std::uint64_t number);
  void note_change();
  // False: the message is nonsense.
  bool handle(Connection& connection, std::span<const std::byte> message);
  bool open_reply_socket(Connection& connection);
  bool execute(Connection& connection, const abi::RdmaCmRequest& request, std::span<const std::byte> rest);
  void let_tokens_carry_events(Connection& connection);
  bool name_channel(Connection& connection, const abi::RdmaCmRequest& request);
  Channel* take_named_channel(const abi::SocketName& name);
  // To the reply socket `name`; nothing if there is none.
  void answer(const abi::SocketName& name, const abi::RdmaCmReply& reply, std::span<const std::byte> bytes,
              std::span<const std::byte> further = {});
  void look_for_addresses();

  EventLoop& loop_;
  Fabric& fabric_;
  Gsi& gsi_;
  DescriptorDisposal& disposal_;
  GsiHost host_;
  AdministrationHost administration_host_;
  RdmaCm rdma_cm_;
  Timer address_timer_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  std::map<Name, Connection*> reply_sockets_;
  std::map<Name, Connection*> named_channels_;
  std::uint64_t next_connection_ = 0;
  std::function<void()> changed_;
  ListeningSocket node_;
};

}  // namespace urnic::control::rdma_cm
