// Answers to requests, by command. The commands and attributes are those of Linux's
// drivers/infiniband/core/nldev.c
// (<rdma/rdma_netlink.h>).
#pragma once

#include <memory>

#include "device_model/control/netlink/request.hpp"

namespace urnic::control::netlink {

// What becomes of a message from a program.
struct Answered {
  int error = 0;               // an errno
  std::unique_ptr<Dump> dump;  // the answer to come; null: it is in the datagram, if there is any
};

// Runs the request in `message`. A single answer goes into `datagram`, which is empty; after an error nothing
// is in it.
Answered answer(const Subjects& subjects, const Message& message, DatagramWriter& datagram);

}  // namespace urnic::control::netlink
