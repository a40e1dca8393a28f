// What the kernel's modules rdma_cm and rdma_ucm are on a machine with an RDMA device: channels, identifiers,
// commands and events, on top of the connection manager. Without sockets: rdma_cm_server.hpp has them.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <span>

#include "device_model/control/loop/work_in_portions.hpp"
#include "device_model/control/rdma_cm/connection_events.hpp"
#include "device_model/control/rdma_cm/dispatch.hpp"
#include "device_model/control/rdma_cm/resolutions.hpp"

namespace urnic::control::rdma_cm {

// Control thread only.
class RdmaCm {
 public:
  // Fabric, host and work outlive it.
  RdmaCm(Fabric& fabric, cm::Host& host, Clock now, const cm::Settings& settings, WorkInPortions& work);
  ~RdmaCm();
  RdmaCm(const RdmaCm&) = delete;
  RdmaCm& operator=(const RdmaCm&) = delete;

  Channel& open(Opener opener, std::function<bool()> send_token);
  // The program has closed the channel, or has ended. Its identifiers go one by one: thousands of them would
  // keep all programs waiting.
  void close(Channel& channel);

  // Runs a command. `old_channel`: what MIGRATE_ID names; null if it names nothing.
  void execute(Channel& channel, std::span<const std::byte> command, std::span<const std::byte> option,
               Channel* old_channel, Answer& answer);

  // MADs go to it, and the time.
  cm::ConnectionManager& connections() { return events_.connections(); }
  const Identifiers& identifiers() { return events_.identifiers(); }
  // For addresses that have not been found yet: `look_again` is to be called now and then.
  Resolutions& resolutions() { return resolutions_; }

  std::size_t channels() const { return channels_.size(); }

 private:
  struct Entry;
  bool close_portion(Entry& entry);

  WorkInPortions& work_;
  // In this order: an identifier goes before what it stands on.
  ConnectionEvents events_;
  Resolutions resolutions_;
  std::list<Entry> channels_;
};

}  // namespace urnic::control::rdma_cm
