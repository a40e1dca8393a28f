// What a program has when it has opened /dev/infiniband/umadN: agents, requests that wait for answers, and
// packets to be read.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device_model/abi/umad_messages.hpp"
#include "device_model/control/fabric/quotas.hpp"
#include "device_model/control/gsi/gsi.hpp"
#include "device_model/control/loop/descriptor_disposal.hpp"
#include "device_model/control/loop/event_loop.hpp"
#include "device_model/control/loop/peer.hpp"
#include "device_model/control/umad/agents.hpp"
#include "device_model/control/umad/held_memory.hpp"
#include "device_model/control/umad/infiniband_ports.hpp"
#include "device_model/control/umad/long_write.hpp"
#include "device_model/control/umad/pending_requests.hpp"
#include "device_model/control/umad/rmpp_exchanges.hpp"
#include "device_model/control/umad/unread_packets.hpp"

namespace urnic::control {

class UmadFile {
 public:
  // All outlive the file.
  struct Surroundings {
    EventLoop& loop;
    Fabric& fabric;
    Gsi& gsi;
    DescriptorDisposal& disposal;
    UmadAgents& agents;
    InfinibandPorts& ports;
  };

  // Calls `closed` (the last thing it does) when the program is gone or has sent nonsense; the owner destroys
  // the file then. Throws std::system_error: the program has too much already.
  UmadFile(const Surroundings& surroundings, ServedDevice& device, memory::Descriptor socket,
           std::function<void()> closed);
  // Its agents go, and what is to be read.
  ~UmadFile();
  UmadFile(const UmadFile&) = delete;
  UmadFile& operator=(const UmadFile&) = delete;

  // A request for one of its agents.
  void take_request(const UmadAgent& agent, const GsiAddress& from, MadBytes mad,
                    const wire::mad::MadHeader& header);
  // A response with the transaction id of one of its agents. False: nobody waits for it.
  bool take_response(const UmadAgent& agent, const GsiAddress& from, MadBytes mad,
                     const wire::mad::MadHeader& header);

 private:
  static constexpr std::uint32_t kAgents = 32;

  // What a program has sent behind the head of its request. `rest` is a descriptor, or negative.
  struct Body {
    std::span<const std::byte> bytes;
    int rest = -1;
  };
  // An answer to the program: 0, an errno, or kLater; and the ioctl's argument.
  struct Answer {
    int error = 0;
    std::vector<std::byte> argument;
  };

  // A long message whose file is being read. The first descriptor is for the answer.
  struct LateAnswer {
    LongWrite message;
    std::vector<memory::Descriptor> descriptors;
  };

  void ready(std::uint32_t events);
  void close();
  bool handle_all();
  bool handle_one();
  void watch_for(bool room);
  std::optional<Answer> handle(std::span<const std::byte> message,
                               const std::vector<memory::Descriptor>& descriptors);
  std::optional<Answer> handle(abi::UmadRequestKind kind, const Body& body);

  template <class Argument>
  std::optional<Answer> register_agent(std::span<const std::byte> body);
  int add_agent(const AgentRequest& request, std::uint32_t& id);
  int unregister_agent(std::span<const std::byte> body);
  void remove_agent(std::uint32_t id);
  int enable_pkey();

  std::size_t header_bytes() const;
  int write(const Body& body);
  int check_class(const UmadAgent& agent, wire::mad::ManagementClass management_class) const;
  int send(UmadPacket& packet, const Body& mad, const GsiAddress& to);
  int send_datagram(UmadPacket& packet, const GsiAddress& to, bool awaits);
  int send_message(const UmadPacket& packet, const Body& mad, const GsiAddress& to);
  int finish_message(LongWrite& message, LongWrite::State state);
  bool read_more();
  void reply(std::vector<memory::Descriptor>& descriptors, const Answer& answer);
  void message_ended(const RmppMessage& message);
  bool take_part(const UmadAgent& agent, const GsiAddress& from, MadBytes mad,
                 const wire::mad::MadHeader& header);
  void take_message(const UmadAgent& agent, const GsiAddress& from, std::vector<std::byte> message);
  int transmit(const GsiAddress& to, MadBytes mad);
  void expire();
  void set_timer();

  ib_user_mad_hdr header_for(const UmadAgent& agent, const GsiAddress& from, std::size_t bytes) const;
  void queue(const ib_user_mad_hdr& header, std::span<const std::byte> mad);
  void count_lost(bool is_queued);
  void give_back(UmadPacket packet);
  void hand_over();

  Surroundings surroundings_;
  ServedDevice& device_;
  const Peer peer_;
  memory::Descriptor socket_;
  std::function<void()> closed_;
  std::shared_ptr<Account> account_;
  Charge charge_;
  struct OwnAgent {
    UmadAgent agent;
    Charge charge;
  };
  std::array<std::unique_ptr<OwnAgent>, kAgents> agents_;  // by id
  bool registered_ = false;                                // an agent, ever
  bool has_pkey_index_ = false;                            // headers are 64 bytes long, else 56
  PendingRequests pending_;
  HeldMemory outgoing_memory_;
  HeldMemory incoming_memory_;
  RmppExchanges exchanges_;
  UnreadPackets unread_;
  bool long_request_ = false;  // the last one had a rest
  std::optional<LateAnswer> late_;
  WorkInPortions::Work reading_;
  bool waits_for_room_ = false;  // the watch is for that, too
  Timer timer_;
  ScopedWatch watch_;
};

}  // namespace urnic::control
