// create_qp, open_qp, query_qp, destroy_qp; modify_qp is in modify_qp.cpp
#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <optional>

#include "device_model/abi/steering_messages.hpp"
#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/fabric/udp_wire.hpp"
#include "device_model/control/objects/removal.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "device_model/control/uverbs/queue_making.hpp"
#include "device_model/control/uverbs/raw_packet_rights.hpp"
#include "device_model/engine/completion/event_pipe.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/doorbells/doorbell_set.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "device_model/engine/receives/srq_tag_matching.hpp"

namespace urnic::control {
namespace {

std::optional<transport::QpService> service_of(std::uint32_t type) {
  switch (type) {
    case IBV_QPT_RC:
      return transport::QpService::rc;
    case IBV_QPT_UC:
      return transport::QpService::uc;
    case IBV_QPT_UD:
      return transport::QpService::ud;
    case IBV_QPT_RAW_PACKET:
    case abi::kWorkQueue:
      return transport::QpService::raw_packet;
    case IBV_QPT_XRC_SEND:
      return transport::QpService::xrc_initiator;
    case IBV_QPT_XRC_RECV:
      return transport::QpService::xrc_target;
    default:
      return std::nullopt;
  }
}

// A work queue (ibv_create_wq) needs no right, as in the kernel: without an RSS QP it receives nothing.
int check_right(const Session& session, const abi::CreateQpRequest& request) {
  return request.type == IBV_QPT_RAW_PACKET ? check_raw_frames(session, "create a raw packet QP") : 0;
}

int check_flags(const abi::CreateQpRequest& request, transport::QpService service) {
  if ((request.flags & ~std::uint32_t{abi::qp_block_self_multicast | abi::qp_scatter_fcs}) != 0)
    return EINVAL;
  const bool has_frames = service == transport::QpService::raw_packet;
  return (request.flags & abi::qp_scatter_fcs) != 0 && !has_frames ? EOPNOTSUPP : 0;
}

int check_sizes(const abi::CreateQpRequest& request) {
  if (request.type == abi::kWorkQueue && request.max_send_wr != 0) return EINVAL;
  const bool fits = request.max_send_wr <= limits::kMaxQpWr && request.max_receive_wr <= limits::kMaxQpWr &&
                    request.max_send_sge <= limits::kMaxSge && request.max_receive_sge <= limits::kMaxSge &&
                    request.max_inline_data <= limits::kMaxInlineData;
  return fits ? 0 : EINVAL;
}

std::uint32_t queue_slots(std::uint32_t requests) { return requests == 0 ? 0 : std::bit_ceil(requests); }

constexpr auto kSgeBytes = static_cast<std::uint32_t>(sizeof(abi::ScatterGather));
constexpr auto kSendHead = static_cast<std::uint32_t>(sizeof(abi::SendWqe));
constexpr auto kReceiveHead = static_cast<std::uint32_t>(sizeof(abi::ReceiveWqe));

// Actual sizes: a slot's unused room becomes inline data only, which costs nothing later.
void size_rings(const abi::CreateQpRequest& request, transport::QpService service,
                abi::CreateQpReply& given) {
  const bool receives = request.srq == 0 && service != transport::QpService::xrc_initiator;
  const std::uint32_t payload = std::max(request.max_send_sge * kSgeBytes, request.max_inline_data);
  given.send_slots = queue_slots(request.max_send_wr);
  given.send_slot_size = std::bit_ceil(kSendHead + payload);
  given.receive_slots = receives ? queue_slots(request.max_receive_wr) : 0;
  given.receive_slot_size = std::bit_ceil(kReceiveHead + request.max_receive_sge * kSgeBytes);
  given.max_send_sge = request.max_send_sge;
  given.max_receive_sge = receives ? request.max_receive_sge : 0;
  given.max_inline_data = given.send_slot_size - kSendHead;
}

// In the context's arenas, as abi/queues.hpp lays it out.
int place_qp(ArenaAllocator& arenas, QueuePair& qp, engine::QueuePairConfig& config) {
  size_rings(qp.request, qp.service, qp.given);
  const abi::CreateQpReply& given = qp.given;
  const std::uint64_t send = std::uint64_t{given.send_slots} * given.send_slot_size;
  const std::uint64_t receive = std::uint64_t{given.receive_slots} * given.receive_slot_size;
  if (!arenas.prepare({send, receive})) return kNotYet;
  qp.send_ring = arenas.allocate(send);
  qp.receive_ring = arenas.allocate(receive);
  qp.indices = arenas.allocate(sizeof(abi::QueuePairIndices));
  config.send_ring = qp.send_ring.data();
  config.send_slots = given.send_slots;
  config.send_slot_size = given.send_slot_size;
  config.receive_ring = qp.receive_ring.data();
  config.receive_slots = given.receive_slots;
  config.receive_slot_size = given.receive_slot_size;
  config.indices = qp.indices.as<abi::QueuePairIndices>();
  return 0;
}

// The device fills the send queue of a QP on a tag-matching SRQ (rdma-core, Documentation/tag_matching.md),
// with READs into buffers of the SRQ.
bool may_be_tagged(const QueuePair& qp, transport::QpService service) {
  return service == transport::QpService::rc && qp.request.max_send_wr == 0 && qp.pd == qp.srq->pd;
}

// A lost packet that is sent again waits behind all packets that are in the peer's socket buffer. Meanwhile
// new ones leave: twice as many as a buffer of 4 MiB holds, or the peer would have nothing to do until the
// repair has been acknowledged.
std::uint32_t window(const ServedDevice& device) {
  constexpr std::uint32_t kOverNetworks = 2048;
  return device.udp == nullptr ? transport::QpConfig{}.window_packets : kOverNetworks;
}

std::uint32_t congestion_window(const ServedDevice& device) {
  if (device.udp == nullptr) return transport::QpConfig{}.congestion_window_packets;
  return std::min(device.udp->port.window_packets(device.settings.mtu), transport::QpConfig{}.window_packets);
}

engine::QueuePairConfig config_of(Session& session, const QueuePair& qp) {
  const bool tagged = qp.srq != nullptr && qp.srq->tags != nullptr;
  const bool is_target = qp.service == transport::QpService::xrc_target;
  return {
      .device = &session.device.device->resources(),
      .service = qp.service,
      .pd = qp.pd != nullptr ? qp.pd->id : transport::PdId{},
      .send_cq = qp.send_cq != nullptr && !tagged ? qp.send_cq->queue.get() : nullptr,
      .receive_cq = qp.receive_cq != nullptr && !tagged ? qp.receive_cq->queue.get() : nullptr,
      .async_events = &session.context->async_events(),
      .user_handle = qp.request.user_handle,
      .event_source = qp.event_source.number(),
      .xrc_domain = is_target ? &qp.xrcd->domain->device_end() : nullptr,
      .context = session.context->id,
      .signal_all = qp.request.signal_all != 0,
      .blocks_own_multicast = (qp.request.flags & abi::qp_block_self_multicast) != 0,
      .takes_check_sequences = (qp.request.flags & abi::qp_scatter_fcs) != 0,
      .shared_receive_queue = qp.srq != nullptr ? qp.srq->queue.get() : nullptr,
      .tag_matching = tagged ? qp.srq->tags->matching.get() : nullptr,
      .several_processes = &session.context->several_processes(),
      .window_packets = window(session.device),
      .congestion_window_packets = congestion_window(session.device),
      .recovery = session.device.settings.recovery,
      .congestion = congestion_of(session.device.settings),
  };
}

// Installs the QP in the engine, or throws and leaves it uninstalled.
void install(Context& context, QueuePair& qp) {
  if (qp.xrcd != nullptr) qp.xrcd->domain->add_target(qp.qpn, qp.shared);
  context.fabric.engine(context.device).execute([&] {
    context.attach_doorbell(qp);
    try {
      qp.shared->hosted->install();
    } catch (...) {
      context.detach_doorbell(qp);
      throw;
    }
  });
}

abi::CreateQpReply reply_for(const QueuePair& qp, std::uint32_t handle, Session& session,
                             DescriptorExchange& descriptors) {
  abi::CreateQpReply reply = qp.given;
  reply.handle = handle;
  reply.qpn = qp.qpn;
  reply.ece_vendor_id = session.device.settings.vendor_id;
  reply.ece_options = ece_options(session, qp);
  if (!qp.doorbell) return reply;
  reply.doorbell = qp.doorbell.value();
  reply.send_ring = describe(qp.send_ring, session, descriptors);
  reply.receive_ring = describe(qp.receive_ring, session, descriptors);
  reply.indices = describe(qp.indices, session, descriptors);
  return reply;
}

// The objects that the QP uses, as its service needs them. Returns 0 or an errno.
int find_objects(const Context& context, const abi::CreateQpRequest& request, QueuePair& qp) {
  if (qp.service == transport::QpService::xrc_target) {
    qp.xrcd = context.xrc_domains.find(request.xrcd);
    return qp.xrcd != nullptr ? 0 : EINVAL;
  }
  qp.pd = context.pds.find(request.pd);
  qp.send_cq = context.cqs.find(request.send_cq);
  if (qp.pd == nullptr || qp.send_cq == nullptr) return EINVAL;
  if (qp.service == transport::QpService::xrc_initiator) return request.srq == 0 ? 0 : EINVAL;
  qp.receive_cq = context.cqs.find(request.receive_cq);
  if (request.srq != 0) qp.srq = context.srqs.find(request.srq);
  const bool srq_is_right = request.srq == 0 || (qp.srq != nullptr && qp.srq->xrcd == nullptr);
  return qp.receive_cq != nullptr && srq_is_right ? 0 : EINVAL;
}

// Every opener of an XRC target is charged for a QP.
void pay(Session& session, QueuePair& qp) {
  qp.share = session.device.queue_pairs.take();
  qp.charge = session.account->charge(Resource::queue_pairs, 1, object_bytes::kQueuePair);
}

}  // namespace

int make_qp(Session& session, const abi::CreateQpRequest& request, const PlaceQp& place,
            std::uint32_t& handle) {
  Context& context = *session.context;
  const auto service = service_of(request.type);
  if (!service) return EOPNOTSUPP;
  if (const int error = check_flags(request, *service)) return error;
  if (const int error = check_right(session, request)) return error;
  auto qp = std::make_unique<QueuePair>();
  qp->request = request;
  qp->service = *service;
  if (const int error = find_objects(context, request, *qp)) return error;
  if (const int error = check_sizes(request)) return error;
  if (qp->srq != nullptr && qp->srq->tags != nullptr && !may_be_tagged(*qp, *service)) return EINVAL;
  pay(session, *qp);

  engine::QueuePairConfig config = config_of(session, *qp);
  if (*service != transport::QpService::xrc_target) {
    if (const int error = place(*qp, config)) return error;
  }
  config.ordinal = ++context.queue_pairs_opened;
  qp->shared = std::make_shared<SharedQueuePair>(config);
  if (qp->shared->hosted == nullptr) return ENOMEM;
  qp->qpn = qp->shared->hosted->qpn().value;
  if (qp->srq != nullptr) qp->srq->qpns.insert(qp->qpn);

  Joining made(context.qps, std::move(qp));
  install(context, *made);
  handle = made.keep();
  return 0;
}

int create_qp(Session& session, const abi::CreateQpRequest& request, abi::CreateQpReply& reply,
              DescriptorExchange& descriptors) {
  Context& context = *session.context;
  const auto place = [&](QueuePair& qp, engine::QueuePairConfig& config) {
    if (const int error = place_qp(context.arenas, qp, config)) return error;
    qp.doorbell = context.doorbell_numbers.take();
    return 0;
  };
  std::uint32_t handle = 0;
  if (const int error = make_qp(session, request, place, handle)) return error;
  reply = reply_for(*context.qps.find(handle), handle, session, descriptors);
  return 0;
}

int open_qp(Session& session, const abi::OpenQpRequest& request, abi::HandleReply& reply,
            DescriptorExchange&) {
  Context& context = *session.context;
  OpenXrcDomain* const xrcd = context.xrc_domains.find(request.xrcd);
  if (xrcd == nullptr || request.type != IBV_QPT_XRC_RECV) return EINVAL;
  auto qp = std::make_unique<QueuePair>();
  qp->shared = xrcd->domain->find_target(request.qpn);
  if (qp->shared == nullptr) return EINVAL;
  pay(session, *qp);

  qp->xrcd = xrcd;
  qp->service = transport::QpService::xrc_target;
  qp->qpn = request.qpn;
  Joining opened(context.qps, std::move(qp));
  session.fabric.engine(session.device).execute([&] {
    opened->shared->hosted->listeners().add(context.async_events(), request.user_handle,
                                            opened->event_source.number());
  });
  reply.handle = opened.keep();
  return 0;
}

int query_qp(Session& session, const abi::HandleRequest& request, abi::QueryQpReply& reply,
             DescriptorExchange&) {
  const QueuePair* qp = session.context->qps.find(request.handle);
  if (qp == nullptr) return EINVAL;
  const SharedQueuePair& shared = *qp->shared;
  reply.attributes = shared.attributes;
  session.fabric.engine(session.device).execute([&] {
    const transport::QpState state = shared.hosted->state();
    reply.attributes.state = reply.attributes.current_state = static_cast<std::uint32_t>(state);
    reply.attributes.sq_draining = state == transport::QpState::sqd && !shared.hosted->drained();
  });
  reply.max_send_wr = qp->given.send_slots;
  reply.max_receive_wr = qp->given.receive_slots;
  reply.max_send_sge = qp->given.max_send_sge;
  reply.max_receive_sge = qp->given.max_receive_sge;
  reply.max_inline_data = qp->given.max_inline_data;
  reply.signal_all = qp->request.signal_all;
  return 0;
}

int destroy_qp(Session& session, const abi::HandleRequest& request, abi::DestroyReply& reply,
               DescriptorExchange&) {
  Context& context = *session.context;
  QueuePair* qp = context.qps.find(request.handle);
  if (qp == nullptr) return EINVAL;
  if (!qp->groups.empty() || qp->in_use()) return EBUSY;  // as in the kernel
  const std::array number{wire::Qpn{qp->qpn}};
  engine::Engine& engine = session.fabric.engine(session.device);
  if (unbind_portion(engine, *session.device.device, number, qp->portions_unbound)) return kNotYet;
  return remove_one(context.qps, request.handle, engine, [&](QueuePair& gone) {
    reply.async_events_reported = context.async_events().take_back(context.withdraw(gone));
  });
}

}  // namespace urnic::control
