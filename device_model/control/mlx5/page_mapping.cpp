#include "device_model/control/mlx5/page_mapping.hpp"

#include <sys/mman.h>

#include <cerrno>

#include "device_model/control/mlx5/context_part.hpp"
#include "device_model/control/mlx5/page_offset.hpp"
#include "device_model/memory/descriptor_facts.hpp"

namespace urnic::control::mlx5 {
namespace {

// Where pages lie.
struct Place {
  int error = 0;
  int file = -1;
  std::uint64_t offset = 0;
  abi::PageWatch watch = abi::PageWatch::none;

  std::uint32_t page() const { return static_cast<std::uint32_t>(offset / kPageBytes); }
};

Place find_doorbells(const ContextPart& part, const abi::MapPagesRequest& request, std::uint32_t index) {
  const bool is_there = index < part.static_uars() || part.is_allocated_uar(index);
  if (request.length != kPageBytes || !is_there) return {EINVAL};
  return {0, part.uars.descriptor(), index * kPageBytes, abi::PageWatch::stores};
}

Place find_dedicated_doorbells(ContextPart& part, const abi::MapPagesRequest& request, std::uint32_t index) {
  if (request.length != kPageBytes) return {EINVAL};
  const auto page = part.map_dedicated_uar(index);
  if (!page) return {EINVAL};
  return {0, part.uars.descriptor(), *page * kPageBytes, abi::PageWatch::stores};
}

// In the file's order: ClockPages.
Place find_clock(const ContextPart& part, const abi::MapPagesRequest& request, std::uint32_t index,
                 std::size_t page) {
  if (request.length != kPageBytes || index != 0) return {EINVAL};
  if ((request.protection & PROT_WRITE) != 0) return {EPERM};
  const bool is_clock = page == engine::ClockPages::kClockPage;
  return {0, part.clock_pages.descriptor(), page * kPageBytes,
          is_clock ? abi::PageWatch::reads : abi::PageWatch::none};
}

// libmlx5 maps as many pages as the length asked for has. A smaller block than a page does not cross one, and
// shares it with blocks of the same program's.
Place find_device_memory(const Context& context, const abi::MapPagesRequest& request, std::uint32_t index) {
  const DeviceMemory* const memory = part_of(context)->find_pages(index);
  if (memory == nullptr || request.length != (memory->length + kPageBytes - 1) / kPageBytes * kPageBytes)
    return {EINVAL};
  const ArenaBlock& block = memory->block;
  return {0, context.device_memory_arenas.descriptor(block.arena()),
          block.offset() / kPageBytes * kPageBytes};
}

Place find(const Context& context, const abi::MapPagesRequest& request) {
  ContextPart& part = *part_of(context);
  const auto asked = read_page_offset(request.offset);
  if (!asked || (request.protection & PROT_EXEC) != 0) return {EINVAL};
  switch (asked->kind) {
    case PageKind::doorbells:
    case PageKind::uncached_doorbells:
      return find_doorbells(part, request, asked->index);
    case PageKind::dedicated_doorbells:
      return find_dedicated_doorbells(part, request, asked->index);
    case PageKind::clock:
      return find_clock(part, request, asked->index, engine::ClockPages::kClockPage);
    case PageKind::clock_info:
      return find_clock(part, request, asked->index, engine::ClockPages::kInfoPage);
    case PageKind::device_memory:
      return find_device_memory(context, request, asked->index);
  }
  return {EINVAL};
}

// Only of a userfaultfd does the engine ask what it asks: another descriptor's owner could keep it waiting.
bool is_userfaultfd(int descriptor) { return memory::target_of(descriptor) == "anon_inode:[userfaultfd]"; }

}  // namespace

int map_pages(Session& session, const abi::MapPagesRequest& request, abi::MapPagesReply& reply,
              DescriptorExchange& descriptors) {
  ContextPart* const part = part_of(*session.context);
  if (part == nullptr) return EINVAL;
  const Place place = find(*session.context, request);
  if (place.error != 0) return place.error;
  if (place.watch == abi::PageWatch::reads) part->hold_clock(*session.process);
  if (place.watch == abi::PageWatch::stores) part->hold(place.page(), *session.process);
  reply.offset = place.offset;
  reply.watch = place.watch;
  descriptors.sent.push_back(place.file);
  return 0;
}

int watch_page(Session& session, const abi::WatchPageRequest& request, abi::Empty&,
               DescriptorExchange& descriptors) {
  ContextPart* const part = part_of(*session.context);
  if (part == nullptr || descriptors.received.size() != 1) return EINVAL;
  const Place place = find(*session.context, {request.offset, kPageBytes, PROT_READ, 0});
  if (place.error != 0 || place.watch == abi::PageWatch::none || request.address % kPageBytes != 0 ||
      !is_userfaultfd(descriptors.received[0].get()))
    return EINVAL;
  // What is left in the message is closed where that may wait.
  memory::Descriptor& faults = descriptors.received[0];
  if (place.watch == abi::PageWatch::reads) {
    part->watch_clock(*session.process, faults, request.address);
  } else {
    part->watch(place.page(), *session.process, faults, request.address);
  }
  return 0;
}

}  // namespace urnic::control::mlx5
