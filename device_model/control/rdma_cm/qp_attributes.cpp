// INIT_QP_ATTR.
#include <infiniband/verbs.h>

#include <cerrno>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/fabric/partition_table.hpp"
#include "device_model/control/rdma_cm/address_vector.hpp"
#include "device_model/control/rdma_cm/commands.hpp"
#include "device_model/control/rdma_cm/infiniband_addresses.hpp"

namespace urnic::control::rdma_cm {
namespace {

// Before a connection has begun, and for datagrams, which have none: as for INIT, whatever state is asked
// for.
int init_without_connection(const Session& session, const Id& id, ib_uverbs_qp_attr& answer) {
  answer.qp_attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
  answer.port_num = limits::kPorts;
  if (is_datagram(id)) {
    const auto qkey = default_qkey(session.administration.broadcast, id);
    if (!qkey) return EADDRNOTAVAIL;
    answer.qp_attr_mask |= IBV_QP_QKEY;
    answer.qkey = qkey->value;
  } else {
    answer.qp_attr_mask |= IBV_QP_ACCESS_FLAGS;
  }
  return 0;
}

int init(const cm::Attributes& attributes, ib_uverbs_qp_attr& answer) {
  if (!attributes.init) return EINVAL;
  answer.qp_attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  answer.port_num = limits::kPorts;
  if (attributes.init->remote_write) answer.qp_access_flags |= IBV_ACCESS_REMOTE_WRITE;
  if (attributes.init->remote_read_and_atomic)
    answer.qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  return 0;
}

int ready_to_receive(const Id& id, const cm::Attributes& attributes, ib_uverbs_qp_attr& answer) {
  if (!attributes.rtr) return EINVAL;
  const cm::RtrAttributes& rtr = *attributes.rtr;
  answer.qp_attr_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  answer.ah_attr = address_vector(*id.local, rtr.path);
  answer.path_mtu = static_cast<std::uint32_t>(rtr.path.mtu);
  answer.dest_qp_num = rtr.destination.value;
  answer.rq_psn = rtr.receive_psn.value();
  const bool answers =
      attributes.service == cm::ServiceType::reliable || attributes.service == cm::ServiceType::xrc_target;
  if (answers) {
    answer.qp_attr_mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    answer.max_dest_rd_atomic = rtr.responder_resources;
    answer.min_rnr_timer = rtr.min_rnr_timer;
  }
  return 0;
}

int ready_to_send(const Id& id, const cm::Attributes& attributes, ib_uverbs_qp_attr& answer) {
  if (!attributes.rts) return EINVAL;
  const cm::RtsAttributes& rts = *attributes.rts;
  answer.qp_attr_mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
  answer.sq_psn = rts.send_psn.value();
  if (attributes.service == cm::ServiceType::unreliable) return 0;
  answer.qp_attr_mask |= IBV_QP_TIMEOUT;
  answer.timeout = id.ack_timeout.value_or(rts.timeout.value);
  if (attributes.service == cm::ServiceType::xrc_target) return 0;
  answer.qp_attr_mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  answer.max_rd_atomic = rts.initiator_depth;
  answer.retry_cnt = rts.retry_count;
  answer.rnr_retry = rts.rnr_retry;
  return 0;
}

}  // namespace

int init_qp_attributes(Session& session, const rdma_ucm_init_qp_attr& command, ib_uverbs_qp_attr& answer) {
  if (command.qp_state > IBV_QPS_ERR) return EINVAL;
  const Id* id = nullptr;
  if (const int error = find_id_to_read(session, command.id, id)) return error;
  if (!id->local || id->state == IdState::listen) return EINVAL;
  answer.qp_state = command.qp_state;
  if (command.qp_state == IBV_QPS_INIT || !id->connection || is_datagram(*id)) {
    const auto index = pkey_index(session.identifiers.fabric(), *id->local->device, partition_of(*id));
    if (!index) return ENOENT;
    answer.pkey_index = *index;
  }
  if (!id->connection || is_datagram(*id)) return init_without_connection(session, *id, answer);
  const auto attributes = session.identifiers.connections().attributes(*id->connection);
  if (!attributes) return EINVAL;
  switch (command.qp_state) {
    case IBV_QPS_INIT:
      return init(*attributes, answer);
    case IBV_QPS_RTR:
      return ready_to_receive(*id, *attributes, answer);
    case IBV_QPS_RTS:
      return ready_to_send(*id, *attributes, answer);
    default:
      return EINVAL;
  }
}

}  // namespace urnic::control::rdma_cm
