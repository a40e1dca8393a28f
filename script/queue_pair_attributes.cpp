#include "script/queue_pair_attributes.hpp"

#include "device_model/transport/qp_transitions.hpp"

namespace urnic::script {
namespace {

using namespace transport;

enum Type : std::uint64_t { rc = 2, uc = 3, ud = 4, xrc_initiator = 9, xrc_target = 10 };

std::uint32_t for_init(std::uint64_t type) {
  return attr_state | attr_pkey_index | attr_port | (type == ud ? attr_qkey : attr_access_flags);
}

std::uint32_t for_rtr(std::uint64_t type) {
  std::uint32_t mask = attr_state;
  if (type != ud) mask |= attr_address_vector | attr_path_mtu | attr_destination_qpn | attr_rq_psn;
  if (type == rc || type == xrc_target) mask |= attr_max_dest_rd_atomic | attr_min_rnr_timer;
  return mask;
}

std::uint32_t for_rts(std::uint64_t type) {
  std::uint32_t mask = attr_state | attr_sq_psn;
  if (type != ud && type != uc) mask |= attr_timeout;
  if (type == rc || type == xrc_initiator) mask |= attr_retry_count | attr_rnr_retry | attr_max_qp_rd_atomic;
  return mask;
}

}  // namespace

std::uint32_t attribute_mask(std::uint64_t type, std::uint64_t current, std::uint64_t next, bool notify) {
  const auto to = static_cast<QpState>(next);
  if (to == QpState::init) return for_init(type);
  if (to == QpState::rtr) return for_rtr(type);
  if (to == QpState::rts && static_cast<QpState>(current) == QpState::rtr) return for_rts(type);
  return to == QpState::sqd && notify ? attr_state | attr_sqd_async_notify : std::uint32_t{attr_state};
}

std::uint32_t mtu_code(std::uint64_t bytes) {
  for (std::uint32_t code = 1; code <= 5; ++code)
    if (bytes == std::uint64_t{128} << code) return code;
  return 0;
}

}  // namespace urnic::script
