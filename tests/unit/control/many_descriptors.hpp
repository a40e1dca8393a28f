// Messages as only a hostile program sends them.
#pragma once

#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace urnic::control::test {

// Sends one byte with all of `descriptors` (up to 253, the kernel's SCM_MAX_FD) on `socket`; more than a
// message of the protocol may have. False if the kernel refuses it.
inline bool send_many_descriptors(int socket, std::span<const int> descriptors) {
  // In units of a header, for its alignment.
  std::vector<cmsghdr> ancillary(CMSG_SPACE(descriptors.size_bytes()) / sizeof(cmsghdr) + 1);
  std::byte byte{};
  iovec part{&byte, 1};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = ancillary.data();
  header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
  cmsghdr* const rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::copy(descriptors.begin(), descriptors.end(), reinterpret_cast<int*>(CMSG_DATA(rights)));
  return sendmsg(socket, &header, MSG_NOSIGNAL) == 1;
}

}  // namespace urnic::control::test
