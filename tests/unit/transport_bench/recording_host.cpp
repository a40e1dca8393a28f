#include "tests/unit/transport_bench/recording_host.hpp"

#include <array>
#include <bit>
#include <bitset>
#include <stdexcept>
#include <utility>

#include "tests/unit/transport_bench/bench_memory.hpp"

namespace urnic::transport::bench {
namespace {

BenchMemory& memory_of(const MemoryRange& range) { return *static_cast<BenchMemory*>(range.space); }

template <typename Action>
Stream stream_of(const Action& action) {
  if constexpr (std::is_same_v<Action, AsyncEvent>) {
    return Stream::responder;
  } else if constexpr (requires { action.stream; }) {
    return action.stream;
  } else {
    return action.tag.stream;
  }
}

}  // namespace

std::vector<AccessTag> RecordingHost::flush() {
  std::vector<AccessTag> failures;
  std::bitset<2> failed;
  const std::vector<Action> actions = std::exchange(actions_, {});
  for (const Action& action : actions) {
    std::visit(
        [&](const auto& one) {
          const auto stream = static_cast<std::size_t>(stream_of(one));
          if (failed[stream]) return;
          if (const std::optional<AccessTag> tag = carry_out(one)) {
            failed.set(stream);
            failures.push_back(*tag);
          }
        },
        action);
  }
  return failures;
}

void RecordingHost::send(const OutboundPacket& packet) {
  actions_.push_back(SendAction{packet.headers,
                                packet.bytes,
                                {packet.gather.begin(), packet.gather.end()},
                                packet.tag,
                                packet.atomic_original});
}

std::size_t RecordingHost::frame_bytes(const OutboundPacket& packet) const {
  std::size_t bytes = packet.bytes.size();
  for (const MemoryRange& range : packet.gather) bytes += range.length;
  return bytes;
}

void RecordingHost::write(const MemoryRange& target, std::span<const std::byte> data, bool message_end,
                          AccessTag tag) {
  if (target.length != data.size()) throw std::logic_error("a write whose range and data differ in length");
  actions_.push_back(WriteAction{target, data, message_end, tag});
}

void RecordingHost::atomic(const AtomicAction& action) { actions_.push_back(action); }

void RecordingHost::complete(const Completion& completion, Stream stream) {
  actions_.push_back(CompleteAction{completion, stream});
}

void RecordingHost::event(AsyncEvent event) { actions_.push_back(event); }

std::optional<AccessTag> RecordingHost::carry_out(const SendAction& action) {
  SentPacket packet{action.headers, {action.bytes.begin(), action.bytes.end()}};
  for (const MemoryRange& range : action.gather) {
    const std::size_t at = packet.payload.size();
    packet.payload.resize(at + range.length);
    if (!memory_of(range).read(range.address, std::span(packet.payload).subspan(at))) return action.tag;
  }
  if (action.atomic_original != nullptr) packet.headers.atomic_original = *action.atomic_original;
  sent.push_back(std::move(packet));
  return std::nullopt;
}

std::optional<AccessTag> RecordingHost::carry_out(const WriteAction& action) {
  if (!memory_of(action.target).write(action.target.address, action.data)) return action.tag;
  writes.push_back({action.target.address, {action.data.begin(), action.data.end()}, action.message_end});
  return std::nullopt;
}

std::optional<AccessTag> RecordingHost::carry_out(const AtomicAction& action) {
  std::array<std::byte, 8> bytes;
  BenchMemory& memory = memory_of(action.target);
  if (!memory.read(action.target.address, bytes)) return action.tag;
  const auto old = std::bit_cast<std::uint64_t>(bytes);
  std::uint64_t value = old;
  if (action.kind == AtomicKind::fetch_add) {
    value = old + action.swap_or_add;
  } else if (old == action.compare) {
    value = action.swap_or_add;
  }
  if (!memory.write(action.target.address, std::as_bytes(std::span(&value, 1)))) return action.tag;
  if (action.original != nullptr) *action.original = old;
  if (action.send_reply) {
    SentPacket reply{action.reply, {}};
    reply.headers.atomic_original = old;
    sent.push_back(std::move(reply));
  }
  return std::nullopt;
}

std::optional<AccessTag> RecordingHost::carry_out(const CompleteAction& action) {
  const std::span<const std::byte> data = action.completion.data;
  completions.push_back(action.completion);
  data_in_completions.emplace_back(data.begin(), data.end());
  return std::nullopt;
}

std::optional<AccessTag> RecordingHost::carry_out(AsyncEvent event) {
  events.push_back(event);
  return std::nullopt;
}

}  // namespace urnic::transport::bench
