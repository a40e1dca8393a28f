// Counters of steering rules (ibv_create_counters(3)). What a counter counts, and where a program reads it,
// comes with the rule.
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "device_model/control/mlx5/context_part.hpp"
#include "device_model/control/mlx5/handlers.hpp"
#include "device_model/control/mlx5/method_attributes.hpp"
#include "device_model/control/uverbs/commands.hpp"

namespace urnic::control::mlx5 {

int create_counters(Command& command) {
  MethodAttributes attributes(command);
  if (attributes.wrong()) return EINVAL;
  abi::HandleReply made{};
  if (const int error = control::create_counters(command.session, {}, made, command.descriptors))
    return error;
  attributes.answer_handle(UVERBS_ATTR_CREATE_COUNTERS_HANDLE, made.handle);
  return 0;
}

int destroy_counters(Command& command) {
  MethodAttributes attributes(command);
  const auto handle = attributes.number<std::uint32_t>(UVERBS_ATTR_DESTROY_COUNTERS_HANDLE);
  if (attributes.wrong() || !handle) return EINVAL;
  abi::Empty ignored{};
  if (const int error =
          control::destroy_counters(command.session, {*handle, 0}, ignored, command.descriptors))
    return error;
  part_of(*command.session.context)->counter_points.erase(*handle);
  return 0;
}

int read_counters(Command& command) {
  MethodAttributes attributes(command);
  const auto handle = attributes.number<std::uint32_t>(UVERBS_ATTR_READ_COUNTERS_HANDLE);
  const auto flags = attributes.number<std::uint32_t>(UVERBS_ATTR_READ_COUNTERS_FLAGS);
  const auto room = attributes.room(UVERBS_ATTR_READ_COUNTERS_BUFF);
  if (attributes.wrong() || !handle || !flags || !room) return EINVAL;
  if ((*flags & ~std::uint32_t{IB_UVERBS_READ_COUNTERS_PREFER_CACHED}) != 0) return EINVAL;
  abi::ReadCountersReply counted{};
  if (const int error = control::read_counters(command.session, {*handle, 0}, counted, command.descriptors))
    return error;
  std::array<std::uint64_t, kMostCounterPoints> values{};
  const std::size_t count = std::min(*room / sizeof values[0], values.size());
  const auto& all_points = part_of(*command.session.context)->counter_points;
  const auto points = all_points.find(*handle);
  if (points != all_points.end()) {
    for (const CounterPoint& each : points->second) {
      if (each.index >= count) return EINVAL;
      values[each.index] += each.counts_bytes ? counted.bytes : counted.packets;
    }
  }
  attributes.answer(UVERBS_ATTR_READ_COUNTERS_BUFF, std::as_bytes(std::span(values).first(count)));
  return 0;
}

}  // namespace urnic::control::mlx5
