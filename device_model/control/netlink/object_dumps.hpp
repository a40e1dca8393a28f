// The objects of programs, all of a kind or one: "rdma resource show qp|cq|mr|pd|srq|ctx|cm_id".
#pragma once

#include <memory>

#include "device_model/control/netlink/request.hpp"

namespace urnic::control::netlink {

// The dump that an RDMA_NLDEV_CMD_RES_…_GET asks for; null if the command asks for none. `device` outlives
// it.
std::unique_ptr<Dump> make_object_dump(const Subjects& subjects, const ServedDevice& device,
                                       std::uint32_t command, const Request& request);

// Whether the command is an RDMA_NLDEV_CMD_RES_…_GET for one kind of object.
bool is_object_command(std::uint32_t command);
// The search for the object whose number such a request names; null if it names none. `device` outlives it.
std::unique_ptr<Dump> make_object_search(const Subjects& subjects, const ServedDevice& device,
                                         std::uint32_t command, const Request& request);

}  // namespace urnic::control::netlink
