// The kinds of objects that contexts have in tables, and their attributes (object_dump.hpp).
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <span>
#include <vector>

#include "device_model/control/netlink/object_dump.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "device_model/engine/receives/shared_receive_queue.hpp"

namespace urnic::control::netlink {

// What needs nothing of the engine.
template <class T, std::uint16_t table_type, std::uint16_t entry_type, std::uint16_t number_type>
struct PlainKind {
  using Object = T;
  static constexpr TableTypes kTypes{table_type, entry_type};
  static constexpr std::uint16_t kNumber = number_type;
  void look(Fabric&, const Context&, std::span<const std::uint32_t>) {}
};

inline std::uint8_t verbs_type(transport::QpService service) {
  switch (service) {
    case transport::QpService::rc:
      return IBV_QPT_RC;
    case transport::QpService::uc:
      return IBV_QPT_UC;
    case transport::QpService::ud:
      return IBV_QPT_UD;
    case transport::QpService::raw_packet:
      return IBV_QPT_RAW_PACKET;
    case transport::QpService::xrc_initiator:
      return IBV_QPT_XRC_SEND;
    case transport::QpService::xrc_target:
      return IBV_QPT_XRC_RECV;
  }
  return IBV_QPT_UD;
}

inline bool is_connected(transport::QpService service) {
  return service != transport::QpService::ud && service != transport::QpService::raw_packet;
}

// As they are at this moment: the PSN of the next packet to send, and of the one that is expected.
struct Psns {
  std::uint32_t receive = 0;
  std::uint32_t send = 0;
};
inline Psns psns_of(const abi::QpAttributes& attributes, const transport::QueuePairSnapshot& snapshot) {
  if (!snapshot.reliable) return {attributes.receive_psn, attributes.send_psn};
  return {snapshot.responder.expected_psn.value(), snapshot.requester.next_psn.value()};
}

class QueuePairs {
 public:
  using Object = QueuePair;
  static constexpr TableTypes kTypes{RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY};
  static constexpr std::uint16_t kNumber = RDMA_NLDEV_ATTR_RES_LQPN;
  static const HandleTable<QueuePair>& table(const Context& context) { return context.qps; }
  static std::uint32_t number(const QueuePair& qp) { return qp.qpn; }

  // If the request names a port, those without a port are left out.
  explicit QueuePairs(const Request& request)
      : port_only_(request.attributes.has(RDMA_NLDEV_ATTR_PORT_INDEX)) {}

  void look(Fabric& fabric, const Context& context, std::span<const std::uint32_t> handles) {
    statuses_.assign(handles.size(), {});
    fabric.engine(context.device).execute([&] {
      for (std::size_t i = 0; i < handles.size(); ++i) {
        if (const QueuePair* const qp = context.qps.find(handles[i]))
          statuses_[i] = qp->shared->hosted->status();
      }
    });
  }

  bool put(DatagramWriter& datagram, const Context& context, const QueuePair& qp, std::size_t place) const {
    const transport::QueuePairSnapshot& snapshot = statuses_[place].transport;
    const abi::QpAttributes& attributes = qp.shared->attributes;
    const Psns psns = psns_of(attributes, snapshot);
    const bool has_port = snapshot.state != transport::QpState::reset;
    if (port_only_ && !has_port) return false;
    datagram.put(RDMA_NLDEV_ATTR_RES_LQPN, qp.qpn);
    if (has_port) datagram.put(RDMA_NLDEV_ATTR_PORT_INDEX, limits::kPorts);
    if (is_connected(qp.service)) {
      datagram.put(RDMA_NLDEV_ATTR_RES_RQPN, attributes.destination_qpn);
      datagram.put(RDMA_NLDEV_ATTR_RES_RQ_PSN, psns.receive);
    }
    datagram.put(RDMA_NLDEV_ATTR_RES_SQ_PSN, psns.send);
    if (is_connected(qp.service))
      datagram.put(RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE, std::uint8_t{IBV_MIG_MIGRATED});
    datagram.put(RDMA_NLDEV_ATTR_RES_TYPE, verbs_type(qp.service));
    datagram.put(RDMA_NLDEV_ATTR_RES_STATE, static_cast<std::uint8_t>(snapshot.state));
    if (qp.pd != nullptr) datagram.put(RDMA_NLDEV_ATTR_RES_PDN, qp.pd->id.value);
    put_process(datagram, context);
    return true;
  }

 private:
  bool port_only_;
  std::vector<engine::QueuePairStatus> statuses_;
};

struct CompletionQueues : PlainKind<CompletionQueue, RDMA_NLDEV_ATTR_RES_CQ, RDMA_NLDEV_ATTR_RES_CQ_ENTRY,
                                    RDMA_NLDEV_ATTR_RES_CQN> {
  static std::uint32_t number(const CompletionQueue& cq) { return cq.number; }
  static const HandleTable<CompletionQueue>& table(const Context& context) { return context.cqs; }
  bool put(DatagramWriter& datagram, const Context& context, const CompletionQueue& cq, std::size_t) const {
    const std::uint64_t entries = cq.ring.length() / sizeof(abi::Cqe);
    datagram.put(RDMA_NLDEV_ATTR_RES_CQE, static_cast<std::uint32_t>(entries));
    datagram.put(RDMA_NLDEV_ATTR_RES_USECNT, std::uint64_t{cq.users()});
    datagram.put(RDMA_NLDEV_ATTR_RES_CQN, cq.number);
    datagram.put(RDMA_NLDEV_ATTR_RES_CTXN, context.id);
    put_process(datagram, context);
    return true;
  }
};

// Without keys: Linux shows these to administrators only.
struct MemoryRegions
    : PlainKind<MemoryRegion, RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_MR_ENTRY, RDMA_NLDEV_ATTR_RES_MRN> {
  // The key's lowest byte changes with each use.
  static std::uint32_t number(const MemoryRegion& region) { return region.key.value >> 8; }
  static const HandleTable<MemoryRegion>& table(const Context& context) { return context.regions; }
  bool put(DatagramWriter& datagram, const Context& context, const MemoryRegion& region, std::size_t) const {
    datagram.put(RDMA_NLDEV_ATTR_RES_MRLEN, region.spec.length);
    datagram.put(RDMA_NLDEV_ATTR_RES_MRN, number(region));
    if (region.pd != nullptr) datagram.put(RDMA_NLDEV_ATTR_RES_PDN, region.pd->id.value);
    if (region.process != nullptr)
      put_process(datagram, region.process.get());
    else
      put_process(datagram, context);
    return true;
  }
};

struct ProtectionDomains : PlainKind<ProtectionDomain, RDMA_NLDEV_ATTR_RES_PD, RDMA_NLDEV_ATTR_RES_PD_ENTRY,
                                     RDMA_NLDEV_ATTR_RES_PDN> {
  static std::uint32_t number(const ProtectionDomain& pd) { return pd.id.value; }
  static const HandleTable<ProtectionDomain>& table(const Context& context) { return context.pds; }
  bool put(DatagramWriter& datagram, const Context& context, const ProtectionDomain& pd, std::size_t) const {
    datagram.put(RDMA_NLDEV_ATTR_RES_USECNT, std::uint64_t{pd.users()});
    datagram.put(RDMA_NLDEV_ATTR_RES_PDN, pd.id.value);
    datagram.put(RDMA_NLDEV_ATTR_RES_CTXN, context.id);
    put_process(datagram, context);
    return true;
  }
};

struct SharedReceiveQueues : PlainKind<SharedReceiveQueue, RDMA_NLDEV_ATTR_RES_SRQ,
                                       RDMA_NLDEV_ATTR_RES_SRQ_ENTRY, RDMA_NLDEV_ATTR_RES_SRQN> {
  static std::uint32_t number(const SharedReceiveQueue& srq) { return srq.queue->number(); }
  static const HandleTable<SharedReceiveQueue>& table(const Context& context) { return context.srqs; }
  static std::uint8_t type_of(const SharedReceiveQueue& srq) {
    if (srq.tags != nullptr) return IBV_SRQT_TM;
    return srq.xrcd != nullptr ? IBV_SRQT_XRC : IBV_SRQT_BASIC;
  }
  bool put(DatagramWriter& datagram, const Context& context, const SharedReceiveQueue& srq,
           std::size_t) const {
    datagram.put(RDMA_NLDEV_ATTR_RES_SRQN, number(srq));
    datagram.put(RDMA_NLDEV_ATTR_RES_TYPE, type_of(srq));
    if (srq.pd != nullptr) datagram.put(RDMA_NLDEV_ATTR_RES_PDN, srq.pd->id.value);
    if (srq.cq != nullptr) datagram.put(RDMA_NLDEV_ATTR_RES_CQN, srq.cq->number);
    put_queue_pairs(datagram, srq);
    put_process(datagram, context);
    return true;
  }

 private:
  // More than iproute2's `rdma` shows of one SRQ (256 characters), and few enough for any datagram.
  static constexpr std::size_t kMostQueuePairs = 128;

  static void put_queue_pairs(DatagramWriter& datagram, const SharedReceiveQueue& srq) {
    const auto table = datagram.begin_table(RDMA_NLDEV_ATTR_RES_QP);
    std::size_t listed = 0;
    for (const std::uint32_t qpn : srq.qpns) {
      if (listed++ == kMostQueuePairs) break;
      const auto entry = datagram.begin_table(RDMA_NLDEV_ATTR_RES_QP_ENTRY);
      datagram.put(RDMA_NLDEV_ATTR_RES_LQPN, qpn);
      datagram.end_table(entry);
    }
    datagram.end_table(table);
  }
};

}  // namespace urnic::control::netlink
