#include "device_model/control/umad/manager_file.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <span>
#include <utility>
#include <vector>

#include "device_model/abi/umad_messages.hpp"
#include "device_model/control/loop/message_socket.hpp"

namespace urnic::control {
namespace {

constexpr std::uint64_t kDescriptorsOfManager = 2;  // the socket, the peer's pidfd
constexpr std::uint64_t kBytesOfManager = 1024;

}  // namespace

ManagerFile::ManagerFile(EventLoop& loop, Fabric& fabric, DescriptorDisposal& disposal, ManagerSeat& seat,
                         memory::Descriptor socket, std::function<void()> closed)
    : disposal_(disposal),
      seat_(seat),
      peer_(socket.get()),
      socket_(std::move(socket)),
      closed_(std::move(closed)),
      charge_(fabric.quotas()
                  .account(peer_.pid())
                  ->charge(Resource::descriptors, kDescriptorsOfManager, kBytesOfManager)),
      watch_(loop, socket_.get(), EPOLLIN | EPOLLRDHUP, [this](std::uint32_t events) { ready(events); }) {}

ManagerFile::~ManagerFile() {
  seat_.leave(*this);
  watch_.reset();
  disposal_.close(std::move(socket_), peer_.pid());
}

void ManagerFile::ready(std::uint32_t events) {
  const bool over = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  if (over || !take_claim()) close();
}

// False: nonsense, such as a second claim.
bool ManagerFile::take_claim() {
  abi::IssmRequest request{};
  std::vector<memory::Descriptor> descriptors;
  int flags = 0;
  const ssize_t length =
      receive_bytes(socket_.get(), std::as_writable_bytes(std::span(&request, 1)), descriptors, flags);
  disposal_.close(descriptors, peer_.pid());
  const bool makes_sense = length == sizeof request && (flags & MSG_TRUNC) == 0 &&
                           request.magic == abi::kUmadMagic && !std::exchange(has_claimed_, true);
  if (makes_sense) seat_.claim(*this, request.may_wait != 0);
  return makes_sense;
}

void ManagerFile::answer(int error) {
  const abi::UmadReply reply{abi::kUmadMagic, error};
  send_message(socket_.get(), std::as_bytes(std::span(&reply, 1)), {});
}

void ManagerFile::close() {
  watch_.reset();
  const auto closed = std::move(closed_);
  closed();
}

}  // namespace urnic::control
