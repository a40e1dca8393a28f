// Which QP state transitions there are, which attributes each one requires and which it allows
// (IBTA 11.2.5.2; what ib_modify_qp_is_ok of the kernel lets through), and which values
// attributes may have.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "device_model/transport/queue_pair_config.hpp"

namespace urnic::transport {

// The values are those of ibv_qp_attr_mask.
enum QpAttribute : std::uint32_t {
  attr_state = 1u << 0,
  attr_current_state = 1u << 1,
  attr_sqd_async_notify = 1u << 2,
  attr_access_flags = 1u << 3,
  attr_pkey_index = 1u << 4,
  attr_port = 1u << 5,
  attr_qkey = 1u << 6,
  attr_address_vector = 1u << 7,
  attr_path_mtu = 1u << 8,
  attr_timeout = 1u << 9,
  attr_retry_count = 1u << 10,
  attr_rnr_retry = 1u << 11,
  attr_rq_psn = 1u << 12,
  attr_max_qp_rd_atomic = 1u << 13,
  attr_alternate_path = 1u << 14,
  attr_min_rnr_timer = 1u << 15,
  attr_sq_psn = 1u << 16,
  attr_max_dest_rd_atomic = 1u << 17,
  attr_path_migration_state = 1u << 18,
  attr_capabilities = 1u << 19,
  attr_destination_qpn = 1u << 20,
  attr_rate_limit = 1u << 25,
};

enum class TransitionError : std::uint8_t {
  none,
  no_such_transition,
  wrong_current_state,  // the state that the caller believes the QP in
  missing_attribute,
  attribute_not_allowed,
};

struct TransitionCheck {
  TransitionError error = TransitionError::none;
  std::uint32_t attributes = 0;  // QpAttribute values that are missing or not allowed
};

// `mask` without the attributes that the service ignores silently, as the kernel does (modify_qp_mask):
// programs set the attributes of both halves on either end of an extended reliable connection.
std::uint32_t heeded(QpService service, std::uint32_t mask);

// Whether `mask` may be modified in a QP that goes from `current` to `next` (without attr_state: `next` is
// `current`). Anything but `none` is EINVAL. With attr_current_state in the mask, `believed` is the caller's
// cur_qp_state.
TransitionCheck check_transition(QpService service, QpState current, QpState next, std::uint32_t mask,
                                 std::optional<QpState> believed = std::nullopt);

// Attribute values as ibv_modify_qp takes them.
struct QpAttributeValues {
  std::uint32_t path_mtu = 0;  // ibv_mtu: 1 (256 bytes) to 5 (4096)
  std::uint32_t timeout = 0;
  std::uint32_t retry_count = 0;
  std::uint32_t rnr_retry = 0;
  std::uint32_t min_rnr_timer = 0;
  std::uint32_t max_qp_rd_atomic = 0;
  std::uint32_t max_dest_rd_atomic = 0;
  std::uint32_t port = 0;
  std::uint32_t pkey_index = 0;
};

// What the device can do; values above are EINVAL.
struct QpAttributeLimits {
  std::uint32_t active_mtu = 5;  // ibv_mtu of the port
  std::uint32_t max_qp_rd_atomic = 16;
  std::uint32_t max_dest_rd_atomic = 16;
  std::uint32_t ports = 1;
  std::uint32_t pkeys = 1;
};

// The attributes of `mask` whose value is out of range; 0 if all are good. PSNs and QPNs are not looked at:
// their upper bits are ignored, as the kernel does.
std::uint32_t bad_values(std::uint32_t mask, const QpAttributeValues& values,
                         const QpAttributeLimits& limits);

// For messages: "RTS"; "path MTU" for exactly one attribute.
std::string_view name(QpState state);
std::string_view name(QpAttribute attribute);

}  // namespace urnic::transport
