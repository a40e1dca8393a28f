// A request, and what its answer is made of.
#pragma once

#include <cstdint>
#include <optional>

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/netlink/character_nodes.hpp"
#include "device_model/control/netlink/cm_identifiers.hpp"
#include "device_model/control/netlink/datagram_writer.hpp"
#include "device_model/control/netlink/message_reader.hpp"
#include "device_model/control/objects/context_registry.hpp"

namespace urnic::control::netlink {

// The objects that answers tell of; all outlive the answers.
struct Subjects {
  Fabric& fabric;
  const ContextRegistry& contexts;
  const CharacterNodes& nodes;
  const CmIdentifierSource* cm_identifiers = nullptr;  // null: rdma_cm is not served
};

struct Request {
  std::uint16_t type = 0;  // of the message, and of the answers
  Question question;
  Attributes attributes;
};

// The type of messages of an RDMA_NLDEV_CMD_….
constexpr std::uint16_t message_type(std::uint32_t command) {
  return static_cast<std::uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command));
}

// Of the request's device index; null if it names no device.
inline ServedDevice* find_device(const Subjects& subjects, const Attributes& attributes) {
  const auto index = attributes.number(RDMA_NLDEV_ATTR_DEV_INDEX);
  const auto& devices = subjects.fabric.devices();
  return index && *index < devices.size() ? devices[*index].get() : nullptr;
}

// Whether the request names a port that devices have.
inline bool names_port(const Attributes& attributes) {
  return attributes.number(RDMA_NLDEV_ATTR_PORT_INDEX) == limits::kPorts;
}

// Every answer that is about a device begins with its index and name.
inline void put_device_name(DatagramWriter& datagram, const ServedDevice& device) {
  datagram.put(RDMA_NLDEV_ATTR_DEV_INDEX, device.index);
  datagram.put(RDMA_NLDEV_ATTR_DEV_NAME, device.settings.name);
}

// An answer in several messages, or one that has to be looked for.
class Dump {
 public:
  virtual ~Dump() = default;
  // A portion of the work: puts the next messages into `datagram`, which is empty. Returns whether there is
  // more. The datagram stays empty if nothing was found yet.
  virtual bool write(DatagramWriter& datagram) = 0;
  // After the last portion. Empty: NLMSG_DONE ends the answer. Otherwise the answer was one message or none,
  // and this is the request's result: 0 or an errno.
  virtual std::optional<int> result() const { return std::nullopt; }
};

}  // namespace urnic::control::netlink
