// The fake device's objects, and the completions that a test writes.
#include <infiniband/verbs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "device_model/abi/memory_messages.hpp"
#include "device_model/abi/query_messages.hpp"
#include "device_model/abi/steering_messages.hpp"
#include "tests/unit/provider/fake_device.hpp"

namespace urnic::test {
namespace {

using abi::ControlOpcode;

template <typename Body>
Body as(const std::vector<char>& bytes) {
  Body body{};
  if (bytes.size() == sizeof body) std::memcpy(&body, bytes.data(), sizeof body);
  return body;
}

constexpr std::uint32_t kSendSlotSize = 256;
constexpr std::uint32_t kReceiveSlotSize = 64;

}  // namespace

const abi::SendWqe& FakeQp::send_wqe(std::uint32_t index) const {
  return *reinterpret_cast<abi::SendWqe*>(send_ring + (index % reply.send_slots) * kSendSlotSize);
}
const abi::ScatterGather* FakeQp::send_segments(std::uint32_t index) const {
  return reinterpret_cast<const abi::ScatterGather*>(&send_wqe(index) + 1);
}
const abi::ReceiveWqe& FakeQp::receive_wqe(std::uint32_t index) const {
  return *reinterpret_cast<abi::ReceiveWqe*>(receive_ring + (index % reply.receive_slots) * kReceiveSlotSize);
}
const abi::ScatterGather* FakeQp::receive_segments(std::uint32_t index) const {
  return reinterpret_cast<const abi::ScatterGather*>(&receive_wqe(index) + 1);
}

FakeQp& FakeDevice::qp(std::uint32_t qpn) {
  const std::lock_guard lock(mutex_);
  for (auto& [handle, qp] : qps_) {
    if (qp.reply.qpn == qpn) return qp;
  }
  throw std::out_of_range("no such QP");
}

abi::ArenaRange FakeDevice::cut(std::uint64_t length, Connection& connection, Answer& answer) {
  const std::uint64_t offset = arena_used_;
  arena_used_ += (length + 4095) / 4096 * 4096;
  const bool is_new = !connection.knows_arena;
  if (is_new) answer.descriptors.push_back(arena_);
  connection.knows_arena = true;
  return {7, is_new ? 1u : 0u, 8 << 20, offset, length};
}

FakeDevice::Answer FakeDevice::answer(Connection& connection, ControlOpcode opcode,
                                      const std::vector<char>& body, const std::vector<int>& descriptors) {
  Answer answer;
  if (const auto refusal = refusals_.extract(opcode)) {
    answer.error = refusal.mapped();
    return answer;
  }
  switch (opcode) {
    case ControlOpcode::open_context:
      return open_context(descriptors);
    case ControlOpcode::join_context:
      for (const int number : descriptors) close(number);
      answer.set(abi::JoinContextReply{});
      break;
    case ControlOpcode::modify_qp_unanswered:
    case ControlOpcode::allocate_reserved_pd:
      answer.silent = true;
      break;
    case ControlOpcode::add_completion_channel:
      return add_channel(descriptors);
    case ControlOpcode::query_device: {
      abi::QueryDeviceReply reply{};
      std::strcpy(reply.firmware, "fake");
      reply.max_qp = 1234;
      reply.max_sge = kMaxSge;
      reply.phys_port_cnt = 1;
      reply.odp_general = IBV_ODP_SUPPORT;
      reply.odp_rc = IBV_ODP_SUPPORT_SEND;
      reply.odp_uc = IBV_ODP_SUPPORT_RECV;
      reply.odp_ud = IBV_ODP_SUPPORT_WRITE;
      reply.odp_xrc = IBV_ODP_SUPPORT_READ;
      reply.max_dm_size = 4096;
      answer.set(reply);
      break;
    }
    case ControlOpcode::query_port: {
      abi::QueryPortReply reply{};
      reply.state = IBV_PORT_ACTIVE;
      reply.physical_state = 5;
      reply.max_mtu = IBV_MTU_4096;
      reply.active_mtu = IBV_MTU_1024;
      reply.gid_table_length = 16;
      reply.pkey_table_length = 1;
      reply.max_message_size = 1u << 31;
      reply.active_speed = 32;
      reply.active_width = 2;
      reply.link_layer = IBV_LINK_LAYER_ETHERNET;
      answer.set(reply);
      break;
    }
    case ControlOpcode::allocate_pd:
    case ControlOpcode::deallocate_pd:  // the reserved one
    case ControlOpcode::create_counters:
      answer.set(abi::HandleReply{next_handle_++, 0});
      break;
    case ControlOpcode::register_mr:
      if (offer_.length != 0) return offer_pages(as<abi::RegisterMrRequest>(body));
      [[fallthrough]];
    case ControlOpcode::reregister_mr:
    case ControlOpcode::allocate_null_mr:
    case ControlOpcode::register_dm_mr:
      answer.set(abi::RegisterMrReply{next_handle_, next_handle_ << 8, next_handle_ << 8 | 1, 0});
      ++next_handle_;
      break;
    case ControlOpcode::deregister_mr:
      answer.set(abi::DeregisterMrReply{});
      break;
    case ControlOpcode::advise_mr:
      answer.set(abi::AdviseMrReply{as<abi::AdviseMrRequest>(body).address, 1, 0});
      break;
    case ControlOpcode::allocate_dm: {
      const auto length = as<abi::AllocateDmRequest>(body).length;
      answer.set(abi::DmReply{cut(length, connection, answer), length, next_handle_++, 0});
      break;
    }
    case ControlOpcode::allocate_mw:
      answer.set(abi::AllocateMwReply{next_handle_++, 0x4400});
      break;
    case ControlOpcode::read_counters:
      answer.set(abi::ReadCountersReply{.packets = 5, .bytes = 1234});
      break;
    case ControlOpcode::create_cq:
      return create_cq(connection, as<abi::CreateCqRequest>(body));
    case ControlOpcode::resize_cq:
      return resize_cq(connection, as<abi::ResizeCqRequest>(body));
    case ControlOpcode::create_qp:
      return create_qp(connection, as<abi::CreateQpRequest>(body));
    case ControlOpcode::destroy_cq:
      answer.set(destroy_cq(as<abi::HandleRequest>(body).handle));
      break;
    case ControlOpcode::destroy_qp:
      answer.set(destroy_qp(as<abi::HandleRequest>(body).handle));
      break;
    case ControlOpcode::query_qp: {
      abi::QueryQpReply reply{};
      reply.attributes = as<abi::ModifyQpRequest>(last_bodies_[ControlOpcode::modify_qp]).attributes;
      reply.max_send_wr = kSendSlots;
      reply.signal_all = 1;
      answer.set(reply);
      break;
    }
    default:
      answer.set(abi::Empty{});
      break;
  }
  return answer;
}

FakeDevice::Answer FakeDevice::create_cq(Connection& connection, const abi::CreateCqRequest& request) {
  Answer answer;
  abi::CreateCqReply reply{};
  reply.ring = cut(kCqEntries * sizeof(abi::Cqe), connection, answer);
  reply.indices = cut(sizeof(abi::CompletionQueueIndices), connection, answer);
  reply.handle = next_handle_++;
  reply.entries = kCqEntries;
  FakeCq cq{request.user_handle,
            at<abi::Cqe>(reply.ring),
            kCqEntries,
            at<abi::CompletionQueueIndices>(reply.indices),
            0,
            -1,
            0,
            request.flags};
  for (const Channel& channel : channels_) {
    if (channel.inode == request.channel_inode) cq.channel = channel.write_end;
  }
  cqs_.emplace(reply.handle, cq);
  answer.set(reply);
  return answer;
}

FakeDevice::Answer FakeDevice::resize_cq(Connection& connection, const abi::ResizeCqRequest& request) {
  Answer answer;
  FakeCq& cq = cqs_.at(request.handle);
  std::uint32_t entries = 1;
  while (entries < request.entries) entries *= 2;
  abi::ResizeCqReply reply{cut(entries * sizeof(abi::Cqe), connection, answer), entries, 0};
  auto* ring = at<abi::Cqe>(reply.ring);
  std::uint32_t unread = 0;
  for (std::uint32_t i = cq.indices->consumer; i != cq.producer; ++i, ++unread) {
    std::memcpy(static_cast<void*>(&ring[unread]), &cq.ring[i % cq.entries], sizeof(abi::Cqe) - 1);
    ring[unread].phase = 1;
  }
  cq.ring = ring;
  cq.entries = entries;
  cq.producer = unread;
  cq.indices->consumer = 0;
  answer.set(reply);
  return answer;
}

FakeDevice::Answer FakeDevice::create_qp(Connection& connection, const abi::CreateQpRequest& request) {
  Answer answer;
  abi::CreateQpReply reply{};
  reply.send_ring = cut(kSendSlots * kSendSlotSize, connection, answer);
  reply.receive_ring = cut(kReceiveSlots * kReceiveSlotSize, connection, answer);
  reply.indices = cut(sizeof(abi::QueuePairIndices), connection, answer);
  reply.handle = next_handle_++;
  reply.qpn = next_qpn_;
  next_qpn_ += 4097;  // so that both levels of the provider's table are used
  reply.doorbell = 64 + reply.handle;
  reply.send_slots = kSendSlots;
  reply.send_slot_size = kSendSlotSize;
  reply.receive_slots = kReceiveSlots;
  reply.receive_slot_size = kReceiveSlotSize;
  reply.max_send_sge = kMaxSge;
  reply.max_receive_sge = kMaxSge;
  reply.max_inline_data = kMaxInline;
  reply.ece_vendor_id = kVendorId;
  reply.ece_options = abi::kEceSelectiveAcknowledgement;
  qps_.emplace(reply.handle, FakeQp{request, reply, at<char>(reply.send_ring), at<char>(reply.receive_ring),
                                    at<abi::QueuePairIndices>(reply.indices), 0});
  answer.set(reply);
  return answer;
}

abi::DestroyReply FakeDevice::destroy_cq(std::uint32_t handle) {
  const abi::DestroyReply reply{cqs_.at(handle).events_reported, 0};
  cqs_.erase(handle);
  return reply;
}

abi::DestroyReply FakeDevice::destroy_qp(std::uint32_t handle) {
  const abi::DestroyReply reply{0, qps_.at(handle).async_events_reported};
  qps_.erase(handle);
  return reply;
}

void FakeDevice::complete(FakeQp& qp, bool receive, std::uint32_t wqe_index,
                          const std::function<void(abi::Cqe&)>& change) {
  FakeCq& cq = cqs_.at(receive ? qp.request.receive_cq : qp.request.send_cq);
  abi::Cqe& cqe = cq.ring[cq.producer % cq.entries];
  std::memset(static_cast<void*>(&cqe), 0, sizeof cqe - 1);
  cqe.qpn = qp.reply.qpn;
  cqe.wqe_index = wqe_index;
  cqe.opcode = receive ? IBV_WC_RECV : IBV_WC_SEND;
  cqe.flags = receive ? abi::cqe_receive : 0;
  if (change) change(cqe);
  cqe.phase.store((cq.producer / cq.entries) % 2 == 0 ? 1 : 0);
  ++cq.producer;
  const std::uint32_t arm = cq.indices->arm;
  if (arm == cq.indices->arm_fired || cq.channel < 0) return;
  cq.indices->arm_fired = arm;
  ++cq.events_reported;
  if (write(cq.channel, &cq.user_handle, sizeof cq.user_handle) < 0) throw std::runtime_error("channel");
}

void FakeDevice::complete_send(FakeQp& qp, std::uint32_t wqe_index,
                               const std::function<void(abi::Cqe&)>& change) {
  complete(qp, false, wqe_index, change);
}

void FakeDevice::complete_receive(FakeQp& qp, std::uint32_t wqe_index,
                                  const std::function<void(abi::Cqe&)>& change) {
  complete(qp, true, wqe_index, change);
}

void FakeDevice::raise_async_event(std::uint64_t element, std::uint32_t type) {
  struct {
    std::uint64_t element;
    std::uint32_t type;
    std::uint32_t reserved;
  } const event{element, type, 0};
  for (auto& [handle, qp] : qps_) {
    if (qp.request.user_handle == element) ++qp.async_events_reported;
  }
  if (write(async_write_, &event, sizeof event) < 0) throw std::runtime_error("async pipe");
}

}  // namespace urnic::test
