#include "device_model/control/netlink/device_answers.hpp"

#include <infiniband/verbs.h>

#include <cerrno>
#include <span>

#include "device_model/control/fabric/face_identity.hpp"
#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/fabric/port_record.hpp"
#include "device_model/control/objects/program_context.hpp"
#include "wire/mad/guid_bytes.hpp"

namespace urnic::control::netlink {
namespace {

constexpr std::uint32_t kLoopbackIndex = 1;  // of "lo", in every network namespace

// The first half of a GID, which is as long as a GUID.
std::uint64_t subnet_prefix(const PortRecord& record) {
  const std::span gid(record.gids.at(0).bytes);
  return wire::mad::to_guid(gid.first<wire::mad::kGuidBytes>()).value;
}

}  // namespace

void put_device(const ServedDevice& device, DatagramWriter& datagram) {
  const std::uint64_t guid = wire::mad::to_guid(device.node_guid).value;  // in host order
  put_device_name(datagram, device);
  datagram.put(RDMA_NLDEV_ATTR_PORT_INDEX, limits::kPorts);  // here: the number of ports
  datagram.put(RDMA_NLDEV_ATTR_CAP_FLAGS, std::uint64_t{limits::kDeviceFlags});
  datagram.put(RDMA_NLDEV_ATTR_FW_VERSION, identity_of(device.settings.face).firmware_version);
  datagram.put(RDMA_NLDEV_ATTR_NODE_GUID, guid);
  datagram.put(RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, guid);
  datagram.put(RDMA_NLDEV_ATTR_DEV_NODE_TYPE, std::uint8_t{IBV_NODE_CA});
  datagram.put(RDMA_NLDEV_ATTR_DEV_PROTOCOL, device.adapter ? "ib" : "roce");
  datagram.put(RDMA_NLDEV_ATTR_DEV_DIM, std::uint8_t{0});  // CQs moderate no events by themselves
}

// The interface is the one in sysfs (device/net). A RoCE port has no LID, as in Linux's answers.
void put_port(Fabric& fabric, const ServedDevice& device, DatagramWriter& datagram) {
  const PortRecord record = port_record(fabric, device);
  put_device_name(datagram, device);
  datagram.put(RDMA_NLDEV_ATTR_PORT_INDEX, limits::kPorts);
  datagram.put(RDMA_NLDEV_ATTR_CAP_FLAGS, std::uint64_t{record.capabilities});
  datagram.put(RDMA_NLDEV_ATTR_PORT_STATE, record.state);
  datagram.put(RDMA_NLDEV_ATTR_PORT_PHYS_STATE, record.physical_state);
  if (record.link_layer == LinkLayer::infiniband) {
    datagram.put(RDMA_NLDEV_ATTR_SUBNET_PREFIX, subnet_prefix(record));
    datagram.put(RDMA_NLDEV_ATTR_LID, std::uint32_t{record.lid});
    datagram.put(RDMA_NLDEV_ATTR_SM_LID, std::uint32_t{record.manager_lid});
    datagram.put(RDMA_NLDEV_ATTR_LMC, record.lmc);
  }
  const auto none = identity_of(device.settings.face).no_interface;
  if (device.interface) {
    datagram.put(RDMA_NLDEV_ATTR_NDEV_INDEX, device.interface->index);
    datagram.put(RDMA_NLDEV_ATTR_NDEV_NAME, device.interface->name);
  } else if (none) {
    datagram.put(RDMA_NLDEV_ATTR_NDEV_INDEX, kLoopbackIndex);
    datagram.put(RDMA_NLDEV_ATTR_NDEV_NAME, *none);
  }
}

void put_object_counts(const Subjects& subjects, const ServedDevice& device, DatagramWriter& datagram) {
  const auto put_count = [&](const char* name, std::uint64_t count) {
    const auto entry = datagram.begin_table(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);
    datagram.put(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, name);
    datagram.put(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, count);
    datagram.end_table(entry);
  };
  const CmIdentifierSource* const identifiers = subjects.cm_identifiers;
  put_device_name(datagram, device);
  const auto table = datagram.begin_table(RDMA_NLDEV_ATTR_RES_SUMMARY);
  put_count("pd", device.protection_domains.used());
  put_count("cq", device.completion_queues.used());
  put_count("qp", device.queue_pairs.used());
  put_count("cm_id", identifiers != nullptr ? identifiers->count(device) : 0);
  put_count("mr", device.memory_regions.used());
  put_count("ctx", subjects.contexts.in_service(device).size());
  put_count("srq", device.shared_receive_queues.used());
  datagram.end_table(table);
}

// Every network namespace sees the devices. What a program writes after fork goes into pages of its own, for
// the device reaches memory by the program's addresses: so libibverbs need not keep memory from the child.
void put_system(DatagramWriter& datagram) {
  constexpr std::uint8_t kShared = 1;
  datagram.put(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, kShared);
  datagram.put(RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, std::uint8_t{1});
}

int put_node(const Subjects& subjects, const Attributes& asked, DatagramWriter& datagram) {
  const auto type = asked.text(RDMA_NLDEV_ATTR_CHARDEV_TYPE);
  const bool of_device = asked.has(RDMA_NLDEV_ATTR_DEV_INDEX);
  const ServedDevice* const device = find_device(subjects, asked);
  if (!type || of_device != (device != nullptr)) return EINVAL;
  if (asked.has(RDMA_NLDEV_ATTR_PORT_INDEX) && (!of_device || !names_port(asked))) return EINVAL;
  const CharacterNode* const node = subjects.nodes.find(*type, of_device ? device->settings.name : "");
  if (node == nullptr) return ENOENT;
  datagram.put(RDMA_NLDEV_ATTR_CHARDEV, node->number);
  datagram.put(RDMA_NLDEV_ATTR_CHARDEV_ABI, node->abi);
  datagram.put(RDMA_NLDEV_ATTR_CHARDEV_NAME, node->name);
  // By it libibverbs chooses the library (ib_uverbs adds it to what it tells of its own nodes only).
  const auto driver = of_device ? identity_of(device->settings.face).driver_id : std::nullopt;
  if (driver && *type == "uverbs") datagram.put(RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, *driver);
  return 0;
}

}  // namespace urnic::control::netlink
