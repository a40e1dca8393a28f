// What answers commands of the kernel's uverbs ABI (device_model/abi/uverbs_messages.hpp), which this room
// does not know: control/mlx5.
#pragma once

#include <cstddef>
#include <span>

#include "device_model/abi/uverbs_messages.hpp"

namespace urnic::control {

struct DescriptorExchange;
struct Session;

// All as the functions of commands.hpp.
struct KernelCommands {
  // `body` is the message without its header. Writes the body of the reply to `reply`, and its length.
  int (*uverbs_command)(Session&, std::span<const std::byte> body, std::span<std::byte> reply,
                        std::size_t& length, DescriptorExchange&);
  int (*map_pages)(Session&, const abi::MapPagesRequest&, abi::MapPagesReply&, DescriptorExchange&);
  int (*watch_page)(Session&, const abi::WatchPageRequest&, abi::Empty&, DescriptorExchange&);
  // Where the asynchronous events of the session's context are read; -1: it is none of this face's.
  int (*async_read_end)(const Session&);
};

}  // namespace urnic::control
