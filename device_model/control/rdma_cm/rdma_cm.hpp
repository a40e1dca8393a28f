// What the kernel's modules rdma_cm and rdma_ucm are on a machine with an RDMA device: channels, identifiers,
// commands and events, on top of the connection manager. Without sockets: rdma_cm_server.hpp has them.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "device_model/control/loop/work_in_portions.hpp"
#include "device_model/control/rdma_cm/connection_events.hpp"
#include "device_model/control/rdma_cm/dispatch.hpp"
#include "device_model/control/rdma_cm/resolutions.hpp"
#include "device_model/control/rdma_cm/routes.hpp"
#include "device_model/control/rdma_cm/subnet_administration.hpp"

namespace urnic::control::rdma_cm {

struct Session;

// Control thread only.
class RdmaCm {
 public:
  // What the connection manager and subnet administration ask of their surroundings.
  struct Hosts {
    cm::Host& connections;
    subnet::administration::Host& administration;
    // Whether the fabric's manager answers requests of subnet administration.
    std::function<bool()> has_administration;
  };

  // Fabric, hosts and work outlive it.
  RdmaCm(Fabric& fabric, const Hosts& hosts, Clock now, const cm::Settings& settings, WorkInPortions& work);
  ~RdmaCm();
  RdmaCm(const RdmaCm&) = delete;
  RdmaCm& operator=(const RdmaCm&) = delete;

  Channel& open(Opener opener, std::function<bool()> send_token);
  // The program has closed the channel, or has ended. Its identifiers go one by one: thousands of them would
  // keep all programs waiting.
  void close(Channel& channel);

  // Tokens of the channel carry events from now on: `send` sends one with its event and number, `unread` says
  // how much lies in the socket. Nothing happens at further calls.
  void carry_events(Channel& channel, std::function<bool(const Answer&, std::uint32_t number)> send,
                    std::function<std::size_t()> unread);
  // To be called when commands, messages and the time have done what they do: sends the tokens of channels
  // that carry events.
  void send_tokens();

  // Runs a command. `old_channel`: what MIGRATE_ID names; null if it names nothing. `token`: whose event
  // GET_EVENT asks for.
  void execute(Channel& channel, std::span<const std::byte> command, std::span<const std::byte> option,
               Channel* old_channel, Answer& answer, std::uint32_t token = 0);

  // MADs go to it, and the time.
  cm::ConnectionManager& connections() { return events_.connections(); }
  // Answers of subnet managers go to it, and the time.
  subnet::administration::Client& administration() { return administration_.client; }
  // The subnet manager has told the adapter's port to register again: it joins its groups again.
  void register_again(subnet::NodeIndex adapter);
  const Identifiers& identifiers() { return events_.identifiers(); }
  // For addresses that have not been found yet: `look_again` is to be called now and then.
  Resolutions& resolutions() { return resolutions_; }

  std::size_t channels() const { return channels_.size(); }

 private:
  struct Entry;
  Session session_of(Channel& channel);
  bool close_portion(Entry& entry);

  WorkInPortions& work_;
  // In this order: an identifier goes before what it stands on.
  SubnetAdministration administration_;
  ConnectionEvents events_;
  Resolutions resolutions_;
  Routes routes_;
  std::list<Entry> channels_;
  std::vector<Channel*> with_tokens_;  // that are to be sent
};

}  // namespace urnic::control::rdma_cm
