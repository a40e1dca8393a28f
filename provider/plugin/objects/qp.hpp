// The provider's queue pair.
#pragma once

#include <atomic>
#include <cstdint>

#include "device_model/abi/control.hpp"
#include "device_model/abi/queues.hpp"
#include "provider/plugin/connection/verbs_context.hpp"
#include "provider/plugin/queues/work_queue.hpp"
#include "provider/private_abi.hpp"

namespace urnic::provider {

// The state between ibv_wr_start and ibv_wr_complete, while work requests are built. Guarded by the send
// queue's lock.
struct WorkRequestBuilder {
  std::uint32_t next_index;
  abi::SendWqe* wqe;  // under construction; the setters fill it
  int error;          // the first errno; ibv_wr_complete returns it
};

struct IndirectionTable;

// Enhanced connection establishment, as the device has it.
struct EceOptions {
  std::uint32_t vendor_id;  // 0: not known here
  std::uint32_t offered;    // by the device, for this QP
  std::uint32_t declined;   // by the program, since the peer lacks them
};

// INIT to INIT, which the device does not know yet: nobody sees it before the QP is in RTR, so it goes there
// with the next request. Guarded by the context's control lock.
struct PostponedAccess {
  bool is_there;
  std::uint32_t flags;  // ibv_access_flags
};

struct Qp {
  private_abi::Qp verbs;  // first: the library hands out its address
  Context* context;

  WorkQueue send;
  WorkQueue receive;
  abi::QueuePairIndices* indices;
  std::uint32_t doorbell;
  std::uint32_t max_inline_data;
  unsigned int implied_flags;  // ibv_send_flags of every request (sq_sig_all)
  WorkRequestBuilder builder;
  IndirectionTable* rss_table;  // of an RSS QP, which has no queues; null: any other QP
  EceOptions ece;
  PostponedAccess postponed;

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

// Makes the queue pair of an ibv_wq; `attributes` as for create_qp_ex (qp.cpp). Null and errno on failure;
// destroy_qp frees the result.
ibv_qp* create_work_queue(ibv_context* verbs, ibv_qp_init_attr_ex& attributes);

// Sets the function pointers that the library's ibv_qp_ex has (qp_ex.cpp).
void install_builders(ibv_qp_ex& qp, const Layout& layout);

// ibv_qp_attr to and from the control protocol's form (qp_attributes.cpp).
abi::QpAttributes to_abi(const ibv_qp_attr& attributes);
void from_abi(const abi::QpAttributes& from, ibv_qp_attr& to);

}  // namespace urnic::provider
