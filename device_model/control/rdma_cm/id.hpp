// An rdma_cm identifier (struct rdma_cm_id), and a multicast group that one has joined.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "device_model/cm/host.hpp"
#include "device_model/cm/parameters.hpp"
#include "device_model/cm/path.hpp"
#include "device_model/cm/user.hpp"
#include "device_model/control/fabric/quotas.hpp"
#include "device_model/control/rdma_cm/local_addresses.hpp"
#include "device_model/control/rdma_cm/ports.hpp"
#include "device_model/subnet/administration/memberships.hpp"
#include "wire/mad/identifiers.hpp"

namespace urnic::control::rdma_cm {

class Channel;
struct Id;

// The states of Linux's rdma_cm.
enum class IdState : std::uint8_t {
  idle,
  address_bound,
  address_query,
  address_resolved,
  route_query,
  route_resolved,
  connect,  // from CONNECT, or a request, to the end of the connection
  disconnect,
  listen,
};

// enum ibv_qp_type.
enum class QpType : std::uint8_t { rc = 2, uc = 3, ud = 4, xrc_send = 9, xrc_receive = 10 };

struct Multicast {
  std::uint32_t number = 0;
  std::uint64_t uid = 0;
  Id* id = nullptr;
  std::uint32_t events_reported = 0;
  std::uint32_t events_queued = 0;
  subnet::administration::Membership membership;  // on InfiniBand
  // Shared with the membership: what is asked of the manager costs as much until it is answered.
  std::shared_ptr<const Charge> charge;
};

// Q_Key of rdma_cm's datagrams unless the programs agree on another one (RDMA_UDP_QKEY).
inline constexpr wire::mad::Qkey kDatagramQkey{0x01234567};

struct Id {
  std::uint32_t number = 0;
  Channel* channel = nullptr;
  std::uint64_t uid = 0;  // librdmacm's name for it; 0: the program does not know the identifier yet
  PortSpace space{};
  QpType qp_type{};
  IdState state = IdState::idle;

  Endpoints endpoints;
  TakenPort port;
  std::optional<LocalAddress> local;
  cm::Time resolve_until{};             // in address_query
  bool has_asked_broadcast = false;     // likewise; of IPOIB
  wire::Gid peer;                       // with `local`, once the destination is known
  subnet::administration::Query query;  // in route_query
  std::optional<cm::Path> path;         // once the route is known

  wire::Qpn qpn;  // of the program's queue pair, which CONNECT or ACCEPT names
  std::optional<cm::CommunicationId> connection;  // also of a SIDR request, while it has no answer
  bool is_request = false;                        // the passive side's
  const Id* unread_by = nullptr;                  // the listener that has its CONNECT_REQUEST queued
  std::uint32_t backlog = 0;                      // requests that a listener still takes

  std::uint8_t type_of_service = 0;
  std::optional<std::uint8_t> ack_timeout;
  bool has_chosen_family_only = false;

  std::uint32_t events_reported = 0;
  std::uint32_t events_queued = 0;
  std::vector<Multicast*> groups;
  Charge charge;
};

inline bool is_datagram(const Id& id) { return id.qp_type == QpType::ud; }

}  // namespace urnic::control::rdma_cm
