// Whether a program may send and receive raw packets.
#pragma once

#include <string_view>

namespace urnic::control {

struct Session;

// 0, or EPERM if the session's program may not create `what` (a raw packet QP, an RSS QP or a flow). Checked
// before all else in the request, as in the kernel.
int check_raw_packets(const Session& session, std::string_view what);

}  // namespace urnic::control
