// The table of state transitions, compared with the values of verbs.h.
#define BOOST_TEST_DYN_LINK
#include <infiniband/verbs.h>

#include <boost/test/unit_test.hpp>
#include <vector>

#include "device_model/transport/qp_transitions.hpp"

using namespace urnic::transport;

constexpr bool same(QpAttribute ours, ibv_qp_attr_mask theirs) {
  return static_cast<unsigned>(ours) == static_cast<unsigned>(theirs);
}

static_assert(same(attr_state, IBV_QP_STATE) && same(attr_current_state, IBV_QP_CUR_STATE));
static_assert(same(attr_sqd_async_notify, IBV_QP_EN_SQD_ASYNC_NOTIFY) &&
              same(attr_access_flags, IBV_QP_ACCESS_FLAGS));
static_assert(same(attr_pkey_index, IBV_QP_PKEY_INDEX) && same(attr_port, IBV_QP_PORT) &&
              same(attr_qkey, IBV_QP_QKEY));
static_assert(same(attr_address_vector, IBV_QP_AV) && same(attr_path_mtu, IBV_QP_PATH_MTU));
static_assert(same(attr_timeout, IBV_QP_TIMEOUT) && same(attr_retry_count, IBV_QP_RETRY_CNT));
static_assert(same(attr_rnr_retry, IBV_QP_RNR_RETRY) && same(attr_rq_psn, IBV_QP_RQ_PSN));
static_assert(same(attr_max_qp_rd_atomic, IBV_QP_MAX_QP_RD_ATOMIC) &&
              same(attr_alternate_path, IBV_QP_ALT_PATH));
static_assert(same(attr_min_rnr_timer, IBV_QP_MIN_RNR_TIMER) && same(attr_sq_psn, IBV_QP_SQ_PSN));
static_assert(same(attr_max_dest_rd_atomic, IBV_QP_MAX_DEST_RD_ATOMIC));
static_assert(same(attr_path_migration_state, IBV_QP_PATH_MIG_STATE) && same(attr_capabilities, IBV_QP_CAP));
static_assert(same(attr_destination_qpn, IBV_QP_DEST_QPN));
static_assert(static_cast<int>(QpState::reset) == IBV_QPS_RESET &&
              static_cast<int>(QpState::init) == IBV_QPS_INIT);
static_assert(static_cast<int>(QpState::rtr) == IBV_QPS_RTR && static_cast<int>(QpState::rts) == IBV_QPS_RTS);
static_assert(static_cast<int>(QpState::sqd) == IBV_QPS_SQD && static_cast<int>(QpState::sqe) == IBV_QPS_SQE);
static_assert(static_cast<int>(QpState::error) == IBV_QPS_ERR);

namespace {

constexpr QpState kStates[] = {QpState::reset, QpState::init, QpState::rtr,  QpState::rts,
                               QpState::sqd,   QpState::sqe,  QpState::error};

struct Row {
  QpState from;
  QpState to;
  std::uint32_t required;
  std::uint32_t optional;
};

void check_rows(QpService service, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(name(row.from) << " to " << name(row.to)) {
      const std::uint32_t all = row.required | row.optional;
      BOOST_CHECK(check_transition(service, row.from, row.to, row.required | attr_state).error ==
                  TransitionError::none);
      BOOST_CHECK(check_transition(service, row.from, row.to, all | attr_state).error ==
                  TransitionError::none);
      for (std::uint32_t bit = attr_current_state; bit <= attr_destination_qpn; bit <<= 1) {
        const auto without = check_transition(service, row.from, row.to, (all & ~bit) | attr_state);
        if ((row.required & bit) != 0) {
          BOOST_CHECK(without.error == TransitionError::missing_attribute);
          BOOST_CHECK_EQUAL(without.attributes, bit);
        } else {
          BOOST_CHECK(without.error == TransitionError::none);
        }
        const auto with = check_transition(service, row.from, row.to, all | bit | attr_state);
        BOOST_CHECK_EQUAL(with.error == TransitionError::none, (all & bit) != 0);
        if ((all & bit) == 0 && bit != attr_current_state) {
          BOOST_CHECK(with.error == TransitionError::attribute_not_allowed);
          BOOST_CHECK_EQUAL(with.attributes, bit);
        }
      }
    }
  }
}

constexpr std::uint32_t kMigration = IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE;

}  // namespace

BOOST_AUTO_TEST_SUITE(transitions)

BOOST_AUTO_TEST_CASE(reliable_connection) {
  constexpr std::uint32_t init = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  constexpr std::uint32_t running =
      IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | kMigration;
  check_rows(QpService::rc,
             {{QpState::reset, QpState::init, init, 0},
              {QpState::init, QpState::init, 0, init},
              {QpState::init, QpState::rtr,
               IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
                   IBV_QP_MIN_RNR_TIMER,
               IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
              {QpState::rtr, QpState::rts,
               IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
               running},
              {QpState::rts, QpState::rts, 0, running},
              {QpState::rts, QpState::sqd, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
              {QpState::sqd, QpState::rts, 0, running},
              {QpState::sqd, QpState::sqd, 0,
               IBV_QP_PORT | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                   IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ACCESS_FLAGS |
                   IBV_QP_PKEY_INDEX | IBV_QP_MIN_RNR_TIMER | kMigration}});
}

// As a reliable connection's, but for what a requester, or a responder, alone has.
BOOST_AUTO_TEST_CASE(extended_reliable_connection_initiator) {
  constexpr std::uint32_t init = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  constexpr std::uint32_t running = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | kMigration;
  check_rows(QpService::xrc_initiator,
             {{QpState::reset, QpState::init, init, 0},
              {QpState::init, QpState::init, 0, init},
              {QpState::init, QpState::rtr, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
               IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
              {QpState::rtr, QpState::rts,
               IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
               running},
              {QpState::rts, QpState::rts, 0, running},
              {QpState::rts, QpState::sqd, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
              {QpState::sqd, QpState::rts, 0, running},
              {QpState::sqd, QpState::sqd, 0,
               IBV_QP_PORT | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                   IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | kMigration}});
}

BOOST_AUTO_TEST_CASE(extended_reliable_connection_target) {
  constexpr std::uint32_t init = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  constexpr std::uint32_t running =
      IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | kMigration;
  check_rows(QpService::xrc_target,
             {{QpState::reset, QpState::init, init, 0},
              {QpState::init, QpState::init, 0, init},
              {QpState::init, QpState::rtr,
               IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
                   IBV_QP_MIN_RNR_TIMER,
               IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
              {QpState::rtr, QpState::rts, IBV_QP_TIMEOUT | IBV_QP_SQ_PSN, running},
              {QpState::rts, QpState::rts, 0, running},
              {QpState::rts, QpState::sqd, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
              {QpState::sqd, QpState::rts, 0, running},
              {QpState::sqd, QpState::sqd, 0,
               IBV_QP_PORT | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ACCESS_FLAGS |
                   IBV_QP_PKEY_INDEX | IBV_QP_MIN_RNR_TIMER | kMigration}});
}

BOOST_AUTO_TEST_CASE(an_end_of_an_extended_reliable_connection_passes_over_what_the_other_half_has) {
  constexpr std::uint32_t all = ~0u;
  constexpr std::uint32_t requester = IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  constexpr std::uint32_t responder = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  BOOST_CHECK_EQUAL(heeded(QpService::xrc_initiator, all), all & ~responder);
  BOOST_CHECK_EQUAL(heeded(QpService::xrc_target, all), all & ~requester);
  for (const QpService service : {QpService::rc, QpService::uc, QpService::ud}) {
    BOOST_CHECK_EQUAL(heeded(service, all), all);
  }
}

BOOST_AUTO_TEST_CASE(unreliable_connection) {
  constexpr std::uint32_t init = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  constexpr std::uint32_t running = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | kMigration;
  check_rows(
      QpService::uc,
      {{QpState::reset, QpState::init, init, 0},
       {QpState::init, QpState::init, 0, init},
       {QpState::init, QpState::rtr, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
        IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
       {QpState::rtr, QpState::rts, IBV_QP_SQ_PSN, running},
       {QpState::rts, QpState::rts, 0, running},
       {QpState::rts, QpState::sqd, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
       {QpState::sqd, QpState::rts, 0, running},
       {QpState::sqd, QpState::sqd, 0, IBV_QP_AV | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | kMigration},
       {QpState::sqe, QpState::rts, 0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS}});
}

BOOST_AUTO_TEST_CASE(unreliable_datagram) {
  constexpr std::uint32_t init = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
  constexpr std::uint32_t running = IBV_QP_CUR_STATE | IBV_QP_QKEY;
  check_rows(QpService::ud, {{QpState::reset, QpState::init, init, 0},
                             {QpState::init, QpState::init, 0, init},
                             {QpState::init, QpState::rtr, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
                             {QpState::rtr, QpState::rts, IBV_QP_SQ_PSN, running},
                             {QpState::rts, QpState::rts, 0, running},
                             {QpState::rts, QpState::sqd, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
                             {QpState::sqd, QpState::rts, 0, running},
                             {QpState::sqd, QpState::sqd, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
                             {QpState::sqe, QpState::rts, 0, running}});
}

BOOST_AUTO_TEST_CASE(raw_packet) {
  check_rows(QpService::raw_packet, {{QpState::reset, QpState::init, IBV_QP_PORT, 0},
                                     {QpState::init, QpState::init, 0, 0},
                                     {QpState::init, QpState::rtr, 0, 0},
                                     {QpState::rtr, QpState::rts, 0, IBV_QP_RATE_LIMIT},
                                     {QpState::rts, QpState::rts, 0, IBV_QP_RATE_LIMIT},
                                     {QpState::rts, QpState::sqd, 0, 0},
                                     {QpState::sqd, QpState::rts, 0, 0},
                                     {QpState::sqe, QpState::rts, 0, 0}});
}

BOOST_AUTO_TEST_CASE(reset_and_error_are_reached_from_everywhere_and_take_nothing) {
  for (const QpState from : kStates) {
    BOOST_CHECK(check_transition(QpService::rc, from, QpState::reset, attr_state).error ==
                TransitionError::none);
    BOOST_CHECK_EQUAL(
        check_transition(QpService::rc, from, QpState::error, attr_state).error == TransitionError::none,
        from != QpState::reset);
    BOOST_CHECK(check_transition(QpService::rc, from, QpState::reset, attr_state | attr_port).error ==
                TransitionError::attribute_not_allowed);
  }
}

BOOST_AUTO_TEST_CASE(there_are_no_other_transitions) {
  const std::pair<QpState, QpState> allowed[] = {
      {QpState::reset, QpState::init}, {QpState::init, QpState::init}, {QpState::init, QpState::rtr},
      {QpState::rtr, QpState::rts},    {QpState::rts, QpState::rts},   {QpState::rts, QpState::sqd},
      {QpState::sqd, QpState::rts},    {QpState::sqd, QpState::sqd},   {QpState::sqe, QpState::rts}};
  for (const QpState from : kStates) {
    for (const QpState to : kStates) {
      if (to == QpState::reset || to == QpState::error) continue;
      const bool exists =
          std::find(std::begin(allowed), std::end(allowed), std::pair(from, to)) != std::end(allowed);
      BOOST_CHECK_EQUAL(
          check_transition(QpService::rc, from, to, attr_state).error == TransitionError::no_such_transition,
          !exists);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_current_state_may_be_stated_where_the_queue_pair_can_leave_it_by_itself) {
  constexpr std::uint32_t mask = attr_state | attr_current_state;
  BOOST_CHECK(check_transition(QpService::rc, QpState::rts, QpState::rts, mask, QpState::rts).error ==
              TransitionError::none);
  BOOST_CHECK(check_transition(QpService::rc, QpState::rts, QpState::rts, mask, QpState::sqd).error ==
              TransitionError::wrong_current_state);
  BOOST_CHECK(check_transition(QpService::rc, QpState::init, QpState::reset, mask, QpState::init).error ==
              TransitionError::wrong_current_state);
}

BOOST_AUTO_TEST_CASE(values_have_their_ranges) {
  const QpAttributeLimits limits{
      .active_mtu = 4, .max_qp_rd_atomic = 16, .max_dest_rd_atomic = 8, .ports = 2, .pkeys = 1};
  const struct {
    QpAttribute attribute;
    std::uint32_t QpAttributeValues::*value;
    std::uint32_t least;
    std::uint32_t most;
  } rows[] = {{attr_path_mtu, &QpAttributeValues::path_mtu, 1, 4},
              {attr_timeout, &QpAttributeValues::timeout, 0, 31},
              {attr_retry_count, &QpAttributeValues::retry_count, 0, 7},
              {attr_rnr_retry, &QpAttributeValues::rnr_retry, 0, 7},
              {attr_min_rnr_timer, &QpAttributeValues::min_rnr_timer, 0, 31},
              {attr_max_qp_rd_atomic, &QpAttributeValues::max_qp_rd_atomic, 0, 16},
              {attr_max_dest_rd_atomic, &QpAttributeValues::max_dest_rd_atomic, 0, 8},
              {attr_port, &QpAttributeValues::port, 1, 2},
              {attr_pkey_index, &QpAttributeValues::pkey_index, 0, 0}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(name(row.attribute)) {
      QpAttributeValues values;
      for (const std::uint32_t good : {row.least, row.most}) {
        values.*row.value = good;
        BOOST_CHECK_EQUAL(bad_values(row.attribute, values, limits), 0u);
      }
      values.*row.value = row.most + 1;
      BOOST_CHECK_EQUAL(bad_values(row.attribute, values, limits), row.attribute);
      values.*row.value = row.least - 1;  // wraps to a very large one where 0 is good
      BOOST_CHECK_EQUAL(bad_values(row.attribute, values, limits), row.attribute);
      BOOST_CHECK_EQUAL(bad_values(0, values, limits), 0u);
    }
  }
}

BOOST_AUTO_TEST_CASE(names) {
  BOOST_CHECK_EQUAL(name(QpState::sqd), "SQD");
  BOOST_CHECK_EQUAL(name(attr_path_mtu), "path MTU");
  BOOST_CHECK_EQUAL(name(attr_destination_qpn), "destination QPN");
}

BOOST_AUTO_TEST_SUITE_END()
