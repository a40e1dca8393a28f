// The data that handlers of control messages work on.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_set>
#include <vector>

#include "device_model/abi/control.hpp"
#include "device_model/abi/memory_messages.hpp"
#include "device_model/control/fabric/capacity.hpp"
#include "device_model/control/fabric/quotas.hpp"
#include "device_model/control/objects/address_map.hpp"
#include "device_model/control/objects/context_registry.hpp"
#include "device_model/control/objects/program_context.hpp"
#include "device_model/control/objects/queue_pages.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

class CopierParent;
class DescriptorDisposal;
struct KernelCommands;

// A protection domain that the program may have without waiting for an answer. It does not exist yet.
struct ReservedPd {
  std::uint32_t handle = 0;  // 0: none
  Room room{};
};

// Pages that the program was offered to share (abi::Sharing).
struct PagesOffer {
  std::shared_ptr<SharedPages> pages;  // null: none
  SharingRule::Clock::time_point made;
};

// Blocks for a program's queues (abi::UverbsCommandReply), between two of its commands.
struct QueuePageExchange {
  std::vector<QueuePageBlock> offered;   // to be put in the place of the program's pages
  std::vector<QueuePageBlock> returned;  // no queue has them; the program takes its own pages again
  // Since the program has refused an offer, the device has looked for itself.
  std::vector<QueuePages::Range> not_shared{};
  bool some_are_mapped = false;
};

// One connection's view of the device.
struct Session {
  Fabric& fabric;
  ServedDevice& device;
  ContextRegistry& contexts;
  std::shared_ptr<Context> context;  // null before open_context or join_context
  std::shared_ptr<Process> process;  // its memory is registered on this connection
  std::unordered_set<std::uint32_t> known_arenas;
  ReservedPd reserved_pd{};
  memory::Descriptor async_read_end{};  // of an importing context, for `async_channel`
  std::shared_ptr<Account> account{};   // of the peer process
  Charge connected{};
  // The peer's pidfd, from the kernel; empty if it has ended or no pidfd is possible.
  std::function<memory::Descriptor()> peer_pidfd = [] { return memory::Descriptor(); };
  std::function<bool()> has_net_raw = [] { return false; };  // Peer::has_net_raw
  pid_t peer = 0;                                            // the peer's PID; 0: hidden
  CopierParent* copiers = nullptr;                           // null: no copiers
  bool refuse_own_process = false;                           // refuses this process as a program
  DescriptorDisposal* disposal = nullptr;                    // null: descriptors are closed at once
  std::unique_ptr<AddressMap> looking{};                     // the progress of an unfinished registration
  PagesOffer offer{};                                        // the answer to the latest request was one
  std::shared_ptr<SharedPages> unneeded{};                   // until their descriptor is sent
  const KernelCommands* kernel_commands = nullptr;           // null: it answers none
  QueuePageExchange queue_pages{};
};

// The descriptors of one request and of its reply.
struct DescriptorExchange {
  std::vector<memory::Descriptor> received;
  std::vector<int> sent;                    // owned elsewhere
  std::vector<std::uint32_t> new_arenas{};  // whose descriptors are sent
};

// A block's description for a reply, with the arena's descriptor the first time. Unless the request fails,
// the connection counts the arena as known from then on.
abi::ArenaRange describe(const ArenaBlock& block, Session& session, DescriptorExchange& descriptors);
// The same for a block of `arenas`, instead of the context's queue arenas.
abi::ArenaRange describe(const ArenaBlock& block, const ArenaAllocator& arenas, Session& session,
                         DescriptorExchange& descriptors);

}  // namespace urnic::control
