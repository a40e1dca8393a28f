// XRC domains (IBTA annex A14) as contexts have them open: one by itself, or several one and the same, by a
// file (ibv_open_xrcd(3)). What is in a domain is found by all who have it open.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/objects/use.hpp"
#include "device_model/engine/receives/xrc_domain.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

class DescriptorDisposal;
struct SharedQueuePair;

// Control thread only.
class XrcDomain {
 public:
  // One that nobody else can open.
  explicit XrcDomain(ServedDevice& device)
      : device_(device), device_end_(device.device->shared_receive_queues()) {}
  // That of a file; `pin` keeps the file's number from being given to another one. Registers itself with the
  // device: see find_domain. `disposal`, if there is one, closes the pin: with the last reference to a file
  // that has no name any more go its contents, which may take long.
  XrcDomain(ServedDevice& device, DescriptorDisposal* disposal, const FileIdentity& file,
            memory::Descriptor pin)
      : device_(device),
        disposal_(disposal),
        file_(file),
        pin_(std::move(pin)),
        device_end_(device.device->shared_receive_queues()) {}
  ~XrcDomain();
  XrcDomain(const XrcDomain&) = delete;
  XrcDomain& operator=(const XrcDomain&) = delete;

  engine::XrcDomain& device_end() { return device_end_; }

  // Its target QPs by number, while anybody has them open.
  void add_target(std::uint32_t qpn, const std::shared_ptr<SharedQueuePair>& target) {
    targets_[qpn] = target;
  }
  std::shared_ptr<SharedQueuePair> find_target(std::uint32_t qpn) const;
  // Somebody has closed the target.
  void drop_target_if_gone(std::uint32_t qpn);

 private:
  ServedDevice& device_;
  DescriptorDisposal* disposal_ = nullptr;
  std::optional<FileIdentity> file_;
  memory::Descriptor pin_;
  engine::XrcDomain device_end_;
  std::unordered_map<std::uint32_t, std::weak_ptr<SharedQueuePair>> targets_;
};

// A context that has the domain open. SRQs and QPs of the context are in it.
struct OpenXrcDomain : Usable {
  Share share;
  std::shared_ptr<XrcDomain> domain;
};

// The domain of the file behind `descriptor`, which is made if `flags` (abi::XrcdFlag) say so. 0 or an errno.
// Throws std::system_error if the file cannot be held.
int open_domain(ServedDevice& device, DescriptorDisposal* disposal, const memory::Descriptor& descriptor,
                std::uint32_t flags, std::shared_ptr<XrcDomain>& domain);

}  // namespace urnic::control
