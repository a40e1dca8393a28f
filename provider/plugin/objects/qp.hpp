// A queue pair as the provider sees it.
#pragma once

#include <atomic>
#include <cstdint>

#include "device_model/abi/control.hpp"
#include "device_model/abi/queues.hpp"
#include "provider/plugin/connection/context.hpp"
#include "provider/plugin/queues/work_queue.hpp"
#include "provider/rdmav34.hpp"

namespace urnic::provider {

// The work requests that ibv_wr_start .. ibv_wr_complete builds; guarded by the send queue's lock.
struct WorkRequestBuilder {
  std::uint32_t next_index;
  abi::SendWqe* wqe;  // the one under construction, whose data the setters give
  int error;          // of the first thing that went wrong; reported by ibv_wr_complete
};

struct IndirectionTable;

struct Qp {
  rdmav34::Qp verbs;  // first: the library hands out its address
  Context* context;

  WorkQueue send;
  WorkQueue receive;
  abi::QueuePairIndices* indices;
  std::uint32_t doorbell;
  std::uint32_t max_inline_data;
  unsigned int implied_flags;  // ibv_send_flags of every request (sq_sig_all)
  WorkRequestBuilder builder;
  IndirectionTable* spread_by;  // of an RSS QP, which has no queues; null: it has its own

  std::atomic<std::uint32_t> async_events_read;

  Qp* next;
  Qp* previous;
};

inline Qp& qp_of(ibv_qp* qp) { return *reinterpret_cast<Qp*>(qp); }
inline Qp& qp_of(ibv_qp_ex* qp) { return *reinterpret_cast<Qp*>(qp); }

// Whether send work requests may be posted (IBTA 10.3.1: from RTS on; in the error states they are flushed).
inline bool takes_sends(const Qp& qp) { return qp.verbs.qp.state >= IBV_QPS_RTS; }

inline bool is_datagram(const Qp& qp) { return qp.verbs.qp.qp_type == IBV_QPT_UD; }
inline bool is_xrc_send(const Qp& qp) { return qp.verbs.qp.qp_type == IBV_QPT_XRC_SEND; }
// An XRC target has no queues: nothing is posted to it.
inline bool is_xrc_target(ibv_qp_type type) { return type == IBV_QPT_XRC_RECV; }

// Whether receives are posted to the QP itself.
inline bool has_receive_queue(const ibv_qp& qp) {
  return qp.srq == nullptr && qp.qp_type != IBV_QPT_XRC_SEND && !is_xrc_target(qp.qp_type);
}

// Hands the send WQEs before `end` to the device.
inline void publish_sends(Qp& qp, std::uint32_t end) {
  qp.send.publish(end);
  ring_doorbell(*qp.context, qp.doorbell);
}

// The queue pair behind an ibv_wq, with `attributes` as create_qp_ex takes them (qp.cpp). Null and errno, or
// a queue pair that destroy_qp takes.
ibv_qp* create_work_queue(ibv_context* verbs, ibv_qp_init_attr_ex& attributes);

// Gives the QP the functions of ibv_qp_ex (qp_ex.cpp).
void install_builders(ibv_qp_ex& qp);

// ibv_qp_attr to and from the control protocol's form (qp_attributes.cpp).
abi::QpAttributes to_abi(const ibv_qp_attr& attributes);
void from_abi(const abi::QpAttributes& from, ibv_qp_attr& to);

}  // namespace urnic::provider
