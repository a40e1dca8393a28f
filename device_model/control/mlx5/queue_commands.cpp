// Commands on queues that exist: CQs, SRQs and queue pairs.
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

#include <cerrno>

#include "device_model/abi/steering_messages.hpp"
#include "device_model/control/mlx5/address_vector.hpp"
#include "device_model/control/mlx5/handlers.hpp"
#include "device_model/control/uverbs/commands.hpp"

namespace urnic::control::mlx5 {
namespace {

// What MODIFY_QP may name, and what only its extended form may (Linux, IB_USER_LEGACY_LAST_QP_ATTR_MASK).
constexpr std::uint32_t kPlainAttributes = (IBV_QP_DEST_QPN << 1) - 1;
constexpr std::uint32_t kAllAttributes = (IBV_QP_RATE_LIMIT << 1) - 1;

abi::QpAttributes to_attributes(const ib_uverbs_modify_qp& request) {
  abi::QpAttributes a{};
  a.state = request.qp_state;
  a.current_state = request.cur_qp_state;
  a.path_mtu = request.path_mtu;
  a.path_migration_state = request.path_mig_state;
  a.qkey = request.qkey;
  a.receive_psn = request.rq_psn;
  a.send_psn = request.sq_psn;
  a.destination_qpn = request.dest_qp_num;
  a.access_flags = request.qp_access_flags;
  a.path = to_address_vector(request.dest);
  a.alternate_path = to_address_vector(request.alt_dest);
  a.pkey_index = request.pkey_index;
  a.alternate_pkey_index = request.alt_pkey_index;
  a.enable_sqd_notify = request.en_sqd_async_notify;
  a.max_rd_atomic = request.max_rd_atomic;
  a.max_dest_rd_atomic = request.max_dest_rd_atomic;
  a.min_rnr_timer = request.min_rnr_timer;
  a.port = request.port_num;
  a.timeout = request.timeout;
  a.retry_count = request.retry_cnt;
  a.rnr_retry = request.rnr_retry;
  a.alternate_port = request.alt_port_num;
  a.alternate_timeout = request.alt_timeout;
  return a;
}

int modify(Command& command, const ib_uverbs_ex_modify_qp& request, std::uint32_t known) {
  if ((request.base.attr_mask & ~known) != 0) return EOPNOTSUPP;
  abi::ModifyQpRequest wanted{request.base.qp_handle, request.base.attr_mask, to_attributes(request.base)};
  wanted.attributes.rate_limit = request.rate_limit;
  abi::Empty ignored{};
  return control::modify_qp(command.session, wanted, ignored, command.descriptors);
}

ib_uverbs_query_qp_resp to_response(const abi::QueryQpReply& known) {
  const abi::QpAttributes& a = known.attributes;
  ib_uverbs_query_qp_resp response{};
  response.dest = to_destination(a.path);
  response.alt_dest = to_destination(a.alternate_path);
  response.max_send_wr = known.max_send_wr;
  response.max_recv_wr = known.max_receive_wr;
  response.max_send_sge = known.max_send_sge;
  response.max_recv_sge = known.max_receive_sge;
  response.max_inline_data = known.max_inline_data;
  response.qkey = a.qkey;
  response.rq_psn = a.receive_psn;
  response.sq_psn = a.send_psn;
  response.dest_qp_num = a.destination_qpn;
  response.qp_access_flags = a.access_flags;
  response.pkey_index = a.pkey_index;
  response.alt_pkey_index = a.alternate_pkey_index;
  response.qp_state = static_cast<__u8>(a.state);
  response.cur_qp_state = static_cast<__u8>(a.current_state);
  response.path_mtu = static_cast<__u8>(a.path_mtu);
  response.path_mig_state = static_cast<__u8>(a.path_migration_state);
  response.sq_draining = a.sq_draining;
  response.max_rd_atomic = a.max_rd_atomic;
  response.max_dest_rd_atomic = a.max_dest_rd_atomic;
  response.min_rnr_timer = a.min_rnr_timer;
  response.port_num = a.port;
  response.timeout = a.timeout;
  response.retry_cnt = a.retry_count;
  response.rnr_retry = a.rnr_retry;
  response.alt_port_num = a.alternate_port;
  response.alt_timeout = a.alternate_timeout;
  response.sq_sig_all = static_cast<__u8>(known.signal_all);
  return response;
}

template <class Request>
abi::MulticastRequest to_multicast(const Request& request) {
  abi::MulticastRequest wanted{};
  std::memcpy(wanted.group, request.gid, sizeof wanted.group);
  wanted.qp = request.qp_handle;
  return wanted;
}

}  // namespace

int destroy_cq(Command& command) {
  const auto request = begin_of<ib_uverbs_destroy_cq>(command.core_input);
  abi::DestroyReply told{};
  if (const int error =
          control::destroy_cq(command.session, {request.cq_handle, 0}, told, command.descriptors))
    return error;
  ib_uverbs_destroy_cq_resp response{};
  response.comp_events_reported = told.completion_events_reported;
  response.async_events_reported = told.async_events_reported;
  command.core.set(response);
  return 0;
}

int modify_cq(Command& command) {
  const auto request = begin_of<ib_uverbs_ex_modify_cq>(command.core_input);
  if (request.attr_mask != IBV_CQ_ATTR_MODERATE || request.reserved != 0) return EOPNOTSUPP;
  abi::Empty ignored{};
  return control::modify_cq(command.session,
                            {request.cq_handle, request.attr.cq_count, request.attr.cq_period}, ignored,
                            command.descriptors);
}

int query_qp(Command& command) {
  const auto request = begin_of<ib_uverbs_query_qp>(command.core_input);
  abi::QueryQpReply known{};
  if (const int error =
          control::query_qp(command.session, {request.qp_handle, 0}, known, command.descriptors))
    return error;
  command.core.set(to_response(known));
  return 0;
}

int modify_qp(Command& command) {
  ib_uverbs_ex_modify_qp request{};
  request.base = begin_of<ib_uverbs_modify_qp>(command.core_input);
  return modify(command, request, kPlainAttributes);
}

int modify_qp_extended(Command& command) {
  const auto request = begin_of<ib_uverbs_ex_modify_qp>(command.core_input);
  if (asks_for_more(command.core_input, sizeof request)) return EOPNOTSUPP;
  if (const int error = modify(command, request, kAllAttributes)) return error;
  ib_uverbs_ex_modify_qp_resp response{};
  response.response_length = static_cast<__u32>(std::min(command.core.room(), sizeof response));
  command.core.set(response);
  return 0;
}

int destroy_qp(Command& command) {
  const auto request = begin_of<ib_uverbs_destroy_qp>(command.core_input);
  if ((request.qp_handle & abi::kRssQpHandle) != 0) return destroy_rss_qp(command, request.qp_handle);
  abi::DestroyReply told{};
  if (const int error =
          control::destroy_qp(command.session, {request.qp_handle, 0}, told, command.descriptors))
    return error;
  command.core.set(ib_uverbs_destroy_qp_resp{told.async_events_reported});
  return 0;
}

int attach_multicast(Command& command) {
  abi::Empty ignored{};
  return control::attach_multicast(command.session,
                                   to_multicast(begin_of<ib_uverbs_attach_mcast>(command.core_input)),
                                   ignored, command.descriptors);
}

int detach_multicast(Command& command) {
  abi::Empty ignored{};
  return control::detach_multicast(command.session,
                                   to_multicast(begin_of<ib_uverbs_detach_mcast>(command.core_input)),
                                   ignored, command.descriptors);
}

// Its size is the memory's that the program has made for it.
int modify_srq(Command& command) {
  const auto request = begin_of<ib_uverbs_modify_srq>(command.core_input);
  if ((request.attr_mask & IBV_SRQ_MAX_WR) != 0) return EINVAL;
  abi::ModifySrqReply ignored{};
  return control::modify_srq(command.session, {request.srq_handle, request.attr_mask, 0, request.srq_limit},
                             ignored, command.descriptors);
}

int query_srq(Command& command) {
  const auto request = begin_of<ib_uverbs_query_srq>(command.core_input);
  abi::QuerySrqReply known{};
  if (const int error =
          control::query_srq(command.session, {request.srq_handle, 0}, known, command.descriptors))
    return error;
  command.core.set(ib_uverbs_query_srq_resp{known.max_wr, known.max_sge, known.limit, 0});
  return 0;
}

int destroy_srq(Command& command) {
  const auto request = begin_of<ib_uverbs_destroy_srq>(command.core_input);
  abi::DestroyReply told{};
  if (const int error =
          control::destroy_srq(command.session, {request.srq_handle, 0}, told, command.descriptors))
    return error;
  command.core.set(ib_uverbs_destroy_srq_resp{told.async_events_reported});
  return 0;
}

}  // namespace urnic::control::mlx5
