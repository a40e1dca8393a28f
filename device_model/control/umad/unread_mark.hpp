// What the device process leaves unread in its end of a umad connection: a program's last mark
// (abi/umad_messages.hpp).
#pragma once

namespace urnic::control {

// Of the unread messages, which are a byte in all: whether they are a mark, or none. False also at the end of
// the connection. With its descriptors a mark would keep what they refer to: a program that sends its end of
// the connection with one, and closes it, would stay connected for ever. Reads nothing, and takes no
// descriptor.
bool is_mark_or_nothing(int socket);

}  // namespace urnic::control
