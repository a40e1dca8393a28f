// A device process without threads that answers requests of NETLINK_RDMA.
#pragma once

#include "tests/unit/control/direct_program.hpp"
#include "tests/unit/control/netlink_conversation.hpp"

namespace urnic::control::test {

struct WithMachine {
  Machine machine;
  netlink::CharacterNodes nodes;
  netlink::Subjects subjects{machine.fabric, machine.contexts, nodes};

  Conversation ask(const NetlinkRequest& request) { return converse(subjects, request.bytes()); }
  static NetlinkRequest dump_of_device(std::uint32_t command, std::uint32_t device = 0) {
    return NetlinkRequest(command, kDump).with(RDMA_NLDEV_ATTR_DEV_INDEX, device);
  }
};

}  // namespace urnic::control::test
