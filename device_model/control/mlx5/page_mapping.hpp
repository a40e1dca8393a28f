// mmap(2) of the device node: the pages that the device has for a program.
#pragma once

#include "device_model/abi/uverbs_messages.hpp"
#include "device_model/control/uverbs/session.hpp"

namespace urnic::control::mlx5 {

// Both as the functions of kernel_commands.hpp. EPERM: the program may only read these pages.
int map_pages(Session& session, const abi::MapPagesRequest& request, abi::MapPagesReply& reply,
              DescriptorExchange& descriptors);
int watch_page(Session& session, const abi::WatchPageRequest& request, abi::Empty&,
               DescriptorExchange& descriptors);

}  // namespace urnic::control::mlx5
