// One connection to the node: a channel, or a reply socket. Its first message decides.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "device_model/abi/rdma_cm_messages.hpp"
#include "device_model/control/fabric/quotas.hpp"
#include "device_model/control/loop/descriptor_disposal.hpp"
#include "device_model/control/loop/event_loop.hpp"
#include "device_model/control/loop/peer.hpp"
#include "device_model/control/rdma_cm/channel.hpp"
#include "device_model/control/rdma_cm/dispatch.hpp"

namespace urnic::control::rdma_cm {

// A secret of the device process.
using Name = std::array<std::uint8_t, sizeof(abi::SocketName)>;
// Throws std::system_error.
Name random_name();

class Connection {
 public:
  // `received` is called with each message; false closes the connection. `closed` is called once, as the last
  // thing, when the program is gone or has sent nonsense; the owner destroys the connection then. Loop and
  // disposal outlive it. Throws std::system_error if the program has too many.
  Connection(EventLoop& loop, DescriptorDisposal& disposal, Quotas& quotas, memory::Descriptor socket,
             std::function<bool(std::span<const std::byte>)> received, std::function<void()> closed);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // The program, as the one who opens a channel; refers to this connection.
  Opener opener() const;
  // False: the program does not read its answers, or is gone.
  bool answer(const abi::RdmaCmReply& reply, std::span<const std::byte> bytes,
              std::span<const std::byte> further = {}, std::span<const int> descriptors = {});
  bool send_token();
  // A token that carries the event in `answer`, with its further answers.
  bool send_event(const Answer& answer, std::uint32_t number, std::uint32_t withdrawals);
  // What the kernel counts for tokens that the program has not taken. Nothing: it does not say.
  std::optional<std::size_t> unread() const;

  Channel* channel = nullptr;        // of a channel
  std::optional<Name> reply_name;    // of a reply socket
  std::optional<Name> channel_name;  // that the program has been told last
  bool takes_events = false;         // tokens may carry events

 private:
  void ready();
  bool handle_one();
  bool has_hung_up() const;

  DescriptorDisposal& disposal_;
  std::shared_ptr<Peer> peer_;
  memory::Descriptor socket_;
  std::shared_ptr<Account> account_;
  Charge charge_;
  std::function<bool(std::span<const std::byte>)> received_;
  std::function<void()> closed_;
  ScopedWatch watch_;
};

}  // namespace urnic::control::rdma_cm
