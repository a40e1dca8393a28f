// XRC domains (IBTA annex A14) that contexts have opened: private ones, and ones shared through a file
// (ibv_open_xrcd(3)). All openers see the contents of a domain.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "device_model/control/fabric/served_device.hpp"
#include "device_model/control/objects/use.hpp"
#include "device_model/engine/receives/xrc_domain_members.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

class DescriptorDisposal;
struct SharedQueuePair;

// Control thread only.
class XrcDomain {
 public:
  // A private domain.
  explicit XrcDomain(ServedDevice& device);
  // A file's domain; `pin` keeps the file's inode number from being reused. Registers itself with the device.
  // `disposal`, if not null, closes the pin: closing the last reference to an unlinked file deletes its
  // contents, which may take long.
  XrcDomain(ServedDevice& device, DescriptorDisposal* disposal, const FileIdentity& file,
            memory::Descriptor pin);
  ~XrcDomain();
  XrcDomain(const XrcDomain&) = delete;
  XrcDomain& operator=(const XrcDomain&) = delete;

  engine::XrcDomain& device_end() { return device_end_; }

  // Its target QPs by number, while any context has them open.
  void add_target(std::uint32_t qpn, const std::shared_ptr<SharedQueuePair>& target);
  std::shared_ptr<SharedQueuePair> find_target(std::uint32_t qpn) const;
  // A context has closed the target.
  void drop_target_if_gone(std::uint32_t qpn);

 private:
  ServedDevice& device_;
  DescriptorDisposal* disposal_ = nullptr;
  std::optional<FileIdentity> file_;
  memory::Descriptor pin_;
  engine::XrcDomain device_end_;
  std::unordered_map<std::uint32_t, std::weak_ptr<SharedQueuePair>> targets_;
};

// A context's opened domain, which the context's SRQs and QPs use.
struct OpenXrcDomain : Usable {
  Share share;
  std::shared_ptr<XrcDomain> domain;
};

// The domain of the file behind `descriptor`; makes it if `flags` (abi::XrcdFlag) say so. Returns 0 or an
// errno. Throws std::system_error if the file cannot be held open.
int open_domain(ServedDevice& device, DescriptorDisposal* disposal, const memory::Descriptor& descriptor,
                std::uint32_t flags, std::shared_ptr<XrcDomain>& domain);

}  // namespace urnic::control
