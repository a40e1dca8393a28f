// Requests about existing objects, and the choice of the next request.
#include <infiniband/verbs.h>

#include <array>

#include "tests/security/device_fuzz/program.hpp"
#include "tests/security/device_fuzz/request_values.hpp"

namespace urnic::device_fuzz {

using abi::ControlOpcode;

namespace {

constexpr std::uint32_t kVendor = 0x75726E;

}  // namespace

Program::Request Program::resize_cq() {
  const std::uint32_t which = chance_.below(cqs_.size());
  const std::uint32_t handle = cqs_.empty() ? 0 : cqs_[which].handle;
  Request made = request(ControlOpcode::resize_cq, abi::ResizeCqRequest{handle, size(chance_, 1U << 20)});
  made.served = [this](ControlReply& answer) { shared_.find(answer.as<abi::ResizeCqReply>().ring); };
  return made;
}

Program::Request Program::modify_srq() {
  abi::ModifySrqRequest body{};
  if (!srqs_.empty()) body.handle = srqs_[chance_.below(srqs_.size())].handle;
  body.mask = chance_.from(1, 3);
  body.max_wr = size(chance_, 32768);
  body.limit = chance_.below(32);
  Request made = request(ControlOpcode::modify_srq, body);
  made.served = [this, body](ControlReply& answer) {
    const auto reply = answer.as<abi::ModifySrqReply>();
    for (Queue& queue : srqs_) {
      if (queue.handle != body.handle || reply.slot_count == 0) continue;
      queue.receives = reply.slot_count;
      queue.receive_ring = shared_.find(reply.slots);
      queue.posted_ring = shared_.find(reply.posted);
    }
  };
  return made;
}

Program::Request Program::advise() {
  return request(ControlOpcode::advise_mr,
                 abi::AdviseMrRequest{attack_.memory.address(), chance_.from(1, 65536), chance_.any(pds_),
                                      chance_.any(lkeys_), chance_.below(3), 0});
}

Program::Request Program::place_received() {
  abi::PlaceReceivedRequest body{};
  body.address = attack_.memory.address();
  body.lkey = chance_.any(lkeys_);
  body.length = chance_.from(1, abi::kCqeInlineBytes);
  return request(ControlOpcode::place_received, body);
}

// Goes through RESET, INIT, RTR, RTS; then now and then SQD, ERR, RESET.
Program::Request Program::next_state() {
  abi::ModifyQpRequest body{};
  if (qps_.empty()) return request(ControlOpcode::modify_qp, body);
  const Queue queue = qps_[chance_.below(qps_.size())];
  body.handle = queue.handle;
  const bool connected =
      queue.type != IBV_QPT_UD && queue.type != IBV_QPT_RAW_PACKET && queue.type != abi::kWorkQueue;
  const bool requests = queue.type == IBV_QPT_RC || queue.type == IBV_QPT_XRC_SEND;
  const bool responds = queue.type == IBV_QPT_RC || queue.type == IBV_QPT_XRC_RECV;
  std::uint32_t next = queue.state < IBV_QPS_RTS
                           ? queue.state + 1
                           : chance_.one_of<std::uint32_t>(
                                 {IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_ERR, IBV_QPS_RESET, IBV_QPS_RESET});
  if (chance_.once_in(12)) next = chance_.one_of<std::uint32_t>({IBV_QPS_RESET, IBV_QPS_ERR, IBV_QPS_RTS});
  auto mask = static_cast<std::uint32_t>(IBV_QP_STATE);
  if (next == IBV_QPS_INIT && connected) mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  if (next == IBV_QPS_INIT && queue.type == IBV_QPT_UD) mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
  if (next == IBV_QPS_INIT && !connected && queue.type != IBV_QPT_UD) mask |= IBV_QP_PORT;
  if (next == IBV_QPS_RTR && connected) mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  if (next == IBV_QPS_RTR && responds) mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  const bool starts = next == IBV_QPS_RTS && queue.state == IBV_QPS_RTR;
  if (starts && (connected || queue.type == IBV_QPT_UD)) mask |= IBV_QP_SQ_PSN;
  if (starts && requests)
    mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  if (starts && queue.type == IBV_QPT_XRC_RECV) mask |= IBV_QP_TIMEOUT;
  body.mask = mask;
  abi::QpAttributes& a = body.attributes;
  a.state = next;
  a.port = 1;
  a.access_flags = access(chance_) & 15;
  a.qkey = 0x11111111;
  a.path_mtu = chance_.from(IBV_MTU_256, IBV_MTU_4096);
  // The QP itself or another one, also of programs that have ended; the PSNs often agree.
  a.destination_qpn =
      chance_.once_in(2) ? qps_[chance_.below(qps_.size())].number : chance_.any(attack_.qpns);
  a.receive_psn = a.send_psn = chance_.once_in(4) ? chance_.word() & 0xFFFFFF : 0xFFFFF0;
  a.path = path();
  if (chance_.once_in(2)) a.path.destination_gid[15] = static_cast<std::uint8_t>(1 + device_);
  a.max_rd_atomic = a.max_dest_rd_atomic = static_cast<std::uint8_t>(chance_.below(17));
  a.min_rnr_timer = static_cast<std::uint8_t>(chance_.from(1, 14));
  a.timeout = static_cast<std::uint8_t>(chance_.from(1, 14));
  a.retry_count = a.rnr_retry = static_cast<std::uint8_t>(chance_.below(8));
  const auto changed = [this, body, next, starts] {
    if (starts) ++attack_.counts.connected;
    for (Queue& each : qps_)
      if (each.handle == body.handle) each.state = next;
  };
  if (chance_.once_in(3)) {
    changed();  // most likely
    return request(ControlOpcode::modify_qp_unanswered, body);
  }
  Request made = request(ControlOpcode::modify_qp, body);
  made.served = [changed](ControlReply&) { changed(); };
  return made;
}

Program::Request Program::about_handle(ControlOpcode opcode, std::vector<std::uint32_t>& handles, bool ends) {
  const std::uint32_t handle = chance_.any(handles);
  Request made = request(opcode, abi::HandleRequest{handle, 0});
  if (ends) made.served = [&handles, handle](ControlReply&) { std::erase(handles, handle); };
  return made;
}

Program::Request Program::deallocate_pd() {
  Request made = about_handle(ControlOpcode::deallocate_pd, pds_, true);
  made.served = [this, forget = std::move(made.served)](ControlReply& answer) {
    forget(answer);
    reserved_pd_ = answer.as<abi::HandleReply>().handle;
  };
  return made;
}

Program::Request Program::about_qp(ControlOpcode opcode) {
  const std::uint32_t handle = qps_.empty() ? 0 : qps_[chance_.below(qps_.size())].handle;
  if (opcode == ControlOpcode::set_ece)
    return request(opcode, abi::SetEceRequest{handle, kVendor, chance_.below(2)});
  if (opcode == ControlOpcode::limit_rate)
    return request(opcode, abi::LimitRateRequest{handle, chance_.from(0, 1'000'000), chance_.below(65536)});
  Request made = request(opcode, abi::HandleRequest{handle, 0});
  if (opcode == ControlOpcode::destroy_qp) made.served = [this, handle](ControlReply&) { forget_qp(handle); };
  return made;
}

Program::Request Program::any_creation() {
  using Maker = Request (Program::*)();
  return (this->*chance_.one_of<Maker>({&Program::pd,
                                        &Program::mr,
                                        &Program::mr,
                                        &Program::window,
                                        &Program::null_mr,
                                        &Program::device_memory,
                                        &Program::device_memory_mr,
                                        &Program::dma_buf,
                                        &Program::cq,
                                        &Program::qp,
                                        &Program::qp,
                                        &Program::qp,
                                        &Program::srq,
                                        &Program::xrc_srq,
                                        &Program::tag_matching,
                                        &Program::xrcd,
                                        &Program::open_qp,
                                        &Program::ah,
                                        &Program::flow,
                                        &Program::rss,
                                        &Program::counters,
                                        &Program::exec_notice,
                                        &Program::channel}))();
}

Program::Request Program::any_destruction() {
  switch (chance_.below(13)) {
    case 0:
      return deallocate_pd();
    case 1:
      return about_handle(ControlOpcode::deregister_mr, mrs_, true);
    case 2:
      return about_handle(ControlOpcode::deallocate_mw, mws_, true);
    case 3:
      return about_handle(ControlOpcode::free_dm, dms_, true);
    case 4:
      return about_handle(ControlOpcode::destroy_ah, ahs_, true);
    case 5:
      return about_handle(ControlOpcode::close_xrcd, xrcds_, true);
    case 6:
      return about_handle(ControlOpcode::destroy_flow, flows_, true);
    case 7:
      return about_handle(ControlOpcode::destroy_counters, counters_, true);
    case 8:
      return about_handle(ControlOpcode::destroy_rss_qp, rss_, true);
    case 9: {
      const std::uint32_t handle = cqs_.empty() ? 0 : cqs_[chance_.below(cqs_.size())].handle;
      Request made = request(ControlOpcode::destroy_cq, abi::HandleRequest{handle, 0});
      made.served = [this, handle](ControlReply&) {
        std::erase_if(cqs_, [handle](const Completion& cq) { return cq.handle == handle; });
      };
      return made;
    }
    case 10: {
      const std::uint32_t handle = srqs_.empty() ? 0 : srqs_[chance_.below(srqs_.size())].handle;
      Request made = request(ControlOpcode::destroy_srq, abi::HandleRequest{handle, 0});
      made.served = [this, handle](ControlReply&) {
        std::erase_if(srqs_, [handle](const Queue& srq) { return srq.handle == handle; });
      };
      return made;
    }
    default:
      return about_qp(ControlOpcode::destroy_qp);
  }
}

Program::Request Program::any_other() {
  switch (chance_.below(18)) {
    case 0:
      return request(ControlOpcode::query_device, abi::Empty{});
    case 1:
      return request(ControlOpcode::query_port, std::array<std::uint32_t, 2>{1, 0});
    case 2:
      return reregister();
    case 3:
      return resize_cq();
    case 4: {
      const std::uint32_t handle = cqs_.empty() ? 0 : cqs_[chance_.below(cqs_.size())].handle;
      return request(ControlOpcode::modify_cq,
                     abi::ModifyCqRequest{handle, static_cast<std::uint16_t>(chance_.below(16)),
                                          static_cast<std::uint16_t>(chance_.below(1000))});
    }
    case 5:
      return about_qp(chance_.one_of({ControlOpcode::query_qp, ControlOpcode::set_ece,
                                      ControlOpcode::query_ece, ControlOpcode::limit_rate}));
    case 6:
      return modify_srq();
    case 7: {
      const std::uint32_t handle = srqs_.empty() ? 0 : srqs_[chance_.below(srqs_.size())].handle;
      return request(ControlOpcode::query_srq, abi::HandleRequest{handle, 0});
    }
    case 8:
      return multicast();
    case 9:
      return advise();
    case 10:
      return place_received();
    case 11:
      return about_handle(ControlOpcode::read_counters, counters_, false);
    case 12:
      return about_handle(ControlOpcode::import_pd, pds_, false);
    case 13:
      return about_handle(ControlOpcode::import_mr, mrs_, false);
    case 14:
      return request(ControlOpcode::async_channel, abi::Empty{});
    case 15: {
      Request made = request(ControlOpcode::tell_token, abi::Empty{});
      made.descriptors.push_back(attack_.odd.make());
      return made;
    }
    default:
      return next_state();
  }
}

Program::Request Program::any_request() {
  const std::uint32_t kind = chance_.below(20);
  if (kind == 0) return opening();
  if (kind < 8) return any_creation();
  if (kind < 11) return any_destruction();
  return kind < 15 ? next_state() : any_other();
}

}  // namespace urnic::device_fuzz
