#include "device_model/control/mlx5/queue_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "device_model/control/mlx5/context_part.hpp"
#include "device_model/control/objects/shared_file.hpp"
#include "device_model/control/uverbs/commands.hpp"

namespace urnic::control::mlx5 {
namespace {

static_assert(QueuePages::kMostRanges == abi::kMaxQueuePages);

// A ring's offset in its page is given to a ConnectX in units of 64 bytes, a record's in units of 8. The
// engine stores whole words into both.
constexpr std::uint64_t kRingAlignment = 64;
constexpr std::uint64_t kRecordAlignment = 8;

bool is_aligned(const QueueMemory& each) {
  return each.range.address % (each.is_record ? kRecordAlignment : kRingAlignment) == 0;
}

bool hold_all(QueuePages& pages, const Process& process, std::span<QueueMemory> wanted) {
  for (QueueMemory& each : wanted) each.held = pages.hold(process, each.range);
  return std::all_of(wanted.begin(), wanted.end(), [](const QueueMemory& each) { return bool(each.held); });
}

// Maps the file or segment of pages that the program shares already. 0, kNotYet, or EOPNOTSUPP.
int map_shared(Session& session, QueuePages& pages, const QueuePages::Range& missing) {
  const auto mapped = session.process->look_at(missing.address, missing.length, true, session.looking);
  if (!mapped) return kNotYet;
  session.looking = nullptr;  // the next range is another question
  if (!mapped->all || !mapped->shared_file) return EOPNOTSUPP;
  const AddressMap::FilePlace place = *mapped->shared_file;
  const pid_t pid = session.process->pid();
  if (place.is_segment()) {
    if (!shares_segment_identifiers(pid)) return EOPNOTSUPP;
    return pages.add_shared(session.process, missing, place.segment(), place.offset, *session.account);
  }
  const memory::Descriptor file = open_shared_file(pid, place.file, true);
  if (!file) return EOPNOTSUPP;
  return pages.add_shared(session.process, missing, file.get(), place.offset, *session.account);
}

// Maps those that are shared, and leaves the others in `missing`. 0 or kNotYet: then it goes on where it has
// stopped. The program could not exchange all of them, which it has been asked for first: that is the way of
// libmlx5's own memory, and needs no look at the program's mappings.
int map_those_shared(Session& session, QueuePages& pages, std::vector<QueuePages::Range>& missing) {
  QueuePageExchange& exchange = session.queue_pages;
  for (auto each = missing.begin(); each != missing.end();) {
    if (std::find(exchange.not_shared.begin(), exchange.not_shared.end(), *each) !=
        exchange.not_shared.end()) {
      ++each;
      continue;
    }
    const int error = map_shared(session, pages, *each);
    if (error == kNotYet) return kNotYet;
    if (error == 0) {
      exchange.some_are_mapped = true;
      each = missing.erase(each);
    } else {
      exchange.not_shared.push_back(*each++);
    }
  }
  return 0;
}

// 0, if the device has all of them now, or as hold_queue_memory.
int offer(Command& command, QueuePages& pages, std::span<const QueueMemory> wanted) {
  Session& session = command.session;
  std::vector<QueuePages::Range> ranges;
  for (const QueueMemory& each : wanted) ranges.push_back(each.range);
  std::vector<QueuePages::Range> missing;
  if (const int error = pages.find_missing(*session.process, ranges, missing)) return error;
  // The program was asked once, and has exchanged other pages than those.
  if (command.pages_shared || missing.empty()) return EINVAL;
  if (command.pages_refused) {
    if (const int error = map_those_shared(session, pages, missing)) return error;
    if (missing.empty()) return 0;
    // What is left may be exchanged: libmlx5's doorbell records are private, also where its rings are not.
    if (!session.queue_pages.some_are_mapped) return EOPNOTSUPP;
  }
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
  if (!std::all_of(wanted.begin(), wanted.end(), is_aligned)) return EINVAL;
  if (!hold_all(pages, *command.session.process, wanted)) {
    for (QueueMemory& each : wanted) each.held = {};
    if (const int error = offer(command, pages, wanted)) return error;
    if (!hold_all(pages, *command.session.process, wanted)) return EINVAL;
  }
  for (const QueueMemory& each : wanted)
    if (each.is_record) std::memset(each.held.data(), 0, each.held.length());
  return 0;
}

void note_exchange(Session& session, bool shared) {
  session.queue_pages.returned.clear();
  if (session.queue_pages.offered.empty()) return;
  auto offered = std::exchange(session.queue_pages, {}).offered;
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
