// What a program asks for when it maps the device node: libmlx5 puts a command and an index into the offset
// (mlx5_ib_mmap_cmd in rdma/mlx5-abi.h; set_command, set_index and set_extended_index in libmlx5's mlx5.h).
#pragma once

#include <cstdint>
#include <optional>

namespace urnic::control::mlx5 {

enum class PageKind : std::uint8_t {
  doorbells = 0,
  uncached_doorbells = 3,
  clock = 5,
  dedicated_doorbells = 6,
  clock_info = 7,
  device_memory = 8,
};

struct PageOffset {
  PageKind kind;
  std::uint32_t index;
};

// Empty: it is not at a page, or the command is none that the device knows.
std::optional<PageOffset> read_page_offset(std::uint64_t offset);

// The offset at which that page is.
std::uint64_t page_offset(PageKind kind, std::uint32_t index);

}  // namespace urnic::control::mlx5
