// A path as the verbs' address vector.
#pragma once

#include <rdma/ib_user_verbs.h>

#include "device_model/cm/path.hpp"
#include "device_model/control/rdma_cm/local_addresses.hpp"
#include "wire/mad/subnet_administration.hpp"

namespace urnic::control::rdma_cm {

// The address vector of packets along `path` from the device of `local`, ready for ibv_create_ah.
ib_uverbs_ah_attr address_vector(const LocalAddress& local, const cm::Path& path);

// That of packets to a group of an InfiniBand subnet, from the port's first GID.
ib_uverbs_ah_attr address_vector(const wire::mad::MulticastMemberRecord& group);

}  // namespace urnic::control::rdma_cm
