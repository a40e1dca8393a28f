// Bodies of the control protocol (control.hpp) for programs whose libibverbs speaks the kernel's uverbs ABI:
// those that open a device with the mlx5 face (docs/mlx5-face.md). The kernel stand-in passes each command on
// as it is, whether it came by write(2) or by ioctl(2), and knows no command's contents but for a few numbers
// of descriptors.
#pragma once

#include <cstdint>

#include "device_model/abi/control.hpp"

namespace urnic::abi {

enum UverbsCommandFlag : std::uint32_t {
  // The command's and the driver's parts came apart. If not, all came as the command's part: it is a command
  // of write(2) without IB_USER_VERBS_CMD_FLAG_EXTENDED, and its answer goes to one place, too.
  uverbs_parts_apart = 1 << 0,
  // The sender has done what PageAction::queues_first asks for,
  uverbs_pages_shared = 1 << 1,
  // or could not.
  uverbs_pages_refused = 1 << 2,
};

// A method of ioctl(2), as a command's number: kUverbsMethod | object << 16 | method. The command's part and
// its answer are attributes, and there is no driver's part.
inline constexpr std::uint32_t kUverbsMethod = 1u << 30;
constexpr std::uint32_t uverbs_method(std::uint32_t object, std::uint32_t method) {
  return kUverbsMethod | object << 16 | method;
}

// `length` bytes follow, and bytes up to a multiple of 8.
struct UverbsAttribute {
  std::uint16_t id;
  std::uint16_t length;
  std::uint16_t room;  // bytes that the sender takes as the answer; 8 for a new object's handle
  std::uint16_t reserved;
};

// One command of ib_uverbs (rdma/ib_user_verbs.h). `core_length` bytes of the command's part and
// `driver_length` bytes of the driver's follow. Behind those of GET_CONTEXT an OpenContextRequest follows,
// and descriptors are sent as with open_context. Descriptor sent with OPEN_XRCD: its file, or none.
struct UverbsCommandRequest {
  std::uint32_t command;  // ib_uverbs_write_cmds, with IB_USER_VERBS_CMD_FLAG_EXTENDED if it has that; or
                          // uverbs_method
  std::uint32_t flags;    // UverbsCommandFlag values
  std::uint32_t core_length;
  std::uint32_t driver_length;
  std::uint32_t core_room;  // bytes that the sender takes as the answer
  std::uint32_t driver_room;
  std::uint64_t channel_inode;  // CREATE_CQ: the completion channel that it names (control.hpp); 0: none
  Sharing sharing;              // REG_MR: as in RegisterMrRequest
  std::uint32_t reserved;
};

// What the sender does with `pages` before its next command.
enum class PageAction : std::uint32_t {
  none = 0,
  // The command is not done. The sender maps the files in the place of the pages, which keep their contents,
  // and sends the command again with uverbs_pages_shared or uverbs_pages_refused.
  queues_first = 1,
  // No queue is in the pages any more. The sender gives them private memory again.
  queues_back = 2,
  // REG_MR is not done: an offer, and the command comes again, as RegisterMrRequest has it.
  region_first = 3,
  // As RegisterMrReply::pages of an offer that was taken up in vain, without a file; or as
  // DeregisterMrReply::unneeded.
  region_back = 4,
};

// Whole pages of the sender, and where they lie in the file whose descriptor is sent.
struct QueuePages {
  std::uint64_t address;
  std::uint64_t length;
  std::uint64_t offset;
};
inline constexpr std::uint32_t kMaxQueuePages = 4;

// `core_length` bytes of the command's answer and `driver_length` bytes of the driver's follow. Descriptors
// received: a file for each of `pages`, but for what PageAction says.
struct UverbsCommandReply {
  std::uint32_t core_length;
  std::uint32_t driver_length;
  std::uint32_t page_count;
  PageAction page_action;
  ContextToken token;  // GET_CONTEXT: for join_context
  QueuePages pages[kMaxQueuePages];
};

// mmap(2) of the device node. Descriptor received: the file to map, read and write.
struct MapPagesRequest {
  std::uint64_t offset;
  std::uint64_t length;
  std::uint32_t protection;  // PROT_ values
  std::uint32_t reserved;
};
enum class PageWatch : std::uint32_t {
  none = 0,
  // The device takes the page away at times: WatchPageRequest.
  stores = 1,
  // The same. A process that has the page without a watch, as a child of fork has it, must not read it: it
  // would put an empty page there for all.
  reads = 2,
};

struct MapPagesReply {
  std::uint64_t offset;  // in the file
  PageWatch watch;
  std::uint32_t reserved;
};

// After mmap(2) of a page of which MapPagesReply says so. Descriptor sent: a userfaultfd(2) that watches the
// page for missing memory. The device takes the page away before it sleeps, so the program's next store, or
// its next look at the clock, wakes it. Replies with Empty.
struct WatchPageRequest {
  std::uint64_t offset;   // as in MapPagesRequest
  std::uint64_t address;  // in the program
};

}  // namespace urnic::abi
