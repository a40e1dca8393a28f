#include <sched.h>
#include <time.h>

#include <cstring>

#include "provider/freestanding/clock.hpp"
#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/connection/device_death.hpp"
#include "provider/plugin/errno_rule.hpp"
#include "provider/plugin/fast_path/empty_polls.hpp"
#include "provider/plugin/objects/cq.hpp"
#include "provider/plugin/objects/qp.hpp"
#include "provider/plugin/objects/srq.hpp"
#include "provider/plugin/objects/tag_completions.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {
namespace {

constexpr std::uint32_t kPollsBetweenLooksForDeath = 4096;
constexpr std::uint32_t kNapsBetweenLooksForDeath = 64;

// In a forked child the receive buffer is the parent's memory, whatever the child has at that address. So the
// device places the data. If it cannot, the region, the parent or the device is gone, and nobody waits for
// the data.
void place_in_parent(Context& context, const abi::ScatterGather& segment, const std::uint8_t* data,
                     std::uint32_t length) {
  abi::PlaceReceivedRequest request{segment.address, segment.lkey, length, {}};
  std::memcpy(request.data, data, length);
  abi::Empty ignored;
  call(context, abi::ControlOpcode::place_received, request, ignored);
}

// Copies received data from the CQE to the segments of the receive WQE.
void scatter(Context& context, const void* slot, std::uint32_t max_sge, const abi::Cqe& cqe) {
  const auto* wqe = static_cast<const abi::ReceiveWqe*>(slot);
  const auto* segments = reinterpret_cast<const abi::ScatterGather*>(wqe + 1);
  const std::uint8_t* data = cqe.inline_data;
  std::uint32_t left = cqe.byte_length < abi::kCqeInlineBytes ? cqe.byte_length : abi::kCqeInlineBytes;
  const bool is_owner = context.owner.is_here();
  const std::uint32_t count = wqe->sge_count < max_sge ? wqe->sge_count : max_sge;
  for (std::uint32_t i = 0; i < count && left != 0; ++i) {
    const std::uint32_t part = segments[i].length < left ? segments[i].length : left;
    if (is_owner) {
      std::memcpy(reinterpret_cast<void*>(segments[i].address), data, part);
    } else {
      place_in_parent(context, segments[i], data, part);
    }
    data += part;
    left -= part;
  }
}

std::uint64_t timestamp_of(const abi::Cqe& cqe) {
  if ((cqe.flags & abi::cqe_timestamp) == 0) return 0;
  std::uint64_t time;
  std::memcpy(&time, cqe.inline_data, sizeof time);
  return time;
}

void copy(Completion& to, const abi::Cqe& from) {
  to.qpn = from.qpn;
  to.byte_length = from.byte_length;
  to.immediate_or_rkey = from.immediate_or_rkey;
  to.error_or_route = from.error_or_route;
  to.source_qpn = from.source_qpn;
  to.timestamp = timestamp_of(from);
  to.status = from.status;
  to.opcode = from.opcode;
  to.flags = from.flags;
}

bool complete_shared_receive(const Cq& cq, const abi::Cqe& cqe, Completion& completion) {
  Srq* srq = cq.context->srqs_by_number.find(abi::shared_receive_queue_of(cqe));
  if (srq == nullptr) return false;
  SharedReceiveSlots& receive = srq->receive;
  Lock lock(receive.lock);
  copy(completion, cqe);
  if (abi::is_tag_completion(cqe)) {
    settle_tag_completion(*srq, cqe, completion);
    return true;
  }
  completion.wr_id = receive.wr_id(cqe.wqe_index);
  if ((cqe.flags & abi::cqe_inline) != 0) {
    scatter(*cq.context, receive.slot(cqe.wqe_index), receive.max_sge, cqe);
  }
  receive.give_back(cqe.wqe_index);
  return true;
}

// False: this context has no such QP or SRQ.
bool complete(const Cq& cq, const abi::Cqe& cqe, Completion& completion) {
  if ((cqe.flags & abi::cqe_shared_receive) != 0) return complete_shared_receive(cq, cqe, completion);
  Qp* qp = cq.context->qps_by_number.find(cqe.qpn);
  if (qp == nullptr) return false;
  const bool is_receive = (cqe.flags & abi::cqe_receive) != 0;
  WorkQueue& queue = is_receive ? qp->receive : qp->send;
  if (queue.slots() == 0) return false;
  completion.wr_id = queue.wr_id(cqe.wqe_index);
  copy(completion, cqe);
  if (is_receive && (cqe.flags & abi::cqe_inline) != 0) {
    scatter(*cq.context, queue.slot(cqe.wqe_index), queue.max_sge(), cqe);
  }
  queue.retire(cqe.wqe_index);
  return true;
}

void flush_next(WorkQueue& queue, std::uint32_t qpn, bool is_receive, Completion& completion) {
  const std::uint32_t index = queue.consumer();
  completion = Completion{};
  completion.wr_id = queue.wr_id(index);
  completion.qpn = qpn;
  completion.status = IBV_WC_WR_FLUSH_ERR;
  completion.opcode = is_receive ? IBV_WC_RECV : IBV_WC_SEND;
  completion.flags = is_receive ? abi::cqe_receive : 0;
  queue.retire(index);
}

// A queue that completes on `cq` and has outstanding WQEs, and its QP's number; null if there is none.
WorkQueue* find_outstanding(Cq& cq, std::uint32_t& qpn, bool& is_receive) {
  Lock lock(cq.context->objects_lock);
  for (Qp* qp = cq.context->qps.first(); qp != nullptr; qp = qp->next) {
    const ibv_qp& verbs = qp->verbs.qp;
    const bool sends = verbs.send_cq == &cq.verbs.cq && qp->send.has_outstanding();
    const bool receives = verbs.recv_cq == &cq.verbs.cq && qp->receive.has_outstanding();
    if (!sends && !receives) continue;
    qpn = verbs.qp_num;
    is_receive = !sends;
    return sends ? &qp->send : &qp->receive;
  }
  return nullptr;
}

// Completes one outstanding work request of a dead device (IBTA 10.3.1: outstanding work completes in error).
bool next_flush_error(Cq& cq, Completion& completion) {
  std::uint32_t qpn;
  bool is_receive;
  WorkQueue* queue = find_outstanding(cq, qpn, is_receive);
  if (queue == nullptr) return false;
  flush_next(*queue, qpn, is_receive, completion);
  return true;
}

[[gnu::cold]] void fill_error_or_route(ibv_wc& wc, const Completion& completion) {
  const std::uint32_t route = local_route_of(completion);
  wc.vendor_err = vendor_error_of(completion);
  wc.slid = abi::source_lid_of(route);
  wc.dlid_path_bits = abi::path_bits_of(route);
}

void fill(ibv_wc& wc, const Completion& completion) {
  wc = ibv_wc{};
  wc.wr_id = completion.wr_id;
  wc.status = static_cast<ibv_wc_status>(completion.status);
  wc.opcode = static_cast<ibv_wc_opcode>(completion.opcode);
  wc.byte_len = completion.byte_length;
  wc.imm_data = completion.immediate_or_rkey;
  wc.qp_num = completion.qpn;
  wc.src_qp = completion.source_qpn;
  wc.wc_flags = wc_flags_of(completion);
  wc.sl = service_level_of(completion);
  if (completion.error_or_route != 0) [[unlikely]]
    fill_error_or_route(wc, completion);
}

unsigned int tag_wc_flags_of(const Completion& completion) {
  unsigned int flags = 0;
  if ((completion.tag_flags & abi::tag_sync_required) != 0) flags |= IBV_WC_TM_SYNC_REQ;
  if ((completion.tag_flags & abi::tag_matched) != 0) flags |= IBV_WC_TM_MATCH;
  if ((completion.tag_flags & abi::tag_data_valid) != 0) flags |= IBV_WC_TM_DATA_VALID;
  return flags;
}

}  // namespace

std::uint32_t vendor_error_of(const Completion& completion) {
  return completion.status != IBV_WC_SUCCESS ? completion.error_or_route : 0;
}

std::uint32_t local_route_of(const Completion& completion) {
  return completion.status == IBV_WC_SUCCESS ? completion.error_or_route : 0;
}

unsigned int wc_flags_of(const Completion& completion) {
  unsigned int flags = 0;
  if ((completion.flags & abi::cqe_grh) != 0) flags |= IBV_WC_GRH;
  if ((completion.flags & abi::cqe_with_immediate) != 0) flags |= IBV_WC_WITH_IMM;
  if ((completion.flags & abi::cqe_with_invalidate) != 0) flags |= IBV_WC_WITH_INV;
  if (is_tag_completion(completion)) flags |= tag_wc_flags_of(completion);
  return flags;
}

std::uint8_t service_level_of(const Completion& completion) {
  constexpr std::uint8_t kUdp = 8;
  constexpr std::uint8_t kIpv6 = 1;
  constexpr std::uint8_t kIpv4 = 2;
  if (const std::uint32_t route = local_route_of(completion)) [[unlikely]]
    return abi::service_level_of(route);
  if ((completion.flags & abi::cqe_grh) == 0) return 0;
  return kUdp | ((completion.flags & abi::cqe_over_ipv6) != 0 ? kIpv6 : kIpv4);
}

bool next_completion(Cq& cq, Completion& completion) {
  while (const abi::Cqe* cqe = cq.ring.peek()) {
    const bool known = complete(cq, *cqe, completion);
    cq.ring.advance();
    if (known) return true;
    cq.ring.publish();
  }
  return is_dead(*cq.context) && next_flush_error(cq, completion);
}

bool has_flush_errors(Cq& cq) {
  std::uint32_t qpn;
  bool is_receive;
  return is_dead(*cq.context) && find_outstanding(cq, qpn, is_receive) != nullptr;
}

bool rest_after_empty_poll(Context& context) {
  EmptyPolls& polls = empty_polls();
  const std::uint32_t in_a_row = polls.count();
  if (in_a_row % kPollsBetweenLooksForDeath == 0) {
    const KeptErrno kept;
    look_for_death(context);
  }
  if (in_a_row <= EmptyPolls::kBeforeYield) return false;
  const KeptErrno kept;  // a signal may end the nap
  const bool starved = context.engine_status->starved.load(std::memory_order_relaxed) != 0;
  if (const std::int64_t nap = polls.nap_at(nanoseconds_of(CLOCK_MONOTONIC), starved); nap != 0) {
    if (in_a_row % kNapsBetweenLooksForDeath == 0) look_for_death(context);
    const timespec time{0, nap};
    nanosleep(&time, nullptr);
  } else {
    sched_yield();
  }
  polls.rested(nanoseconds_of(CLOCK_MONOTONIC));
  return true;
}

namespace {

int take(Cq& cq, int count, ibv_wc* completions) {
  int found = 0;
  Lock lock(cq.lock);
  Completion completion;
  while (found < count && next_completion(cq, completion)) fill(completions[found++], completion);
  if (found != 0) cq.ring.publish();
  return found;
}

}  // namespace

int poll_cq(ibv_cq* verbs, int count, ibv_wc* completions) {
  Cq& cq = cq_of(verbs);
  int found = take(cq, count, completions);
  if (found == 0 && rest_after_empty_poll(*cq.context)) found = take(cq, count, completions);
  if (found != 0) empty_polls().found(static_cast<std::uint32_t>(found));
  return found;
}

}  // namespace urnic::provider
