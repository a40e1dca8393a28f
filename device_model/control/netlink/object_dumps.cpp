#include "device_model/control/netlink/object_dumps.hpp"

#include <utility>

#include "device_model/control/netlink/object_dump.hpp"
#include "device_model/control/netlink/object_kinds.hpp"
#include "device_model/control/netlink/small_dumps.hpp"

namespace urnic::control::netlink {
namespace {

class EmptyDump final : public Dump {
  bool write(DatagramWriter&) override { return false; }
};

template <class Kind>
std::unique_ptr<Dump> dump_of(const Subjects& subjects, const ServedDevice& device, const Request& request) {
  return std::make_unique<ObjectDump<Kind>>(subjects, device, request);
}

// Null: the request names no number.
template <class Kind, class... Arguments>
std::unique_ptr<Dump> search_of(const Subjects& subjects, const ServedDevice& device, const Request& request,
                                Arguments&&... arguments) {
  const auto number = request.attributes.number(Kind::kNumber);
  if (!number) return nullptr;
  return std::make_unique<ObjectSearch<Kind>>(subjects, device, request, *number,
                                              Kind(std::forward<Arguments>(arguments)...));
}

}  // namespace

std::unique_ptr<Dump> make_object_dump(const Subjects& subjects, const ServedDevice& device,
                                       std::uint32_t command, const Request& request) {
  switch (command) {
    case RDMA_NLDEV_CMD_RES_QP_GET:
      return std::make_unique<ObjectDump<QueuePairs>>(subjects, device, request, QueuePairs(request));
    case RDMA_NLDEV_CMD_RES_CQ_GET:
      return dump_of<CompletionQueues>(subjects, device, request);
    case RDMA_NLDEV_CMD_RES_MR_GET:
      return dump_of<MemoryRegions>(subjects, device, request);
    case RDMA_NLDEV_CMD_RES_PD_GET:
      return dump_of<ProtectionDomains>(subjects, device, request);
    case RDMA_NLDEV_CMD_RES_SRQ_GET:
      return dump_of<SharedReceiveQueues>(subjects, device, request);
    case RDMA_NLDEV_CMD_RES_CTX_GET:
      return make_context_dump(subjects, device, request);
    case RDMA_NLDEV_CMD_RES_CM_ID_GET:
      if (subjects.cm_identifiers == nullptr) return std::make_unique<EmptyDump>();
      return make_identifier_dump(subjects, device, request);
    case RDMA_NLDEV_CMD_STAT_GET:  // of queue pairs or regions: none has counters of its own
      return std::make_unique<EmptyDump>();
    default:
      return nullptr;
  }
}

bool is_object_command(std::uint32_t command) {
  switch (command) {
    case RDMA_NLDEV_CMD_RES_QP_GET:
    case RDMA_NLDEV_CMD_RES_CQ_GET:
    case RDMA_NLDEV_CMD_RES_MR_GET:
    case RDMA_NLDEV_CMD_RES_PD_GET:
    case RDMA_NLDEV_CMD_RES_SRQ_GET:
    case RDMA_NLDEV_CMD_RES_CTX_GET:
    case RDMA_NLDEV_CMD_RES_CM_ID_GET:
      return true;
    default:
      return false;
  }
}

std::unique_ptr<Dump> make_object_search(const Subjects& subjects, const ServedDevice& device,
                                         std::uint32_t command, const Request& request) {
  switch (command) {
    case RDMA_NLDEV_CMD_RES_QP_GET:
      return search_of<QueuePairs>(subjects, device, request, request);
    case RDMA_NLDEV_CMD_RES_CQ_GET:
      return search_of<CompletionQueues>(subjects, device, request);
    case RDMA_NLDEV_CMD_RES_MR_GET:
      return search_of<MemoryRegions>(subjects, device, request);
    case RDMA_NLDEV_CMD_RES_PD_GET:
      return search_of<ProtectionDomains>(subjects, device, request);
    case RDMA_NLDEV_CMD_RES_SRQ_GET:
      return search_of<SharedReceiveQueues>(subjects, device, request);
    case RDMA_NLDEV_CMD_RES_CTX_GET: {
      const auto number = request.attributes.number(RDMA_NLDEV_ATTR_RES_CTXN);
      return number ? search_for_context(subjects, device, request, *number) : nullptr;
    }
    case RDMA_NLDEV_CMD_RES_CM_ID_GET: {
      const auto number = request.attributes.number(RDMA_NLDEV_ATTR_RES_CM_IDN);
      return number ? search_for_identifier(subjects, device, request, *number) : nullptr;
    }
    default:
      return nullptr;
  }
}

}  // namespace urnic::control::netlink
