#include "device_model/control/objects/opened_xrc_domain.hpp"

#include <fcntl.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "device_model/abi/control.hpp"
#include "device_model/control/loop/descriptor_disposal.hpp"
#include "device_model/control/objects/queue_objects.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/memory/descriptor_facts.hpp"

namespace urnic::control {
namespace {

// Holds the file without the program's open file description: no locks or pipe ends stay held.
memory::Descriptor hold_file(const memory::Descriptor& descriptor) {
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor.get());
  memory::Descriptor pin(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!pin) throw std::system_error(errno, std::generic_category(), "the file of an XRC domain");
  return pin;
}

}  // namespace

XrcDomain::XrcDomain(ServedDevice& device)
    : device_(device), device_end_(device.device->shared_receive_queues()) {}

XrcDomain::XrcDomain(ServedDevice& device, DescriptorDisposal* disposal, const FileIdentity& file,
                     memory::Descriptor pin)
    : device_(device),
      disposal_(disposal),
      file_(file),
      pin_(std::move(pin)),
      device_end_(device.device->shared_receive_queues()) {}

XrcDomain::~XrcDomain() {
  if (disposal_ != nullptr) disposal_->close(std::move(pin_), 0);
  if (file_) device_.xrc_domains_by_file.erase(*file_);
}

void XrcDomain::add_target(std::uint32_t qpn, const std::shared_ptr<SharedQueuePair>& target) {
  targets_[qpn] = target;
}

std::shared_ptr<SharedQueuePair> XrcDomain::find_target(std::uint32_t qpn) const {
  const auto found = targets_.find(qpn);
  return found != targets_.end() ? found->second.lock() : nullptr;
}

void XrcDomain::drop_target_if_gone(std::uint32_t qpn) {
  const auto found = targets_.find(qpn);
  if (found != targets_.end() && found->second.expired()) targets_.erase(found);
}

// Returns what the kernel returns (ib_uverbs_open_xrcd).
int open_domain(ServedDevice& device, DescriptorDisposal* disposal, const memory::Descriptor& descriptor,
                std::uint32_t flags, std::shared_ptr<XrcDomain>& domain) {
  const auto number = memory::file_number(descriptor.get());
  if (!number) return errno;
  const FileIdentity file{number->device, number->inode};
  const auto known = device.xrc_domains_by_file.find(file);
  if (known != device.xrc_domains_by_file.end()) {
    if ((flags & abi::xrcd_exclusive) != 0) return EINVAL;
    domain = known->second.lock();
    return 0;
  }
  if ((flags & abi::xrcd_create) == 0) return EAGAIN;
  domain = std::make_shared<XrcDomain>(device, disposal, file, hold_file(descriptor));
  device.xrc_domains_by_file.emplace(file, domain);
  return 0;
}

}  // namespace urnic::control
