// Whether a program may send and receive raw packets, and forge management datagrams.
#pragma once

#include <string_view>

namespace urnic::control {

struct Session;

// 0, or EPERM if the session's program may not do `what` ("create a raw packet QP"). Checked before all else
// in the request, as in the kernel.
int check_raw_packets(const Session& session, std::string_view what);

// The same for what is of Ethernet; EOPNOTSUPP on an InfiniBand port.
int check_raw_frames(const Session& session, std::string_view what);

}  // namespace urnic::control
