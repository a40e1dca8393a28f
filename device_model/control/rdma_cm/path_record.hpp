// Path records as identifiers ask for them and use them.
#pragma once

#include <optional>

#include "device_model/cm/path.hpp"
#include "device_model/control/rdma_cm/id.hpp"
#include "wire/mad/subnet_administration.hpp"

namespace urnic::control::rdma_cm {

struct PathRequest {
  wire::mad::PathRecord record;
  wire::mad::ComponentMask components = 0;
};

// What Linux's rdma_cm asks for (cma_query_ib_route): one way there and back in the identifier's partition;
// the quality of service is IPv4's type of service, or the traffic class of the source. The identifier has a
// device and a peer.
PathRequest path_request(const Id& id);

// The whole way there and back, with exactly its MTU, rate and lifetime.
wire::mad::PathRecord to_record(const cm::Path& path);

// Empty: its LIDs are no ports', or its MTU is none.
std::optional<cm::Path> to_path(const wire::mad::PathRecord& record);

}  // namespace urnic::control::rdma_cm
