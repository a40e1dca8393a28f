// Answers about devices, their ports, and the number of objects on them. Each function adds the attributes to
// a message.
#pragma once

#include "device_model/control/netlink/request.hpp"

namespace urnic::control::netlink {

void put_device(const ServedDevice& device, DatagramWriter& datagram);
void put_port(Fabric& fabric, const ServedDevice& device, DatagramWriter& datagram);
// How many objects of each kind the device has.
void put_object_counts(const Subjects& subjects, const ServedDevice& device, DatagramWriter& datagram);
void put_system(DatagramWriter& datagram);
// Of the node that the request asks for. Returns 0 or an errno.
int put_node(const Subjects& subjects, const Attributes& asked, DatagramWriter& datagram);

}  // namespace urnic::control::netlink
