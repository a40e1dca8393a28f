#include "tools/pvrdma_mux/umad_port.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <rdma/ib_user_mad.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "wire/mad/cm_messages.hpp"

namespace urnic::pvrdma_mux {
namespace {

constexpr int kMostNodes = 64;  // as libibumad tries

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

std::string node_of(const std::string& device) {
  for (int number = 0; number < kMostNodes; ++number) {
    std::ifstream file(fmt::format("/sys/class/infiniband_mad/umad{}/ibdev", number));
    std::string name;
    if (file >> name && name == device) return fmt::format("/dev/infiniband/umad{}", number);
  }
  throw std::runtime_error(fmt::format("there is no device {} with a umad node", device));
}

}  // namespace

UmadPort::UmadPort(const std::string& device) {
  const std::string node = node_of(device);
  node_ = memory::Descriptor(open(node.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!node_) fail(node);
  // Packets have a P_Key index, as those of QEMU do.
  if (ioctl(node_.get(), IB_USER_MAD_ENABLE_PKEY) != 0) fail(node + ": P_Keys");
  ib_user_mad_reg_req request{};
  request.qpn = 1;
  request.mgmt_class = static_cast<std::uint8_t>(wire::mad::ManagementClass::communication);
  request.mgmt_class_version = wire::mad::kCmClassVersion;
  request.method_mask[0] = 1u << static_cast<unsigned>(wire::mad::Method::send);
  if (ioctl(node_.get(), IB_USER_MAD_REGISTER_AGENT, &request) != 0)
    fail(node + ": messages of connection management, which another program may have already");
  agent_ = request.id;
}

int UmadPort::send(UserMad message) {
  message.agent = agent_;
  message.timeout_ms = 0;  // rdma_cm repeats its messages itself
  message.retries = 0;
  return write(node_.get(), &message, sizeof message) < 0 ? errno : 0;
}

std::optional<UserMad> UmadPort::receive() {
  UserMad message;
  const ssize_t size = read(node_.get(), &message, sizeof message);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  if (size < 0) fail("the device's messages");
  if (size == 0) throw std::system_error(EIO, std::generic_category(), "the device process is gone");
  if (message.status != 0) return {};
  return message;
}

}  // namespace urnic::pvrdma_mux
