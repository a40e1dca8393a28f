// Counters of ports: those of sysfs's hw_counters.
#pragma once

#include "device_model/control/netlink/request.hpp"

namespace urnic::control::netlink {

// RDMA_NLDEV_CMD_STAT_GET for one port: its counters, or whether queue pairs have counters of their own (none
// has). Puts the attributes of the message; returns 0 or an errno.
int put_counters(const Subjects& subjects, const Attributes& asked, DatagramWriter& datagram);
// RDMA_NLDEV_CMD_STAT_GET_STATUS: the counters' names and indexes.
int put_counter_names(const Subjects& subjects, const Attributes& asked, DatagramWriter& datagram);

}  // namespace urnic::control::netlink
