// Descriptors in messages that are not read yet: for who does not read, as long as its peer does not. A peer
// that sends an end of its own connection, and closes it, would stay connected for ever, as only reading ends
// that.
#pragma once

namespace urnic::control {

// The next look begins with the first unread message. For sockets of AF_UNIX.
void look_from_the_first(int socket);

// Whether messages that are unread, and behind the last look, have descriptors. Reads nothing, and takes
// none.
bool finds_descriptors(int socket);

}  // namespace urnic::control
