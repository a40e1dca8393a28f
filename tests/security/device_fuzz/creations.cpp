// Requests that make objects.
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "tests/security/device_fuzz/program.hpp"
#include "tests/security/device_fuzz/request_values.hpp"

namespace urnic::device_fuzz {

using abi::ControlOpcode;

namespace {

std::uint64_t inode_of(int descriptor) {
  struct stat facts {};
  return fstat(descriptor, &facts) == 0 ? facts.st_ino : 0;
}

}  // namespace

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
  if (reserved_pd_ != 0 && chance_.once_in(2)) {
    remember(pds_, reserved_pd_);
    return request(ControlOpcode::allocate_reserved_pd,
                   abi::HandleRequest{std::exchange(reserved_pd_, 0), 0});
  }
  Request made = request(ControlOpcode::allocate_pd, abi::Empty{});
  made.served = [this](ControlReply& answer) { remember(pds_, answer.as<abi::HandleReply>().handle); };
  return made;
}

Program::Request Program::mr() {
  const std::uint64_t address = attack_.memory.address();
  Request made =
      request(ControlOpcode::register_mr,
              abi::RegisterMrRequest{address, attack_.memory.length(), chance_.once_in(4) ? 0 : address,
                                     chance_.any(pds_), access(chance_)});
  made.served = [this](ControlReply& answer) { remember_keys(answer.as<abi::RegisterMrReply>(), mrs_); };
  return made;
}

Program::Request Program::reregister() {
  abi::ReregisterMrRequest body{};
  body.handle = chance_.any(mrs_);
  body.flags = chance_.below(8);
  body.change = {attack_.memory.address(), attack_.memory.length(), attack_.memory.address(),
                 chance_.any(pds_), access(chance_)};
  Request made = request(ControlOpcode::reregister_mr, body);
  made.served = [this](ControlReply& answer) { remember_keys(answer.as<abi::RegisterMrReply>(), mrs_); };
  return made;
}

Program::Request Program::window() {
  Request made =
      request(ControlOpcode::allocate_mw, abi::AllocateMwRequest{chance_.any(pds_), chance_.from(1, 2)});
  made.served = [this](ControlReply& answer) {
    const auto reply = answer.as<abi::AllocateMwReply>();
    remember(mws_, reply.handle);
    if (attack_.keys.size() < 256) attack_.keys.push_back(reply.rkey);
  };
  return made;
}

Program::Request Program::null_mr() {
  Request made = request(ControlOpcode::allocate_null_mr, abi::HandleRequest{chance_.any(pds_), 0});
  made.served = [this](ControlReply& answer) { remember_keys(answer.as<abi::RegisterMrReply>(), mrs_); };
  return made;
}

Program::Request Program::device_memory() {
  const bool imports = chance_.once_in(4);
  Request made = imports ? request(ControlOpcode::import_dm, abi::HandleRequest{chance_.any(dms_), 0})
                         : request(ControlOpcode::allocate_dm,
                                   abi::AllocateDmRequest{chance_.from(1, 8192), chance_.below(13), 0});
  made.served = [this](ControlReply& answer) {
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
  made.served = [this](ControlReply& answer) { remember_keys(answer.as<abi::RegisterMrReply>(), mrs_); };
  return made;
}

Program::Request Program::dma_buf() {
  Request made =
      request(ControlOpcode::register_dma_buf_mr,
              abi::RegisterDmaBufMrRequest{0, chance_.from(1, 65536), 0, chance_.any(pds_), access(chance_)});
  made.descriptors.push_back(attack_.odd.make());
  made.served = [this](ControlReply& answer) { remember_keys(answer.as<abi::RegisterMrReply>(), mrs_); };
  return made;
}

Program::Request Program::cq() {
  abi::CreateCqRequest body{};
  body.user_handle = chance_.number();
  if (!channel_inodes_.empty() && chance_.once_in(2)) body.channel_inode = chance_.any(channel_inodes_);
  body.entries = size(chance_, 1U << 20);
  body.flags = chance_.below(4);
  Request made = request(ControlOpcode::create_cq, body);
  made.served = [this](ControlReply& answer) {
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
  body.flags = chance_.below(body.type == IBV_QPT_RAW_PACKET ? 4 : 2);
  if (body.type != IBV_QPT_XRC_SEND && !srqs_.empty() && chance_.once_in(3)) {
    body.srq = srqs_[chance_.below(srqs_.size())].handle;
    if (chance_.once_in(2)) body.max_send_wr = 0;
  }
  body.xrcd = chance_.any(xrcds_);
  Request made = request(ControlOpcode::create_qp, body);
  made.served = [this, body](ControlReply& answer) { remember_qp(body, answer.as<abi::CreateQpReply>()); };
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
  made.served = [this](ControlReply& answer) {
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
  made.served = [this, body](ControlReply& answer) {
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
  if (chance_.once_in(2))  // a file that all attackers' programs share, or any
    made.descriptors.push_back(
        chance_.once_in(4) ? attack_.odd.make() : Descriptor(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC)));
  made.served = [this](ControlReply& answer) { remember(xrcds_, answer.as<abi::HandleReply>().handle); };
  return made;
}

Program::Request Program::open_qp() {
  Request made =
      request(ControlOpcode::open_qp, abi::OpenQpRequest{chance_.number(), chance_.any(xrcds_),
                                                         chance_.any(attack_.qpns), IBV_QPT_XRC_RECV, 0});
  made.served = [this](ControlReply& answer) {
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
  made.served = [this](ControlReply& answer) {
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

// Announces an exec that does not follow.
Program::Request Program::exec_notice() {
  return request(ControlOpcode::announce_exec, abi::AnnounceExecRequest{chance_.below(3), 0});
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
  made.served = [this](ControlReply& answer) { remember(flows_, answer.as<abi::HandleReply>().handle); };
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
  made.served = [this](ControlReply& answer) { remember(rss_, answer.as<abi::HandleReply>().handle); };
  return made;
}

Program::Request Program::counters() {
  Request made = request(ControlOpcode::create_counters, abi::Empty{});
  made.served = [this](ControlReply& answer) { remember(counters_, answer.as<abi::HandleReply>().handle); };
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

}  // namespace urnic::device_fuzz
