#include "provider/plugin/objects/ah.hpp"
#include "provider/plugin/objects/qp.hpp"

namespace urnic::provider {

abi::QpAttributes to_abi(const ibv_qp_attr& from) {
  abi::QpAttributes to{};
  to.state = from.qp_state;
  to.current_state = from.cur_qp_state;
  to.path_mtu = from.path_mtu;
  to.path_migration_state = from.path_mig_state;
  to.qkey = from.qkey;
  to.receive_psn = from.rq_psn;
  to.send_psn = from.sq_psn;
  to.destination_qpn = from.dest_qp_num;
  to.access_flags = from.qp_access_flags;
  to.path = to_abi(from.ah_attr);
  to.alternate_path = to_abi(from.alt_ah_attr);
  to.pkey_index = from.pkey_index;
  to.alternate_pkey_index = from.alt_pkey_index;
  to.enable_sqd_notify = from.en_sqd_async_notify;
  to.sq_draining = from.sq_draining;
  to.max_rd_atomic = from.max_rd_atomic;
  to.max_dest_rd_atomic = from.max_dest_rd_atomic;
  to.min_rnr_timer = from.min_rnr_timer;
  to.port = from.port_num;
  to.timeout = from.timeout;
  to.retry_count = from.retry_cnt;
  to.rnr_retry = from.rnr_retry;
  to.alternate_port = from.alt_port_num;
  to.alternate_timeout = from.alt_timeout;
  to.rate_limit = from.rate_limit;
  return to;
}

void from_abi(const abi::QpAttributes& from, ibv_qp_attr& to) {
  to = ibv_qp_attr{};
  to.qp_state = static_cast<ibv_qp_state>(from.state);
  to.cur_qp_state = static_cast<ibv_qp_state>(from.current_state);
  to.path_mtu = static_cast<ibv_mtu>(from.path_mtu);
  to.path_mig_state = static_cast<ibv_mig_state>(from.path_migration_state);
  to.qkey = from.qkey;
  to.rq_psn = from.receive_psn;
  to.sq_psn = from.send_psn;
  to.dest_qp_num = from.destination_qpn;
  to.qp_access_flags = from.access_flags;
  to.ah_attr = from_abi(from.path);
  to.alt_ah_attr = from_abi(from.alternate_path);
  to.pkey_index = from.pkey_index;
  to.alt_pkey_index = from.alternate_pkey_index;
  to.en_sqd_async_notify = from.enable_sqd_notify;
  to.sq_draining = from.sq_draining;
  to.max_rd_atomic = from.max_rd_atomic;
  to.max_dest_rd_atomic = from.max_dest_rd_atomic;
  to.min_rnr_timer = from.min_rnr_timer;
  to.port_num = from.port;
  to.timeout = from.timeout;
  to.retry_cnt = from.retry_count;
  to.rnr_retry = from.rnr_retry;
  to.alt_port_num = from.alternate_port;
  to.alt_timeout = from.alternate_timeout;
  to.rate_limit = from.rate_limit;
}

}  // namespace urnic::provider
