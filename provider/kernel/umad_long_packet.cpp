#include "provider/kernel/umad_long_packet.hpp"

#include <errno.h>
#include <rdma/ib_user_mad.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "device_model/abi/umad_messages.hpp"
#include "provider/freestanding/file_size_limit.hpp"
#include "provider/kept_errno.hpp"
#include "provider/kernel/real.hpp"

namespace urnic::kernel {

namespace {

using abi::kMaxUmadPacket;

// What a message of the node has brought along: a descriptor, or nothing (negative).
struct Rest {
  int descriptor = -1;
  ~Rest() {
    const KeptErrno kept;
    if (descriptor >= 0) close(descriptor);
  }
};

// As recvmsg of one message, whose length may be more than there is room for. -1 and errno.
ssize_t receive_message(int node, const PacketBytes& room, int flags, Rest& rest) {
  iovec part = {room.data, room.size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof rest.descriptor)] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t length = real::recvmsg(node, &message, flags | MSG_TRUNC | MSG_CMSG_CLOEXEC);
  if (length < 0) return length;
  const cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  if (rights != nullptr && rights->cmsg_type == SCM_RIGHTS)
    std::memcpy(&rest.descriptor, CMSG_DATA(rights), sizeof rest.descriptor);
  if (rest.descriptor >= 0 || (message.msg_flags & MSG_CTRUNC) == 0) return length;
  errno = EMFILE;
  return -1;
}

// Of the packet whose header is there.
size_t whole_size(const PacketBytes& packet) {
  ib_user_mad_hdr_old header;
  std::memcpy(&header, packet.data, sizeof header);
  return header.length;
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

// The device process sends as this reads.
bool receive_all(int stream, char* data, size_t size) {
  while (size != 0) {
    const ssize_t got = real::recvfrom(stream, data, size, 0, nullptr, nullptr);
    if (got == 0) errno = EIO;
    if (got == 0 || (got < 0 && errno != EINTR)) return false;
    if (got < 0) continue;
    data += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

int make_packet_rest(const void* data, size_t size) {
  const size_t rest = size - kMaxUmadPacket;
  if (!provider::may_write(rest)) {
    errno = ENOMEM;
    return -1;
  }
  const int file = memfd_create("urnic-umad", MFD_CLOEXEC);
  if (file < 0) return -1;
  if (write_all(file, static_cast<const char*>(data) + kMaxUmadPacket, rest)) return file;
  const KeptErrno kept;
  close(file);
  return -1;
}

int peek_packet(int node, const PacketBytes& room, NextPacket& next) {
  Rest rest;
  const ssize_t length = receive_message(node, room, MSG_PEEK, rest);
  if (length <= 0) return length < 0 && errno != ECONNRESET ? errno : EIO;
  next.beginning = next.whole = static_cast<size_t>(length);
  if (rest.descriptor >= 0 && next.beginning <= room.size) next.whole = whole_size(room);
  return 0;
}

ssize_t read_packet(int node, const PacketBytes& room) {
  Rest rest;
  const ssize_t length = receive_message(node, room, 0, rest);
  if (length < 0 || rest.descriptor < 0) return length;
  const auto beginning = static_cast<size_t>(length);
  if (beginning > room.size) return static_cast<ssize_t>(room.size);
  const size_t whole = whole_size(room);
  const size_t end = whole < room.size ? whole : room.size;
  if (end <= beginning) return length;
  const bool is_there =
      receive_all(rest.descriptor, static_cast<char*>(room.data) + beginning, end - beginning);
  return is_there ? static_cast<ssize_t>(end) : -1;
}

}  // namespace urnic::kernel
