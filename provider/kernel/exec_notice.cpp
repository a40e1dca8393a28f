#include "provider/kernel/exec_notice.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "device_model/abi/control.hpp"
#include "provider/kept_errno.hpp"
#include "provider/kernel/device_node.hpp"
#include "provider/kernel/device_number.hpp"
#include "provider/kernel/real.hpp"

namespace urnic::kernel {

namespace {

// The process that has opened a device, and the name of a node that it opened. Any node will do: one device
// process serves them all. A child of fork has another number and counts as having opened none.
std::atomic<pid_t> opener{0};
char opened_device[16];

void tell(std::uint32_t begins) {
  const KeptErrno kept;
  PathText node;
  append_node_path(opened_device, node);
  const int connection = connect_to_node(node, O_CLOEXEC);
  if (connection < 0) return;
  const timeval patience{1, 0};
  real::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  struct {
    abi::RequestHeader header;
    abi::AnnounceExecRequest body;
  } request = {};
  request.header.magic = abi::kControlMagic;
  request.header.opcode = static_cast<std::uint32_t>(abi::ControlOpcode::announce_exec);
  request.header.length = sizeof request;
  request.body.begins = begins;
  struct {
    abi::ReplyHeader header;
    abi::Empty body;
  } reply;
  if (send(connection, &request, sizeof request, MSG_NOSIGNAL) == sizeof request) {
    while (recv(connection, &reply, sizeof reply, 0) < 0 && errno == EINTR) continue;
  }
  close(connection);
}

}  // namespace

void note_opened_device(const char* name) {
  const std::size_t length = std::strlen(name);
  if (length >= sizeof opened_device || opener.load(std::memory_order_relaxed) == getpid()) return;
  std::memcpy(opened_device, name, length + 1);
  opener.store(getpid(), std::memory_order_release);
}

void announce_exec() {
  if (opener.load(std::memory_order_acquire) == getpid()) tell(1);
}

void take_back_exec() {
  if (opener.load(std::memory_order_acquire) == getpid()) tell(0);
}

}  // namespace urnic::kernel
