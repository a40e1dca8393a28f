#include "device_model/control/uverbs/session.hpp"

namespace urnic::control {

abi::ArenaRange describe(const ArenaBlock& block, Session& session, DescriptorExchange& descriptors) {
  return describe(block, session.context->arenas, session, descriptors);
}

abi::ArenaRange describe(const ArenaBlock& block, const ArenaAllocator& arenas, Session& session,
                         DescriptorExchange& descriptors) {
  abi::ArenaRange range{};
  if (block.length() == 0) return range;
  range.arena = block.arena();
  range.arena_size = arenas.size(block.arena());
  range.offset = block.offset();
  range.length = block.length();
  if (!session.known_arenas.contains(block.arena())) {
    range.arena_is_new = 1;
    descriptors.sent.push_back(arenas.descriptor(block.arena()));
    descriptors.new_arenas.push_back(block.arena());
    session.known_arenas.insert(block.arena());
  }
  return range;
}

}  // namespace urnic::control
