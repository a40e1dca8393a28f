// A path as the verbs' address vector.
#pragma once

#include <rdma/ib_user_verbs.h>

#include "device_model/cm/path.hpp"
#include "device_model/control/rdma_cm/local_addresses.hpp"

namespace urnic::control::rdma_cm {

// The address vector of packets along `path` from the device of `local`, ready for ibv_create_ah.
ib_uverbs_ah_attr address_vector(const LocalAddress& local, const cm::Path& path);

}  // namespace urnic::control::rdma_cm
