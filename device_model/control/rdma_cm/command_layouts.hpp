// The kernel's layouts of commands, answers and events.
#pragma once

// First: with it, the kernel's header takes the C library's sockaddr_in6 and declares none of its own.
#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>
