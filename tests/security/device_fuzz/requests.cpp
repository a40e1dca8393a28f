// Requests that make sense.
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "tests/security/device_fuzz/program.hpp"

namespace urnic::device_fuzz {

using abi::ControlOpcode;

namespace {

constexpr std::size_t kMostObjects = 24;  // of a kind, that are remembered
constexpr std::uint32_t kVendor = 0x75726E;

std::uint32_t access(Chance& chance) {
  constexpr std::uint32_t kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                                 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;
  return chance.once_in(4) ? chance.below(256) : kAll;
}

// Small most of the time.
std::uint32_t size(Chance& chance, std::uint32_t most) {
  return chance.once_in(200) ? most : chance.from(1, 64);
}

std::uint64_t inode_of(int descriptor) {
  struct stat facts {};
  return fstat(descriptor, &facts) == 0 ? facts.st_ino : 0;
}

}  // namespace

template <typename Body>
Program::Request Program::request(ControlOpcode opcode, const Body& body) {
  Request made{opcode, {}, {}, {}};
  const auto bytes = std::as_bytes(std::span(&body, 1));
  made.body.assign(bytes.begin(), bytes.end());
  return made;
}

void Program::remember(std::vector<std::uint32_t>& kind, std::uint32_t handle) {
  if (kind.size() < kMostObjects) kind.push_back(handle);
  if (attack_.handles.size() < 256) attack_.handles.push_back(handle);
}

void Program::remember_keys(const abi::RegisterMrReply& reply, std::vector<std::uint32_t>& kind) {
  remember(kind, reply.handle);
  for (const std::uint32_t key : {reply.lkey, reply.rkey}) {
    if (lkeys_.size() < kMostObjects) lkeys_.push_back(key);
    if (attack_.keys.size() >= 256)
      attack_.keys[chance_.below(256)] = key;
    else
      attack_.keys.push_back(key);
  }
}

Program::Request Program::pd() {
  Request made = request(ControlOpcode::allocate_pd, abi::Empty{});
  made.served = [this](Answer& answer) { remember(pds_, answer.as<abi::HandleReply>().handle); };
  return made;
}

Program::Request Program::mr() {
  const std::uint64_t address = attack_.memory.address();
  Request made =
      request(ControlOpcode::register_mr,
              abi::RegisterMrRequest{address, attack_.memory.length(), chance_.once_in(4) ? 0 : address,
                                     chance_.any(pds_), access(chance_)});
  made.served = [this](Answer& answer) { remember_keys(answer.as<abi::RegisterMrReply>(), mrs_); };
  return made;
}

Program::Request Program::reregister() {
  abi::ReregisterMrRequest body{};
  body.handle = chance_.any(mrs_);
  body.flags = chance_.below(8);
  body.change = {attack_.memory.address(), attack_.memory.length(), attack_.memory.address(),
                 chance_.any(pds_), access(chance_)};
  Request made = request(ControlOpcode::reregister_mr, body);
  made.served = [this](Answer& answer) { remember_keys(answer.as<abi::RegisterMrReply>(), mrs_); };
  return made;
}

Program::Request Program::window() {
  Request made =
      request(ControlOpcode::allocate_mw, abi::AllocateMwRequest{chance_.any(pds_), chance_.from(1, 2)});
  made.served = [this](Answer& answer) {
    const auto reply = answer.as<abi::AllocateMwReply>();
    remember(mws_, reply.handle);
    if (attack_.keys.size() < 256) attack_.keys.push_back(reply.rkey);
  };
  return made;
}

Program::Request Program::null_mr() {
  Request made = request(ControlOpcode::allocate_null_mr, abi::HandleRequest{chance_.any(pds_), 0});
  made.served = [this](Answer& answer) { remember_keys(answer.as<abi::RegisterMrReply>(), mrs_); };
  return made;
}

Program::Request Program::device_memory() {
  const bool imports = chance_.once_in(4);
  Request made = imports ? request(ControlOpcode::import_dm, abi::HandleRequest{chance_.any(dms_), 0})
                         : request(ControlOpcode::allocate_dm,
                                   abi::AllocateDmRequest{chance_.from(1, 8192), chance_.below(13), 0});
  made.served = [this](Answer& answer) {
    const auto reply = answer.as<abi::DmReply>();
    remember(dms_, reply.handle);
    shared_.find(reply.memory);
  };
  return made;
}

Program::Request Program::device_memory_mr() {
  Request made =
      request(ControlOpcode::register_dm_mr,
              abi::RegisterDmMrRequest{chance_.below(64), chance_.from(1, 4096), chance_.any(pds_),
                                       chance_.any(dms_), access(chance_) | IBV_ACCESS_ZERO_BASED, 0});
  made.served = [this](Answer& answer) { remember_keys(answer.as<abi::RegisterMrReply>(), mrs_); };
  return made;
}

Program::Request Program::dma_buf() {
  Request made =
      request(ControlOpcode::register_dma_buf_mr,
              abi::RegisterDmaBufMrRequest{0, chance_.from(1, 65536), 0, chance_.any(pds_), access(chance_)});
  made.descriptors.push_back(attack_.odd.make());
  made.served = [this](Answer& answer) { remember_keys(answer.as<abi::RegisterMrReply>(), mrs_); };
  return made;
}

Program::Request Program::cq() {
  abi::CreateCqRequest body{};
  body.user_handle = chance_.number();
  if (!channel_inodes_.empty() && chance_.once_in(2)) body.channel_inode = chance_.any(channel_inodes_);
  body.entries = size(chance_, 1U << 20);
  body.flags = chance_.below(2);
  Request made = request(ControlOpcode::create_cq, body);
  made.served = [this](Answer& answer) {
    const auto reply = answer.as<abi::CreateCqReply>();
    shared_.find(reply.ring);
    const auto indices = shared_.find(reply.indices);
    if (cqs_.size() < kMostObjects) cqs_.push_back({reply.handle, reply.entries, indices});
  };
  return made;
}

Program::Request Program::qp() {
  abi::CreateQpRequest body{};
  body.user_handle = chance_.number();
  body.pd = chance_.any(pds_);
  if (!cqs_.empty()) body.send_cq = cqs_[chance_.below(cqs_.size())].handle;
  if (!cqs_.empty()) body.receive_cq = cqs_[chance_.below(cqs_.size())].handle;
  body.type = chance_.one_of<std::uint32_t>({IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD,
                                             IBV_QPT_UD, IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND,
                                             IBV_QPT_XRC_RECV, abi::kWorkQueue});
  body.max_send_wr = body.type == abi::kWorkQueue ? 0 : size(chance_, 32768);
  body.max_receive_wr = size(chance_, 32768);
  body.max_send_sge = chance_.below(8);
  body.max_receive_sge = chance_.below(8);
  body.max_inline_data = chance_.below(300);
  body.signal_all = chance_.below(2);
  if (body.type != IBV_QPT_XRC_SEND && !srqs_.empty() && chance_.once_in(3)) {
    body.srq = srqs_[chance_.below(srqs_.size())].handle;
    if (chance_.once_in(2)) body.max_send_wr = 0;
  }
  body.xrcd = chance_.any(xrcds_);
  Request made = request(ControlOpcode::create_qp, body);
  made.served = [this, body](Answer& answer) { remember_qp(body, answer.as<abi::CreateQpReply>()); };
  return made;
}

void Program::remember_qp(const abi::CreateQpRequest& body, const abi::CreateQpReply& reply) {
  Queue queue;
  queue.handle = reply.handle;
  queue.number = reply.qpn;
  queue.type = body.type;
  queue.doorbell = reply.doorbell;
  queue.sends = reply.send_slots;
  queue.send_bytes = reply.send_slot_size;
  queue.receives = reply.receive_slots;
  queue.receive_bytes = reply.receive_slot_size;
  queue.send_ring = shared_.find(reply.send_ring);
  queue.receive_ring = shared_.find(reply.receive_ring);
  queue.indices = shared_.find(reply.indices);
  if (qps_.size() < kMostObjects) qps_.push_back(queue);
  if (attack_.qpns.size() < 256)
    attack_.qpns.push_back(reply.qpn);
  else
    attack_.qpns[chance_.below(256)] = reply.qpn;
}

void Program::forget_qp(std::uint32_t handle) {
  std::erase_if(qps_, [handle](const Queue& queue) { return queue.handle == handle; });
}

namespace {

abi::CreateSrqRequest srq_body(Chance& chance, std::uint32_t pd) {
  return {chance.number(), pd, size(chance, 32768), chance.from(1, 8), 0};
}

}  // namespace

Program::Request Program::srq() {
  Request made = request(ControlOpcode::create_srq, srq_body(chance_, chance_.any(pds_)));
  made.served = [this](Answer& answer) {
    const auto reply = answer.as<abi::CreateSrqReply>();
    Queue queue;
    queue.handle = reply.handle;
    queue.number = reply.number;
    queue.receives = reply.slot_count;
    queue.receive_bytes = reply.slot_size;
    queue.receive_ring = shared_.find(reply.slots);
    queue.posted_ring = shared_.find(reply.posted);
    queue.indices = shared_.find(reply.indices);
    if (srqs_.size() < kMostObjects) srqs_.push_back(queue);
  };
  return made;
}

Program::Request Program::xrc_srq() {
  abi::CreateXrcSrqRequest body{srq_body(chance_, chance_.any(pds_)), chance_.any(xrcds_), 0};
  if (!cqs_.empty()) body.cq = cqs_[chance_.below(cqs_.size())].handle;
  Request made = srq();
  made.opcode = ControlOpcode::create_xrc_srq;
  const auto bytes = std::as_bytes(std::span(&body, 1));
  made.body.assign(bytes.begin(), bytes.end());
  return made;
}

Program::Request Program::tag_matching() {
  abi::CreateTagMatchingRequest body{};
  if (!srqs_.empty()) body.srq = srqs_[chance_.below(srqs_.size())].handle;
  if (!cqs_.empty()) body.cq = cqs_[chance_.below(cqs_.size())].handle;
  body.max_tags = chance_.from(1, 128);
  body.max_operations = chance_.from(1, 128);
  Request made = request(ControlOpcode::create_tag_matching, body);
  made.served = [this, body](Answer& answer) {
    const auto reply = answer.as<abi::CreateTagMatchingReply>();
    const auto operations = shared_.find(reply.operations);
    const auto indices = shared_.find(reply.indices);
    for (Queue& queue : srqs_) {
      if (queue.handle != body.srq) continue;
      queue.operations = operations;
      queue.operation_indices = indices;
      queue.tag_doorbell = reply.doorbell;
    }
  };
  return made;
}

Program::Request Program::xrcd() {
  Request made = request(ControlOpcode::open_xrcd, abi::OpenXrcdRequest{chance_.from(1, 3), 0});
  if (chance_.once_in(2))  // a file that the programs of all attackers have in common, or any
    made.descriptors.push_back(chance_.once_in(4) ? attack_.odd.make()
                                                  : Owned(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC)));
  made.served = [this](Answer& answer) { remember(xrcds_, answer.as<abi::HandleReply>().handle); };
  return made;
}

Program::Request Program::open_qp() {
  Request made =
      request(ControlOpcode::open_qp, abi::OpenQpRequest{chance_.number(), chance_.any(xrcds_),
                                                         chance_.any(attack_.qpns), IBV_QPT_XRC_RECV, 0});
  made.served = [this](Answer& answer) {
    Queue queue;
    queue.handle = answer.as<abi::HandleReply>().handle;
    queue.type = IBV_QPT_XRC_RECV;
    if (qps_.size() < kMostObjects) qps_.push_back(queue);
  };
  return made;
}

abi::AddressVector Program::path() {
  abi::AddressVector path{};
  path.destination_gid[10] = path.destination_gid[11] = 0xFF;
  path.destination_gid[12] = 192;
  path.destination_gid[14] = 2;
  path.destination_gid[15] =
      static_cast<std::uint8_t>(1 + (chance_.once_in(2) ? device_ : chance_.below(kDevices)));
  path.source_gid_index = 1;
  path.hop_limit = 64;
  path.is_global = 1;
  path.port = 1;
  path.static_rate = static_cast<std::uint8_t>(chance_.once_in(8) ? chance_.below(256) : 0);
  return path;
}

Program::Request Program::ah() {
  abi::CreateAhRequest body{path(), chance_.any(pds_), 0};
  if (chance_.once_in(6)) {
    std::memset(body.path.destination_gid, 0, sizeof body.path.destination_gid);
    body.path.destination_gid[0] = 0xFF;
    body.path.destination_gid[1] = 0x0E;
    body.path.destination_gid[15] = static_cast<std::uint8_t>(chance_.below(4));
  }
  Request made = request(ControlOpcode::create_ah, body);
  made.served = [this](Answer& answer) {
    const auto reply = answer.as<abi::CreateAhReply>();
    remember(ahs_, reply.handle);
    if (ah_numbers_.size() < kMostObjects) ah_numbers_.push_back(reply.number);
  };
  return made;
}

Program::Request Program::multicast() {
  abi::MulticastRequest body{};
  body.group[0] = 0xFF;
  body.group[1] = 0x0E;
  body.group[15] = static_cast<std::uint8_t>(chance_.below(4));
  if (!qps_.empty()) body.qp = qps_[chance_.below(qps_.size())].handle;
  return request(chance_.once_in(3) ? ControlOpcode::detach_multicast : ControlOpcode::attach_multicast,
                 body);
}

Program::Request Program::flow() {
  abi::CreateFlowRequest body{};
  body.qp = chance_.any(rss_);
  for (const Queue& queue : qps_)
    if (queue.type == IBV_QPT_RAW_PACKET && chance_.once_in(2)) body.qp = queue.handle;
  body.type =
      chance_.one_of<std::uint32_t>({IBV_FLOW_ATTR_NORMAL, IBV_FLOW_ATTR_NORMAL, IBV_FLOW_ATTR_SNIFFER,
                                     IBV_FLOW_ATTR_ALL_DEFAULT, IBV_FLOW_ATTR_MC_DEFAULT});
  body.flags = body.type == IBV_FLOW_ATTR_NORMAL && chance_.once_in(3) ? IBV_FLOW_ATTR_FLAGS_DONT_TRAP : 0;
  body.priority = static_cast<std::uint16_t>(chance_.below(4));
  body.port = 1;
  body.counters = chance_.once_in(2) ? chance_.any(counters_) : 0;
  const std::array<std::uint32_t, 3> types{
      IBV_FLOW_SPEC_ETH,
      chance_.one_of<std::uint32_t>({IBV_FLOW_SPEC_IPV4, IBV_FLOW_SPEC_IPV4_EXT, IBV_FLOW_SPEC_IPV6}),
      chance_.one_of<std::uint32_t>({IBV_FLOW_SPEC_UDP, IBV_FLOW_SPEC_TCP})};
  body.spec_count = static_cast<std::uint8_t>(body.type == IBV_FLOW_ATTR_NORMAL ? chance_.below(4) : 0);
  for (std::size_t i = 0; i < body.spec_count; ++i) {
    body.specs[i].type = types[i];
    if (chance_.once_in(2)) continue;  // any such header
    for (std::uint8_t& byte : body.specs[i].mask) byte = chance_.once_in(8) ? 0xFF : 0;
  }
  Request made = request(ControlOpcode::create_flow, body);
  made.served = [this](Answer& answer) { remember(flows_, answer.as<abi::HandleReply>().handle); };
  return made;
}

Program::Request Program::rss() {
  abi::CreateRssQpRequest body{};
  std::vector<std::uint32_t> queues;
  for (const Queue& queue : qps_)
    if (queue.type == abi::kWorkQueue || queue.type == IBV_QPT_RAW_PACKET) queues.push_back(queue.handle);
  body.hash_fields = chance_.once_in(2) ? 0 : chance_.below(256);
  body.pd = chance_.any(pds_);
  body.queue_count = 1U << chance_.below(8);
  for (std::uint32_t& queue : body.queues) queue = chance_.any(queues);
  for (std::uint8_t& byte : body.hash_key) byte = static_cast<std::uint8_t>(chance_.word());
  Request made = request(ControlOpcode::create_rss_qp, body);
  made.served = [this](Answer& answer) { remember(rss_, answer.as<abi::HandleReply>().handle); };
  return made;
}

Program::Request Program::counters() {
  Request made = request(ControlOpcode::create_counters, abi::Empty{});
  made.served = [this](Answer& answer) { remember(counters_, answer.as<abi::HandleReply>().handle); };
  return made;
}

Program::Request Program::channel() {
  Request made = request(ControlOpcode::add_completion_channel, abi::AddCompletionChannelRequest{});
  made.descriptors = new_pipe();
  if (made.descriptors.size() != 2 || channel_inodes_.size() > kMostObjects) return made;
  channel_inodes_.push_back(inode_of(made.descriptors[0].get()));
  channels_.emplace_back(fcntl(made.descriptors[0].get(), F_DUPFD_CLOEXEC, 0));
  return made;
}

Program::Request Program::resize_cq() {
  const std::uint32_t which = chance_.below(cqs_.size());
  const std::uint32_t handle = cqs_.empty() ? 0 : cqs_[which].handle;
  Request made = request(ControlOpcode::resize_cq, abi::ResizeCqRequest{handle, size(chance_, 1U << 20)});
  made.served = [this](Answer& answer) { shared_.find(answer.as<abi::ResizeCqReply>().ring); };
  return made;
}

Program::Request Program::modify_srq() {
  abi::ModifySrqRequest body{};
  if (!srqs_.empty()) body.handle = srqs_[chance_.below(srqs_.size())].handle;
  body.mask = chance_.from(1, 3);
  body.max_wr = size(chance_, 32768);
  body.limit = chance_.below(32);
  Request made = request(ControlOpcode::modify_srq, body);
  made.served = [this, body](Answer& answer) {
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

// RESET, INIT, RTR, RTS; then now and then SQD, ERR, RESET.
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
  // Itself or one of the others, also of programs that have ended; PSNs that often agree.
  a.destination_qpn =
      chance_.once_in(2) ? qps_[chance_.below(qps_.size())].number : chance_.any(attack_.qpns);
  a.receive_psn = a.send_psn = chance_.once_in(4) ? chance_.word() & 0xFFFFFF : 0xFFFFF0;
  a.path = path();
  if (chance_.once_in(2)) a.path.destination_gid[15] = static_cast<std::uint8_t>(1 + device_);
  a.max_rd_atomic = a.max_dest_rd_atomic = static_cast<std::uint8_t>(chance_.below(17));
  a.min_rnr_timer = static_cast<std::uint8_t>(chance_.from(1, 14));
  a.timeout = static_cast<std::uint8_t>(chance_.from(1, 14));
  a.retry_count = a.rnr_retry = static_cast<std::uint8_t>(chance_.below(8));
  Request made = request(ControlOpcode::modify_qp, body);
  made.served = [this, body, next, starts](Answer&) {
    if (starts) ++attack_.counts.connected;
    for (Queue& each : qps_)
      if (each.handle == body.handle) each.state = next;
  };
  return made;
}

Program::Request Program::about_handle(ControlOpcode opcode, std::vector<std::uint32_t>& handles, bool ends) {
  const std::uint32_t handle = chance_.any(handles);
  Request made = request(opcode, abi::HandleRequest{handle, 0});
  if (ends) made.served = [&handles, handle](Answer&) { std::erase(handles, handle); };
  return made;
}

Program::Request Program::about_qp(ControlOpcode opcode) {
  const std::uint32_t handle = qps_.empty() ? 0 : qps_[chance_.below(qps_.size())].handle;
  if (opcode == ControlOpcode::set_ece)
    return request(opcode, abi::SetEceRequest{handle, kVendor, chance_.below(2)});
  if (opcode == ControlOpcode::limit_rate)
    return request(opcode, abi::LimitRateRequest{handle, chance_.from(0, 1'000'000), chance_.below(65536)});
  Request made = request(opcode, abi::HandleRequest{handle, 0});
  if (opcode == ControlOpcode::destroy_qp) made.served = [this, handle](Answer&) { forget_qp(handle); };
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
                                        &Program::channel}))();
}

Program::Request Program::any_destruction() {
  switch (chance_.below(13)) {
    case 0:
      return about_handle(ControlOpcode::deallocate_pd, pds_, true);
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
      made.served = [this, handle](Answer&) {
        std::erase_if(cqs_, [handle](const Completion& cq) { return cq.handle == handle; });
      };
      return made;
    }
    case 10: {
      const std::uint32_t handle = srqs_.empty() ? 0 : srqs_[chance_.below(srqs_.size())].handle;
      Request made = request(ControlOpcode::destroy_srq, abi::HandleRequest{handle, 0});
      made.served = [this, handle](Answer&) {
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
