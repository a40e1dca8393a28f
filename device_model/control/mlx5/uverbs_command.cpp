// uverbs_command: from the message to the command's parts, and back.
#include <rdma/ib_user_verbs.h>

#include <cerrno>
#include <optional>

#include "device_model/control/mlx5/command_table.hpp"
#include "device_model/control/mlx5/context_part.hpp"
#include "device_model/control/mlx5/page_mapping.hpp"
#include "device_model/control/mlx5/queue_memory.hpp"
#include "device_model/control/mlx5/uverbs_face.hpp"

namespace urnic::control::mlx5 {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint32_t kMostRoom = 1u << 16;  // of 16-bit numbers of words, times what a word may have

// The parts of the message.
struct Parts {
  abi::UverbsCommandRequest request;
  Bytes core;
  Bytes driver;
  std::optional<abi::OpenContextRequest> opening;
};

bool take(Bytes& rest, std::size_t length, Bytes& part) {
  if (length > rest.size()) return false;
  part = rest.first(length);
  rest = rest.subspan(length);
  return true;
}

bool read_parts(Bytes body, Parts& parts) {
  constexpr std::uint32_t kKnownFlags =
      abi::uverbs_parts_apart | abi::uverbs_pages_shared | abi::uverbs_pages_refused;
  if (body.size() < sizeof parts.request) return false;
  parts.request = begin_of<abi::UverbsCommandRequest>(body);
  Bytes rest = body.subspan(sizeof parts.request);
  if (!take(rest, parts.request.core_length, parts.core) ||
      !take(rest, parts.request.driver_length, parts.driver))
    return false;
  if (parts.request.command == IB_USER_VERBS_CMD_GET_CONTEXT) {
    if (rest.size() != sizeof(abi::OpenContextRequest)) return false;
    parts.opening = begin_of<abi::OpenContextRequest>(rest);
    rest = {};
  }
  return rest.empty() && (parts.request.flags & ~kKnownFlags) == 0 && parts.request.core_room <= kMostRoom &&
         parts.request.driver_room <= kMostRoom;
}

// Divides a command that came in one part, and checks the sizes of both. 0, or ENOSPC as in the kernel.
int divide(Parts& parts, const CommandRow& row) {
  abi::UverbsCommandRequest& request = parts.request;
  if (parts.core.size() < row.core_input || request.core_room < row.core_answer) return ENOSPC;
  if ((request.flags & abi::uverbs_parts_apart) != 0) return 0;
  if (!parts.driver.empty() || request.driver_room != 0) return EINVAL;
  parts.driver = parts.core.subspan(row.core_input);
  parts.core = parts.core.first(row.core_input);
  request.driver_room = request.core_room - static_cast<std::uint32_t>(row.core_answer);
  request.core_room = static_cast<std::uint32_t>(row.core_answer);
  return 0;
}

// As they come by write(2), only the old commands have all in one part.
bool has_parts(const CommandRow& row) {
  return (row.number & (IB_USER_VERBS_CMD_FLAG_EXTENDED | abi::kUverbsMethod)) != 0;
}

void encode(abi::UverbsCommandReply& head, const Command& command, std::span<std::byte> reply,
            std::size_t& length) {
  const Bytes core = command.core.bytes();
  const Bytes driver = command.driver.bytes();
  head.core_length = static_cast<std::uint32_t>(core.size());
  head.driver_length = static_cast<std::uint32_t>(driver.size());
  length = sizeof head + core.size() + driver.size();
  std::memcpy(reply.data(), &head, sizeof head);
  std::copy(core.begin(), core.end(), reply.begin() + sizeof head);
  std::copy(driver.begin(), driver.end(),
            reply.begin() + static_cast<std::ptrdiff_t>(sizeof head + core.size()));
}

int run(Session& session, Bytes body, std::span<std::byte> reply, std::size_t& length,
        DescriptorExchange& descriptors) {
  Parts parts{};
  if (!read_parts(body, parts)) return EINVAL;
  const CommandRow* const row = find_command(parts.request.command);
  if (row == nullptr) return EOPNOTSUPP;
  const bool is_open = session.context != nullptr && part_of(*session.context) != nullptr;
  // The kernel answers ENOSPC to a command that is too short, whether or not there is a context: libibverbs
  // finds out in this way whether there is an ioctl for commands.
  if (const int error = divide(parts, *row)) return error;
  if (is_open == row->before_context) return EINVAL;
  if (has_parts(*row) && (parts.request.flags & abi::uverbs_parts_apart) == 0) return EINVAL;

  const bool shared = (parts.request.flags & abi::uverbs_pages_shared) != 0;
  note_exchange(session, shared);
  abi::UverbsCommandReply head{};
  Command command{session, descriptors, parts.core, parts.driver};
  command.core = AnswerPart(parts.request.core_room);
  command.driver = AnswerPart(parts.request.driver_room);
  command.channel_inode = parts.request.channel_inode;
  command.opening = parts.opening ? &*parts.opening : nullptr;
  command.token = &head.token;
  command.pages_shared = shared;
  command.pages_refused = (parts.request.flags & abi::uverbs_pages_refused) != 0;
  command.sharing = parts.request.sharing;
  const int error = row->run(command);
  if (error == kPagesFirst) {
    descriptors.sent.clear();
    command.core = command.driver = {};
    describe_offered(session, descriptors, head);
  } else if (error != 0 && error != kRegionPagesFirst) {
    return error;
  } else if (command.region_pages.length != 0) {
    head.page_action =
        error == kRegionPagesFirst ? abi::PageAction::region_first : abi::PageAction::region_back;
    head.page_count = 1;
    head.pages[0] = {command.region_pages.address, command.region_pages.length, 0};
  } else {
    describe_returned(session, descriptors, head);
  }
  encode(head, command, reply, length);
  return 0;
}

int async_read_end(const Session& session) {
  const ContextPart* const part = part_of(*session.context);
  return part != nullptr ? part->async_read_end.get() : -1;
}

}  // namespace

const KernelCommands& kernel_commands() {
  static constexpr KernelCommands kCommands{&run, &map_pages, &watch_page, &async_read_end};
  return kCommands;
}

}  // namespace urnic::control::mlx5
