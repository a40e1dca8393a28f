#include "device_model/control/mlx5/page_offset.hpp"

#include <rdma/mlx5-abi.h>

#include "device_model/control/mlx5/device_pages.hpp"

namespace urnic::control::mlx5 {

static_assert(static_cast<int>(PageKind::doorbells) == MLX5_IB_MMAP_REGULAR_PAGE);
static_assert(static_cast<int>(PageKind::uncached_doorbells) == MLX5_IB_MMAP_NC_PAGE);
static_assert(static_cast<int>(PageKind::clock) == MLX5_IB_MMAP_CORE_CLOCK);
static_assert(static_cast<int>(PageKind::dedicated_doorbells) == MLX5_IB_MMAP_ALLOC_WC);
static_assert(static_cast<int>(PageKind::clock_info) == MLX5_IB_MMAP_CLOCK_INFO);
static_assert(static_cast<int>(PageKind::device_memory) == MLX5_IB_MMAP_DEVICE_MEM);

// In pages: 8 bits of the index, the command, 8 more bits of the index.
std::optional<PageOffset> read_page_offset(std::uint64_t offset) {
  const std::uint64_t page = offset / kPageBytes;
  if (offset % kPageBytes != 0 || page >> 24 != 0) return std::nullopt;
  const auto index = static_cast<std::uint32_t>((page & 0xFF) | (page >> 16 << 8));
  switch (const auto kind = static_cast<PageKind>(page >> 8 & 0xFF)) {
    case PageKind::doorbells:
    case PageKind::uncached_doorbells:
    case PageKind::clock:
    case PageKind::dedicated_doorbells:
    case PageKind::clock_info:
    case PageKind::device_memory:
      return PageOffset{kind, index};
  }
  return std::nullopt;
}

std::uint64_t page_offset(PageKind kind, std::uint32_t index) {
  return ((index & 0xFF) | static_cast<std::uint64_t>(kind) << 8 | std::uint64_t{index >> 8} << 16) *
         kPageBytes;
}

}  // namespace urnic::control::mlx5
