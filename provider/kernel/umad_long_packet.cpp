#include "provider/kernel/umad_long_packet.hpp"

#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "device_model/abi/umad_messages.hpp"
#include "provider/kept_errno.hpp"
#include "provider/kernel/real.hpp"

namespace urnic::kernel {

namespace {

using abi::kMaxUmadPacket;

// Owns the descriptor. Negative: there is none.
struct Rest {
  int descriptor = -1;
  ~Rest() {
    const KeptErrno kept;
    if (descriptor >= 0) close(descriptor);
  }
  size_t size() const {
    const off_t end = descriptor < 0 ? 0 : lseek(descriptor, 0, SEEK_END);
    return end < 0 ? 0 : static_cast<size_t>(end);
  }
};

// The beginning of a packet, and its rest if it has one. -1 and errno.
ssize_t receive_beginning(int node, const PacketBytes& room, int flags, Rest& rest) {
  iovec part = {room.data, room.size < kMaxUmadPacket ? room.size : kMaxUmadPacket};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof rest.descriptor)] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t length = real::recvmsg(node, &message, flags | MSG_CMSG_CLOEXEC);
  if (length < 0) return length;
  const cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  if (rights != nullptr && rights->cmsg_type == SCM_RIGHTS)
    std::memcpy(&rest.descriptor, CMSG_DATA(rights), sizeof rest.descriptor);
  if (rest.descriptor >= 0 || (message.msg_flags & MSG_CTRUNC) == 0) return length;
  errno = EMFILE;
  return -1;
}

// The kernel copies, so a bad pointer does no harm.
bool write_all(int file, const char* data, size_t size) {
  while (size != 0) {
    const ssize_t written = real::write(file, data, size);
    if (written < 0 && errno != EINTR) return false;
    if (written < 0) continue;
    data += written;
    size -= static_cast<size_t>(written);
  }
  return true;
}

bool read_all(int file, char* data, size_t size) {
  for (off_t at = 0; size != 0;) {
    const ssize_t got = pread(file, data, size, at);
    if (got == 0) errno = EIO;
    if (got == 0 || (got < 0 && errno != EINTR)) return false;
    if (got < 0) continue;
    data += got;
    at += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

int make_packet_rest(const void* data, size_t size) {
  const int file = memfd_create("urnic-umad", MFD_CLOEXEC);
  if (file < 0) return -1;
  if (write_all(file, static_cast<const char*>(data) + kMaxUmadPacket, size - kMaxUmadPacket)) return file;
  const KeptErrno kept;
  close(file);
  return -1;
}

int peek_long_packet(int node, const PacketBytes& room, size_t& whole) {
  Rest rest;
  if (receive_beginning(node, room, MSG_PEEK | MSG_DONTWAIT, rest) < 0) return errno;
  whole = kMaxUmadPacket + rest.size();
  return 0;
}

ssize_t read_long_packet(int node, const PacketBytes& room) {
  Rest rest;
  const ssize_t length = receive_beginning(node, room, 0, rest);
  if (length < 0 || rest.descriptor < 0) return length;
  const size_t beginning = static_cast<size_t>(length);
  const size_t size = rest.size() < room.size - beginning ? rest.size() : room.size - beginning;
  if (!read_all(rest.descriptor, static_cast<char*>(room.data) + beginning, size)) return -1;
  return static_cast<ssize_t>(beginning + size);
}

}  // namespace urnic::kernel
