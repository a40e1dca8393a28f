// The memory of a context's doorbell pages (engine/doorbells/uar_pages.hpp): what a ConnectX has as pages of
// its BAR (User Access Region). libmlx5 maps them from the device node, and stores there what says that a
// queue has work (docs/mlx5-face.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "device_model/control/fabric/quotas.hpp"
#include "device_model/control/objects/mapping.hpp"
#include "device_model/engine/doorbells/uar_pages.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control::mlx5 {

inline constexpr std::size_t kUarBytes = engine::UarPages::kPageBytes;

class UarMemory {
 public:
  // Charged to `account`. Throws std::system_error without memory.
  UarMemory(std::uint32_t count, Account& account);

  std::uint32_t count() const { return count_; }
  // Shared with the program, which may write anything there at any time.
  std::byte* page(std::uint32_t index) const { return mapping_.data() + index * kUarBytes; }
  int descriptor() const { return memory_.get(); }

  // Where mmap(2) of the device node at `offset` leads in the file. Empty: nowhere, the kernel refuses it.
  std::optional<std::uint64_t> find(std::uint64_t offset, std::uint64_t length) const;

 private:
  std::uint32_t count_;
  Charge charge_;
  memory::Descriptor memory_;
  SharedMapping mapping_;
};

}  // namespace urnic::control::mlx5
