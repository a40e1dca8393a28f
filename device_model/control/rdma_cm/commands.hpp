// The commands of <rdma/rdma_user_cm.h>: one function each. They return 0 or an errno, Linux's where Linux
// has one, and may throw std::system_error. Everything in a body is hostile input.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "device_model/abi/rdma_cm_messages.hpp"
#include "device_model/control/rdma_cm/channel.hpp"
#include "device_model/control/rdma_cm/command_layouts.hpp"
#include "device_model/control/rdma_cm/identifiers.hpp"
#include "device_model/control/rdma_cm/resolutions.hpp"
#include "device_model/control/rdma_cm/routes.hpp"

namespace urnic::control::rdma_cm {

// What a command works on.
struct Session {
  Identifiers& identifiers;
  Resolutions& resolutions;
  Routes& routes;
  SubnetAdministration& administration;
  Channel& channel;                     // that it was written to
  Channel* old_channel = nullptr;       // MIGRATE_ID: the one that it names
  std::span<const std::byte> option{};  // SET_OPTION: the value
  std::uint32_t token = 0;              // GET_EVENT: the number of the one that was taken
  std::size_t room = 0;                 // for the answer, as the program says
};

struct NoAnswer {};

struct QueryPathAnswer {
  static constexpr std::uint32_t kMaxPaths = 6;
  std::uint32_t num_paths;
  std::uint32_t reserved;
  std::array<ib_path_rec_data, kMaxPaths> paths;
};
static_assert(sizeof(QueryPathAnswer) == abi::kMaxRdmaCmAnswer);

// Of rdma-core 65; this machine's header may not have it.
struct WriteEventCommand {
  std::uint32_t id;
  std::uint32_t reserved;
  std::uint32_t event;
  std::uint32_t status;
  std::array<std::uint64_t, 38> argument;  // the first one counts
};
static_assert(sizeof(WriteEventCommand) == 320);

// Of QUERY: the answers begin alike.
union QueryAnswer {
  rdma_ucm_query_addr_resp address;
  QueryPathAnswer path;
};

// The identifier that a command names and may change. 0, or ENOENT (no such), EINVAL (of another channel).
int find_id(Session& session, std::uint32_t number, Id*& id);
// The same for commands that need a device: EINVAL without one.
int find_id_with_device(Session& session, std::uint32_t number, Id*& id);
// The same for commands that change nothing.
int find_id_to_read(const Session& session, std::uint32_t number, const Id*& id);
// The errno of what the connection manager answers.
int to_errno(cm::Result result);

// id_commands.cpp
int create_id(Session& session, const rdma_ucm_create_id& command, rdma_ucm_create_id_resp& answer);
int destroy_id(Session& session, const rdma_ucm_destroy_id& command, rdma_ucm_destroy_id_resp& answer);
int migrate_id(Session& session, const rdma_ucm_migrate_id& command, rdma_ucm_migrate_resp& answer);
int get_event(Session& session, const rdma_ucm_get_event& command, rdma_ucm_event_resp& answer);
int write_event(Session& session, const WriteEventCommand& command, NoAnswer& answer);

// address_commands.cpp
int bind_ip(Session& session, const rdma_ucm_bind_ip& command, NoAnswer& answer);
int bind(Session& session, const rdma_ucm_bind& command, NoAnswer& answer);
int resolve_ip(Session& session, const rdma_ucm_resolve_ip& command, NoAnswer& answer);
int resolve_address(Session& session, const rdma_ucm_resolve_addr& command, NoAnswer& answer);
int resolve_route(Session& session, const rdma_ucm_resolve_route& command, NoAnswer& answer);
int listen(Session& session, const rdma_ucm_listen& command, NoAnswer& answer);

// option_commands.cpp
int set_option(Session& session, const rdma_ucm_set_option& command, NoAnswer& answer);

// query_commands.cpp
int query_route(Session& session, const rdma_ucm_query& command, rdma_ucm_query_route_resp& answer);
// Writes `length` bytes of the answer.
int query(Session& session, const rdma_ucm_query& command, QueryAnswer& answer, std::size_t& length);

// connection_commands.cpp
int connect(Session& session, const rdma_ucm_connect& command, NoAnswer& answer);
int accept(Session& session, const rdma_ucm_accept& command, NoAnswer& answer);
int reject(Session& session, const rdma_ucm_reject& command, NoAnswer& answer);
int disconnect(Session& session, const rdma_ucm_disconnect& command, NoAnswer& answer);
int notify(Session& session, const rdma_ucm_notify& command, NoAnswer& answer);

// qp_attributes.cpp
int init_qp_attributes(Session& session, const rdma_ucm_init_qp_attr& command, ib_uverbs_qp_attr& answer);

// multicast_commands.cpp
int join_ip_multicast(Session& session, const rdma_ucm_join_ip_mcast& command,
                      rdma_ucm_create_id_resp& answer);
int join_multicast(Session& session, const rdma_ucm_join_mcast& command, rdma_ucm_create_id_resp& answer);
int leave_multicast(Session& session, const rdma_ucm_destroy_id& command, rdma_ucm_destroy_id_resp& answer);

}  // namespace urnic::control::rdma_cm
