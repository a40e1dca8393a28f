#include "device_model/transport/qp_transitions.hpp"

#include <array>
#include <bit>
#include <cstddef>

namespace urnic::transport {
namespace {

constexpr std::size_t kServices = 6;
// rc, uc, ud, xrc_initiator, xrc_target, raw_packet
using ByService = std::array<std::uint32_t, kServices>;

struct Transition {
  QpState from;
  QpState to;
  ByService required;
  ByService optional;
};

constexpr std::uint32_t kAlternatePath = attr_alternate_path | attr_path_migration_state;
constexpr std::uint32_t kRunningRc =
    attr_current_state | attr_access_flags | attr_min_rnr_timer | kAlternatePath;
constexpr std::uint32_t kRunningUc =
    attr_current_state | attr_access_flags | kAlternatePath | attr_rate_limit;
constexpr std::uint32_t kRunningUd = attr_current_state | attr_qkey | attr_rate_limit;
// The initiator lacks what only a responder has, the target what only a requester has.
constexpr std::uint32_t kRunningInitiator = attr_current_state | attr_access_flags | kAlternatePath;
constexpr std::uint32_t kRunningTarget = kRunningRc;
constexpr std::uint32_t kInit = attr_pkey_index | attr_port;
constexpr std::uint32_t kInitConnected = kInit | attr_access_flags;
constexpr std::uint32_t kInitDatagram = kInit | attr_qkey;
constexpr std::uint32_t kPath = attr_address_vector | attr_path_mtu | attr_destination_qpn | attr_rq_psn;
constexpr std::uint32_t kResponder = attr_max_dest_rd_atomic | attr_min_rnr_timer;
constexpr std::uint32_t kConnecting = attr_alternate_path | attr_access_flags | attr_pkey_index;
constexpr std::uint32_t kRequester =
    attr_timeout | attr_retry_count | attr_rnr_retry | attr_sq_psn | attr_max_qp_rd_atomic;
constexpr std::uint32_t kDrainedPath =
    attr_port | attr_address_vector | attr_access_flags | attr_pkey_index | kAlternatePath | attr_timeout;
constexpr std::uint32_t kDrainedRequester = attr_retry_count | attr_rnr_retry | attr_max_qp_rd_atomic;

// Transitions to reset and to error are in `check_transition`: they exist from every state and take nothing.
constexpr std::array kTransitions{
    Transition{QpState::reset,
               QpState::init,
               {kInitConnected, kInitConnected, kInitDatagram, kInitConnected, kInitConnected, attr_port},
               {}},
    Transition{QpState::init,
               QpState::init,
               {},
               {kInitConnected, kInitConnected, kInitDatagram, kInitConnected, kInitConnected}},
    Transition{QpState::init,
               QpState::rtr,
               {kPath | kResponder, kPath, 0, kPath, kPath | kResponder},
               {kConnecting, kConnecting, attr_pkey_index | attr_qkey, kConnecting, kConnecting}},
    Transition{QpState::rtr,
               QpState::rts,
               {kRequester, attr_sq_psn, attr_sq_psn, kRequester, attr_timeout | attr_sq_psn},
               {kRunningRc, kRunningUc, kRunningUd, kRunningInitiator, kRunningTarget, attr_rate_limit}},
    Transition{QpState::rts,
               QpState::rts,
               {},
               {kRunningRc, kRunningUc, kRunningUd, kRunningInitiator, kRunningTarget, attr_rate_limit}},
    Transition{QpState::rts,
               QpState::sqd,
               {},
               {attr_sqd_async_notify, attr_sqd_async_notify, attr_sqd_async_notify, attr_sqd_async_notify,
                attr_sqd_async_notify}},
    Transition{QpState::sqd,
               QpState::rts,
               {},
               {kRunningRc, kRunningUc, kRunningUd, kRunningInitiator, kRunningTarget}},
    Transition{QpState::sqd,
               QpState::sqd,
               {},
               {kDrainedPath | kDrainedRequester | kResponder,
                attr_address_vector | attr_access_flags | attr_pkey_index | kAlternatePath,
                attr_pkey_index | attr_qkey, kDrainedPath | kDrainedRequester, kDrainedPath | kResponder}},
    Transition{QpState::sqe, QpState::rts, {}, {0, attr_current_state | attr_access_flags, kRunningUd, 0, 0}},
};

constexpr Transition kAnywhere{QpState::reset, QpState::reset, {}, {}};

const Transition* find(QpState from, QpState to) {
  if (to == QpState::reset || (to == QpState::error && from != QpState::reset)) return &kAnywhere;
  for (const Transition& transition : kTransitions) {
    if (transition.from == from && transition.to == to) return &transition;
  }
  return nullptr;
}

// The only states that a QP leaves by itself, so that a caller may be wrong about them (IBTA 11.2.5.2).
bool may_be_believed(QpState state) {
  return state == QpState::rtr || state == QpState::rts || state == QpState::sqd || state == QpState::sqe;
}

}  // namespace

std::uint32_t heeded(QpService service, std::uint32_t mask) {
  if (service == QpService::xrc_initiator) return mask & ~kResponder;
  if (service == QpService::xrc_target)
    return mask & ~(attr_retry_count | attr_rnr_retry | attr_max_qp_rd_atomic);
  return mask;
}

TransitionCheck check_transition(QpService service, QpState current, QpState next, std::uint32_t mask,
                                 std::optional<QpState> believed) {
  const auto column = static_cast<std::size_t>(service);
  if ((mask & attr_current_state) != 0) {
    if (!may_be_believed(current) || (believed && *believed != current)) {
      return {TransitionError::wrong_current_state, attr_current_state};
    }
  }
  const Transition* transition = find(current, next);
  if (transition == nullptr) return {TransitionError::no_such_transition, attr_state};
  const std::uint32_t required = transition->required[column];
  const std::uint32_t allowed = required | transition->optional[column] | attr_state;
  if ((mask & required) != required) return {TransitionError::missing_attribute, required & ~mask};
  if ((mask & ~allowed) != 0) return {TransitionError::attribute_not_allowed, mask & ~allowed};
  return {};
}

std::uint32_t bad_values(std::uint32_t mask, const QpAttributeValues& values,
                         const QpAttributeLimits& limits) {
  std::uint32_t bad = 0;
  const auto within = [&](QpAttribute attribute, std::uint32_t value, std::uint32_t least,
                          std::uint32_t most) {
    if ((mask & attribute) != 0 && (value < least || value > most)) bad |= attribute;
  };
  within(attr_path_mtu, values.path_mtu, 1, limits.active_mtu);
  within(attr_timeout, values.timeout, 0, 31);
  within(attr_retry_count, values.retry_count, 0, 7);
  within(attr_rnr_retry, values.rnr_retry, 0, 7);
  within(attr_min_rnr_timer, values.min_rnr_timer, 0, 31);
  within(attr_max_qp_rd_atomic, values.max_qp_rd_atomic, 0, limits.max_qp_rd_atomic);
  within(attr_max_dest_rd_atomic, values.max_dest_rd_atomic, 0, limits.max_dest_rd_atomic);
  within(attr_port, values.port, 1, limits.ports);
  within(attr_pkey_index, values.pkey_index, 0, limits.pkeys - 1);
  return bad;
}

std::string_view name(QpState state) {
  constexpr std::array<std::string_view, 7> kNames{"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
  const auto index = static_cast<std::size_t>(state);
  return index < kNames.size() ? kNames[index] : "unknown state";
}

std::string_view name(QpAttribute attribute) {
  if (attribute == attr_rate_limit) return "rate limit";
  constexpr std::array<std::string_view, 21> kNames{"state",
                                                    "current state",
                                                    "SQD async notify",
                                                    "access flags",
                                                    "P_Key index",
                                                    "port",
                                                    "Q_Key",
                                                    "address vector",
                                                    "path MTU",
                                                    "timeout",
                                                    "retry count",
                                                    "RNR retry",
                                                    "receive PSN",
                                                    "max RD atomic",
                                                    "alternate path",
                                                    "min RNR timer",
                                                    "send PSN",
                                                    "max destination RD atomic",
                                                    "path migration state",
                                                    "capabilities",
                                                    "destination QPN"};
  const auto bit = static_cast<std::size_t>(std::countr_zero(static_cast<std::uint32_t>(attribute)));
  return bit < kNames.size() ? kNames[bit] : "unknown attribute";
}

}  // namespace urnic::transport
