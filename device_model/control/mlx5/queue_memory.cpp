#include "device_model/control/mlx5/queue_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "device_model/control/mlx5/context_part.hpp"
#include "device_model/control/uverbs/commands.hpp"

namespace urnic::control::mlx5 {
namespace {

static_assert(QueuePages::kMostRanges == abi::kMaxQueuePages);

bool hold_all(QueuePages& pages, const Process& process, std::span<QueueMemory> wanted) {
  for (QueueMemory& each : wanted) each.held = pages.hold(process, each.range);
  return std::all_of(wanted.begin(), wanted.end(), [](const QueueMemory& each) { return bool(each.held); });
}

// 0 or as hold_queue_memory.
int offer(Command& command, QueuePages& pages, std::span<const QueueMemory> wanted) {
  Session& session = command.session;
  std::vector<QueuePages::Range> ranges;
  for (const QueueMemory& each : wanted) ranges.push_back(each.range);
  std::vector<QueuePages::Range> missing;
  if (const int error = pages.find_missing(*session.process, ranges, missing)) return error;
  // The program was asked once, and has exchanged other pages than those.
  if (command.pages_shared || missing.empty()) return EINVAL;
  if (!pages.prepare(missing)) return kNotYet;
  session.queue_pages.offered = pages.make(session.process, missing);
  return kPagesFirst;
}

void describe(const std::vector<QueuePageBlock>& blocks, const ArenaAllocator& arenas,
              DescriptorExchange& descriptors, abi::UverbsCommandReply& reply) {
  reply.page_count = static_cast<std::uint32_t>(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    reply.pages[i] = {blocks[i].address, blocks[i].block.length(), blocks[i].block.offset()};
    descriptors.sent.push_back(arenas.descriptor(blocks[i].block.arena()));
  }
}

}  // namespace

int hold_queue_memory(Command& command, std::span<QueueMemory> wanted) {
  QueuePages& pages = part_of(*command.session.context)->queue_pages;
  if (wanted.size() > QueuePages::kMostRanges) return EINVAL;
  if (!hold_all(pages, *command.session.process, wanted)) {
    for (QueueMemory& each : wanted) each.held = {};
    return offer(command, pages, wanted);
  }
  for (const QueueMemory& each : wanted)
    if (each.is_record) std::memset(each.held.data(), 0, each.held.length());
  return 0;
}

void note_exchange(Session& session, bool shared) {
  session.queue_pages.returned.clear();
  if (session.queue_pages.offered.empty()) return;
  auto offered = std::move(session.queue_pages.offered);
  session.queue_pages.offered.clear();
  if (shared) part_of(*session.context)->queue_pages.add(std::move(offered));
}

void describe_offered(Session& session, DescriptorExchange& descriptors, abi::UverbsCommandReply& reply) {
  reply.page_action = abi::PageAction::queues_first;
  describe(session.queue_pages.offered, session.context->arenas, descriptors, reply);
}

void describe_returned(Session& session, DescriptorExchange& descriptors, abi::UverbsCommandReply& reply) {
  ContextPart& part = *part_of(*session.context);
  session.queue_pages.returned = part.queue_pages.take_unused(*session.process, abi::kMaxQueuePages);
  if (session.queue_pages.returned.empty()) return;
  reply.page_action = abi::PageAction::queues_back;
  describe(session.queue_pages.returned, session.context->arenas, descriptors, reply);
}

}  // namespace urnic::control::mlx5
