#include "device_model/control/umad/manager_file.hpp"

#include <sys/epoll.h>

#include <utility>

namespace urnic::control {
namespace {

constexpr std::uint64_t kDescriptorsOfManager = 2;  // the socket, the peer's pidfd
constexpr std::uint64_t kBytesOfManager = 1024;

}  // namespace

// The node takes no requests: whatever comes is the program's end, or nonsense.
ManagerFile::ManagerFile(EventLoop& loop, Fabric& fabric, DescriptorDisposal& disposal,
                         InfinibandPorts& ports, const ServedDevice& device, memory::Descriptor socket,
                         std::function<void()> closed)
    : disposal_(disposal),
      ports_(ports),
      device_(device),
      peer_(socket.get()),
      socket_(std::move(socket)),
      closed_(std::move(closed)),
      charge_(fabric.quotas()
                  .account(peer_.pid())
                  ->charge(Resource::descriptors, kDescriptorsOfManager, kBytesOfManager)),
      watch_(loop, socket_.get(), EPOLLIN | EPOLLRDHUP, [this](std::uint32_t) { close(); }) {
  ports_.manager_came(device_);
}

ManagerFile::~ManagerFile() {
  ports_.manager_went(device_);
  watch_.reset();
  disposal_.close(std::move(socket_), peer_.pid());
}

void ManagerFile::close() {
  watch_.reset();
  const auto closed = std::move(closed_);
  closed();
}

}  // namespace urnic::control
