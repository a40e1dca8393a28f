// Pages that the device has for a context, and that libmlx5 maps from the device node, as a ConnectX has
// pages of its BAR: doorbell pages (engine/doorbells/uar_pages.hpp), and the clock (clock_pages.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_model/control/fabric/quotas.hpp"
#include "device_model/control/objects/mapping.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control::mlx5 {

inline constexpr std::size_t kPageBytes = 4096;

class DevicePages {
 public:
  // Charged to `account`. `name` is for people. Throws std::system_error without memory.
  DevicePages(const char* name, std::uint32_t count, Account& account);

  std::uint32_t count() const { return count_; }
  // Shared with the program, which may write anything there at any time.
  std::byte* page(std::uint32_t index) const { return mapping_.data() + index * kPageBytes; }
  int descriptor() const { return memory_.get(); }

 private:
  std::uint32_t count_;
  Charge charge_;
  memory::Descriptor memory_;
  SharedMapping mapping_;
};

}  // namespace urnic::control::mlx5
