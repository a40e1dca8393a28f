#include "provider/plugin/objects/counters.hpp"

#include <cerrno>

#include "device_model/abi/steering_messages.hpp"
#include "provider/freestanding/allocation.hpp"
#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {

ibv_counters* create_counters(ibv_context* verbs, ibv_counters_init_attr* attributes) {
  int error = attributes->comp_mask == 0 ? 0 : EOPNOTSUPP;
  Counters* counters = error == 0 ? create_object<Counters>() : nullptr;
  if (error == 0 && counters == nullptr) error = ENOMEM;
  abi::HandleReply reply{};
  if (error == 0) error = call(context_of(verbs), abi::ControlOpcode::create_counters, abi::Empty{}, reply);
  if (error != 0) {
    destroy_object(counters);
    errno = error;
    return nullptr;
  }
  counters->verbs.context = verbs;
  counters->handle = reply.handle;
  return &counters->verbs;
}

int destroy_counters(ibv_counters* verbs) {
  Counters& counters = counters_of(verbs);
  const int error =
      release(context_of(verbs->context), abi::ControlOpcode::destroy_counters, counters.handle);
  if (error == 0) destroy_object(&counters);
  return error;
}

// A flow gets its counters when it is created (ibv_create_flow(3), IBV_FLOW_SPEC_ACTION_COUNT). So an
// existing `flow` is refused, and the attachment applies to flows created later.
int attach_counters_to_flow(ibv_counters* verbs, ibv_counter_attach_attr* attributes, ibv_flow* flow) {
  if (attributes->comp_mask != 0 || flow != nullptr) return EOPNOTSUPP;
  if (attributes->index >= Counters::kMostPoints) return EINVAL;
  Counters::Point& point = counters_of(verbs).points[attributes->index];
  switch (attributes->counter_desc) {
    case IBV_COUNTER_PACKETS:
      point = Counters::Point::packets;
      return 0;
    case IBV_COUNTER_BYTES:
      point = Counters::Point::bytes;
      return 0;
  }
  return EOPNOTSUPP;
}

// An index without attachment reads 0. IBV_READ_COUNTERS_ATTR_PREFER_CACHED changes nothing: fresh values
// will do.
int read_counters(ibv_counters* verbs, std::uint64_t* values, std::uint32_t count, std::uint32_t flags) {
  if ((flags & ~std::uint32_t{IBV_READ_COUNTERS_ATTR_PREFER_CACHED}) != 0) return EINVAL;
  if (count > Counters::kMostPoints) return EINVAL;
  const Counters& counters = counters_of(verbs);
  abi::ReadCountersReply reply{};
  const abi::HandleRequest request{counters.handle, 0};
  if (const int error = call(context_of(verbs->context), abi::ControlOpcode::read_counters, request, reply))
    return error;
  for (std::uint32_t i = 0; i < count; ++i) {
    switch (counters.points[i]) {
      case Counters::Point::none:
        values[i] = 0;
        break;
      case Counters::Point::packets:
        values[i] = reply.packets;
        break;
      case Counters::Point::bytes:
        values[i] = reply.bytes;
        break;
    }
  }
  return 0;
}

}  // namespace urnic::provider
