// What the agent does with its queues: posts, polls, takes events, looks at its memory.
#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "script/agent/agent.hpp"

namespace urnic::script {
namespace {

const Answer kNothing{.nothing = true};

unsigned flags_of(const Call& call) {
  unsigned flags = 0;
  if (call.number("signaled", 1) != 0) flags |= IBV_SEND_SIGNALED;
  if (call.number("solicited") != 0) flags |= IBV_SEND_SOLICITED;
  if (call.number("fence") != 0) flags |= IBV_SEND_FENCE;
  if (call.has("inline")) flags |= IBV_SEND_INLINE;
  return flags;
}

bool is_atomic(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

Answer answer_of(const ibv_wc& completion) {
  Answer answer;
  answer.numbers = {{"wr_id", completion.wr_id}, {"status", completion.status}};
  // Of a completion in error nothing else is defined (ibv_poll_cq(3)).
  if (completion.status != IBV_WC_SUCCESS) return answer;
  const auto flag = [&](unsigned bit) { return std::uint64_t{(completion.wc_flags & bit) != 0}; };
  answer.numbers["opcode"] = completion.opcode;
  answer.numbers["bytes"] = completion.byte_len;
  answer.numbers["source_qpn"] = completion.src_qp;
  answer.numbers["with_imm"] = flag(IBV_WC_WITH_IMM);
  answer.numbers["with_invalidate"] = flag(IBV_WC_WITH_INV);
  answer.numbers["with_grh"] = flag(IBV_WC_GRH);
  // Of a datagram on InfiniBand.
  if (completion.slid != 0) {
    answer.numbers["slid"] = completion.slid;
    answer.numbers["sl"] = completion.sl;
  }
  if (flag(IBV_WC_WITH_IMM) != 0) answer.numbers["imm"] = ntohl(completion.imm_data);
  if (flag(IBV_WC_WITH_INV) != 0) answer.numbers["invalidated"] = completion.invalidated_rkey;
  return answer;
}

}  // namespace

std::vector<ibv_sge> Agent::sges_of(const Call& call) const {
  std::vector<ibv_sge> sges;
  for (const Place& place : call.places) {
    const Region& region = regions_.at(place.region);
    sges.push_back({reinterpret_cast<std::uintptr_t>(region.bytes.get()) + place.offset,
                    static_cast<std::uint32_t>(place.length), region.lkey});
  }
  return sges;
}

Answer Agent::post_send(const Call& call) {
  const QueuePair& queue_pair = queue_pairs_.at(call.object);
  const auto opcode = static_cast<ibv_wr_opcode>(call.opcode);
  if (opcode == IBV_WR_ATOMIC_WRITE) return post_atomic_write(queue_pair, call);
  std::vector<ibv_sge> sges = sges_of(call);
  if (call.has("inline"))
    sges = {{reinterpret_cast<std::uintptr_t>(call.bytes.data()),
             static_cast<std::uint32_t>(call.bytes.size()), 0}};
  ibv_send_wr request{};
  request.wr_id = call.number("wr_id");
  request.sg_list = sges.data();
  request.num_sge = static_cast<int>(sges.size());
  request.opcode = opcode;
  request.send_flags = flags_of(call);
  if (call.has("imm")) request.imm_data = htonl(static_cast<std::uint32_t>(call.number("imm")));
  if (call.has("invalidate")) request.invalidate_rkey = static_cast<std::uint32_t>(call.number("invalidate"));
  const auto rkey = static_cast<std::uint32_t>(call.number("rkey"));
  if (opcode == IBV_WR_BIND_MW) {
    bind(call, request);
  } else if (call.names.contains("ah")) {
    request.wr.ud = {address_handles_.at(call.names.at("ah")).get(),
                     static_cast<std::uint32_t>(call.number("qpn")),
                     static_cast<std::uint32_t>(call.number("qkey"))};
  } else if (is_atomic(opcode)) {
    request.wr.atomic = {call.number("remote"), call.has("add") ? call.number("add") : call.number("compare"),
                         call.number("swap"), rkey};
  } else {
    request.wr.rdma = {call.number("remote"), rkey};
  }
  if (queue_pair.qp->qp_type == IBV_QPT_XRC_SEND)
    request.qp_type.xrc.remote_srqn = static_cast<std::uint32_t>(call.number("srqn"));
  ibv_send_wr* bad = nullptr;
  if (const int error = ibv_post_send(queue_pair.qp.get(), &request, &bad)) refuse(error, "ibv_post_send");
  return {};
}

Answer Agent::post_atomic_write(const QueuePair& queue_pair, const Call& call) {
  ibv_qp_ex* const qp = ibv_qp_to_qp_ex(queue_pair.qp.get());
  if (qp == nullptr || qp->wr_atomic_write == nullptr || call.bytes.size() != 8)
    refuse(EOPNOTSUPP, "ATOMIC WRITE");
  ibv_wr_start(qp);
  qp->wr_id = call.number("wr_id");
  qp->wr_flags = flags_of(call) & ~static_cast<unsigned>(IBV_SEND_INLINE);
  ibv_wr_atomic_write(qp, static_cast<std::uint32_t>(call.number("rkey")), call.number("remote"),
                      call.bytes.data());
  if (const int error = ibv_wr_complete(qp)) refuse(error, "ibv_wr_complete");
  return {};
}

Answer Agent::bind(const Call& call, ibv_send_wr& request) {
  request.bind_mw.mw = windows_.at(call.names.at("window")).get();
  request.bind_mw.rkey = static_cast<std::uint32_t>(call.number("new_rkey"));
  request.bind_mw.bind_info = {regions_.at(call.names.at("region")).mr.get(), call.number("address"),
                               call.number("length"), static_cast<unsigned>(call.number("access"))};
  return {};
}

Answer Agent::post_receive(const Call& call) {
  std::vector<ibv_sge> sges = sges_of(call);
  ibv_recv_wr request{};
  request.wr_id = call.number("wr_id");
  request.sg_list = sges.data();
  request.num_sge = static_cast<int>(sges.size());
  ibv_recv_wr* bad = nullptr;
  const auto shared = shared_receives_.find(call.object);
  const int error = shared != shared_receives_.end()
                        ? ibv_post_srq_recv(shared->second.srq.get(), &request, &bad)
                        : ibv_post_recv(queue_pairs_.at(call.object).qp.get(), &request, &bad);
  if (error != 0) refuse(error, "ibv_post_recv");
  return {};
}

Answer Agent::poll(const Call&, ibv_cq* cq) {
  ibv_wc completion{};
  const int count = ibv_poll_cq(cq, 1, &completion);
  if (count < 0) refuse(EIO, "ibv_poll_cq");
  return count == 0 ? kNothing : answer_of(completion);
}

Answer Agent::poll_of(const Call& call) {
  const auto shared = shared_receives_.find(call.object);
  if (shared != shared_receives_.end()) {
    if (shared->second.cq == nullptr) refuse(EINVAL, "its completions are those of its queue pairs");
    return poll(call, shared->second.cq.get());
  }
  const QueuePair& queue_pair = queue_pairs_.at(call.object);
  return poll(call,
              call.verb == Keyword::send_completion ? queue_pair.send_cq.get() : queue_pair.receive_cq.get());
}

Answer Agent::next_event() {
  ibv_async_event event{};
  if (ibv_get_async_event(device_.context(), &event) != 0) return kNothing;
  ibv_ack_async_event(&event);
  return {.numbers = {{"event", event.event_type}}};
}

Answer Agent::arm(const Call& call) {
  const int error =
      ibv_req_notify_cq(queue_pairs_.at(call.object).receive_cq.get(), static_cast<int>(call.opcode));
  if (error != 0) refuse(error, "ibv_req_notify_cq");
  return {};
}

Answer Agent::notified(const Call& call) {
  ibv_cq* cq = nullptr;
  void* owner = nullptr;
  while (ibv_get_cq_event(device_.channel(), &cq, &owner) == 0) {
    ibv_ack_cq_events(cq, 1);
    if (owner != nullptr) ++static_cast<QueuePair*>(owner)->notifications;
  }
  QueuePair& queue_pair = queue_pairs_.at(call.object);
  if (queue_pair.notifications == 0) return kNothing;
  --queue_pair.notifications;
  return {};
}

Answer Agent::write_memory(const Call& call) {
  const Place& place = call.places.at(0);
  const Region& region = regions_.at(place.region);
  if (place.offset > region.length || call.bytes.size() > region.length - place.offset)
    refuse(EINVAL, place.region);
  std::copy(call.bytes.begin(), call.bytes.end(), region.bytes.get() + place.offset);
  return {};
}

Answer Agent::read_memory(const Call& call) {
  const Place& place = call.places.at(0);
  const Region& region = regions_.at(place.region);
  if (place.offset > region.length || place.length > region.length - place.offset)
    refuse(EINVAL, place.region);
  const std::byte* const begin = region.bytes.get() + place.offset;
  return {.bytes = {begin, begin + place.length}};
}

}  // namespace urnic::script
