#include "device_model/engine/data_path.hpp"

#include <algorithm>

namespace urnic::engine {

namespace {

// A round sends at most this much, so that gathered payload is still cached when it is scattered, and answers
// do not wait long.
constexpr std::uint32_t kPacketsPerRound = 256;
constexpr std::size_t kBytesPerRound = 128 * 1024;
// The limit while one QP alone sends: what a round costs beside its packets, such as the repeats of a few
// lost ones, is shared by more of them.
constexpr std::size_t kBytesPerSoleRound = 256 * 1024;
// The limits over links that take time: a frame that becomes due waits for the end of the round, some ten
// microseconds.
constexpr std::uint32_t kPacketsPerTimedRound = 32;
constexpr std::size_t kBytesPerTimedRound = 32 * 1024;
// Packets that a QP may send before the next QP's turn.
constexpr std::uint32_t kPacketsPerTurn = 32;
// Packets that a QP may send ahead of its turn; all QPs together may use half of a round for that.
constexpr std::uint32_t kUrgentPackets = 8;

QueuePairContext& queue_pair_of(Participant& participant) {
  return static_cast<QueuePairContext&>(participant);
}

}  // namespace

bool DataPath::round() {
  const transport::Time begin = now_;
  sent_ = {};
  links_take_time_ = uplinks_.takes_time();
  const bool resumed = !stalls_.empty() && finish_stalls();
  // Before the timers: delivered frames may be what they wait for.
  const link::Load delivered = deliver_due();
  const bool taken = trunk_ports_ != nullptr && take_from_other_engines();
  run_timers();
  end_inputs();
  notifications_.raise_late(now_);
  if (!port_is_busy_.empty()) pump_again_when_ports_have_room();
  if (!hole_to_tell_ || !tell_of_holes()) {
    const bool wait = deliveries_come_first();
    if (behind_ || wait) pump_urgent();
    if (!wait) pump_ready();
  }
  if (!owes_batch()) {
    if (trunk_ports_ != nullptr) exchange_with_other_engines();
    return resumed || taken || delivered.frames != 0 || (!ready_.empty() && !deliveries_come_first());
  }
  carry_out();
  if (clock_ != nullptr && links_take_time_) pace_.round(begin, clock_(), sent_, delivered);
  return true;
}

void DataPath::settle() {
  links_take_time_ = uplinks_.takes_time();
  end_inputs();
  while (owes_batch()) carry_out();
}

bool DataPath::settle_without_memory() {
  links_take_time_ = uplinks_.takes_time();
  end_inputs();
  while (owes_batch()) {
    if (!filling().memory.empty() || !stalls_.empty()) return false;
    carry_out();
  }
  return true;
}

link::Load DataPath::round_limit() const {
  if (!links_take_time_) {
    return {kPacketsPerRound, sole_sender_.lasts() ? kBytesPerSoleRound : kBytesPerRound};
  }
  return {kPacketsPerTimedRound, kBytesPerTimedRound};
}

// Dropped packets have asked for no action, but have used bytes that only the end of a batch frees.
bool DataPath::owes_batch() const {
  return !filling().empty() || !filling().arena->empty() || !ended_stalls_.empty() ||
         reorder_pool_.owes_flush() || uplinks_.owes_release();
}

// What is sent now would be delivered behind frames that are late already, or be late itself.
// Acknowledgements and retransmissions are not held back.
bool DataPath::deliveries_come_first() const {
  return !uplinks_.empty() && (uplinks_.overdue(now_) || !pace_.may_send(now_));
}

void DataPath::run_timers() {
  const transport::Time time = time_for_timers();
  while (QueuePairContext* const due = timers_.take_due(time)) due->on_timer(time);
}

// A request and its acknowledgement take one round each. If this thread was kept waiting between the two, the
// answer has arrived but was not handled, and no timer may expire for it: while something is under way,
// timers see the time of the rounds before. An answer may also wait for its QP's turn: timers see no later
// time than that at which the QP whose turn is next became ready. And another engine may be kept waiting:
// timers see no later time than that of the oldest frame it may still answer.
transport::Time DataPath::time_for_timers() {
  transport::Time time = busy() ? earlier_rounds_.back() : now_;
  if (!ready_.empty()) time = std::min(time, ready_.front().ready_since);
  if (trunk_ports_ != nullptr) time = std::min(time, trunk_ports_->oldest_under_way().value_or(time));
  std::copy_backward(earlier_rounds_.begin(), earlier_rounds_.end() - 1, earlier_rounds_.end());
  earlier_rounds_.front() = now_;
  return time;
}

link::Load DataPath::deliver_due() { return uplinks_.deliver_due(now_, round_limit()); }

void DataPath::take_back_frames() {
  if (trunk_ports_ != nullptr) trunk_ports_->reclaim();
}

// No more at once than a round sends: so its payload is still cached when it is scattered.
bool DataPath::take_from_other_engines() {
  take_back_frames();
  return trunk_ports_->take(now_, kPacketsPerRound, kBytesPerRound);
}

// No action up to now refers to frames that other engines have lent.
void DataPath::exchange_with_other_engines() {
  trunk_ports_->release();
  trunk_ports_->publish();
}

void DataPath::pump_again_when_ports_have_room() {
  if (now_ < room_at_) return;
  for (Participant& waiting : port_is_busy_) {
    waiting.ready_since = now_;
    waiting.aside_for_pace = false;
  }
  ready_.splice(ready_.end(), port_is_busy_);
}

std::optional<transport::Time> DataPath::wake_at() const {
  std::optional<transport::Time> earliest = timers_.earliest();
  const auto consider = [&](std::optional<transport::Time> time) {
    if (time && (!earliest || *time < *earliest)) earliest = time;
  };
  if (!port_is_busy_.empty()) consider(room_at_);
  consider(notifications_.next_due());
  consider(uplinks_.next_due());
  return earliest;
}

// How many of `turn` packets the QP's port takes now. 0: the QP is put aside until the port has room.
std::uint32_t DataPath::fit_into_port(QueuePairContext& queue_pair, std::uint32_t turn, std::uint32_t mtu) {
  const std::size_t room = queue_pair.port_room(list_number_, mtu) / mtu;
  if (room != 0) return static_cast<std::uint32_t>(std::min<std::size_t>(turn, room));
  const transport::Time room_at = queue_pair.port_room_at(mtu);
  room_at_ = port_is_busy_.empty() ? room_at : std::min(room_at_, room_at);
  port_is_busy_.push_back(queue_pair);
  queue_pair.aside_for_pace = queue_pair.waits_for_pace();
  return 0;
}

void DataPath::has_sent(QueuePairContext& queue_pair, std::uint32_t packets, std::uint32_t mtu) {
  const std::size_t bytes = std::size_t{packets} * mtu;
  queue_pair.promise_port(list_number_, bytes);
  if (packets != 0) sole_sender_.sends(queue_pair, bytes);
}

// A round for NAKs about holes alone: data that is sent beside them would only be held behind the holes, with
// a copy of its payload. The next round begins with the retransmissions. False if no port has room for the
// NAKs.
bool DataPath::tell_of_holes() {
  hole_to_tell_ = false;
  std::uint32_t told = 0;
  for (auto each = ready_.begin(); each != ready_.end() && told < kPacketsPerRound;) {
    QueuePairContext& queue_pair = queue_pair_of(*each++);
    const std::uint32_t mtu = std::max(queue_pair.path_mtu(), 256u);
    if (!queue_pair.tells_of_hole() || queue_pair.port_room(list_number_, mtu) < mtu) continue;
    const std::uint32_t sent = queue_pair.pump_responses(kPacketsPerTurn);
    has_sent(queue_pair, sent, mtu);
    told += sent;
    if (!queue_pair.wants_pump()) {
      queue_pair.ready_hook.unlink();
      queue_pair.urgent_hook.unlink();
      touch(queue_pair);
    }
  }
  return told != 0;
}

// While QPs wait for their turns, sends acknowledgements and retransmissions first, a few packets of each QP:
// so a round trip does not take as long as all ready data, nor recovery from a loss several times that.
void DataPath::pump_urgent() {
  const link::Load limit = round_limit();
  std::uint32_t packets = limit.frames / 2;
  std::size_t bytes = std::min(limit.bytes, filling().arena->remaining()) / 2;
  UrgentList waiting;
  waiting.swap(urgent_);
  while (!waiting.empty()) {
    QueuePairContext& queue_pair = queue_pair_of(waiting.front());
    const std::uint32_t mtu = std::max(queue_pair.path_mtu(), 256u);
    const std::size_t port = queue_pair.port_room(list_number_, mtu);
    const auto fit = static_cast<std::uint32_t>(std::min(bytes, port) / mtu);
    const std::uint32_t turn = std::min({kUrgentPackets, packets, fit});
    if (turn == 0 && port >= mtu) break;
    waiting.pop_front();
    if (turn == 0) continue;  // pumped when its port has room
    const std::uint32_t sent = queue_pair.pump_urgent(turn);
    has_sent(queue_pair, sent, mtu);
    packets -= std::min(sent, packets);
    bytes -= std::min<std::size_t>(std::size_t{sent} * mtu, bytes);
    touch(queue_pair);
  }
  urgent_.splice(urgent_.begin(), waiting);
}

void DataPath::pump_ready() {
  const link::Load limit = round_limit();
  std::uint32_t packets = limit.frames;
  std::size_t bytes = std::min(limit.bytes, filling().arena->remaining());
  while (!ready_.empty()) {
    QueuePairContext& queue_pair = queue_pair_of(ready_.front());
    const std::uint32_t mtu = std::max(queue_pair.path_mtu(), 256u);
    const auto fit = static_cast<std::uint32_t>(bytes / mtu);
    const std::uint32_t turn = std::min({kPacketsPerTurn, packets, fit});
    if (turn == 0) break;
    ready_.pop_front();
    const std::uint32_t taken = fit_into_port(queue_pair, turn, mtu);
    if (taken == 0) continue;
    const std::uint32_t sent = queue_pair.pump(taken);
    has_sent(queue_pair, sent, mtu);
    packets -= std::min(sent, packets);
    bytes -= std::min<std::size_t>(std::size_t{sent} * mtu, bytes);
    if (sent != 0 && queue_pair.wants_pump()) {
      want_pump(queue_pair);
    } else {
      queue_pair.urgent_hook.unlink();  // nothing is left to send
      touch(queue_pair);
    }
  }
  behind_ = !ready_.empty();
}

void DataPath::carry_out() {
  ActionList& list = filling();
  ActionList& next = lists_[filling_ ^ 1];
  if (memory_may_wait_) stalls_.take_from(list);
  memory_batch_.run(list, failed_);
  finish_completions(list);
  if (trunk_ports_ != nullptr) trunk_ports_->release();
  uplinks_.release();
  reorder_pool_.batch_flushed();
  ended_stalls_.clear();
  // The writes and completions just done were the last to refer to the previous list's payload.
  renew_arena(next);
  filling_ ^= 1;
  report_failures(list, failed_);
  transmit_packets(list);
  finish_sent(list);
  for (ActionStream* stream : failed_) stream->failed_at = ActionStream::kNotFailed;
  failed_.clear();
  list.clear();
  list.number = ++list_number_;
  uplinks_.flush();
  reuse_arena_of(list);
  end_inputs();
  if (trunk_ports_ != nullptr) trunk_ports_->publish();
}

// If all packets of `list` have left this engine, nothing refers to its arena any more. The next list fills
// it again, while it is cached.
void DataPath::reuse_arena_of(ActionList& list) {
  ActionList& next = filling();
  if (!next.empty() || !next.arena->empty()) return;
  std::swap(list.arena, next.arena);
  renew_arena(next);
}

// Nothing that is still to be done refers to the list's arena, but for what is kept there.
void DataPath::renew_arena(ActionList& list) {
  arenas_.give_back(*list.arena);
  list.arena = &arenas_.take();
}

// True if a QP resumes.
bool DataPath::finish_stalls() {
  bool any = false;
  while (auto ended = stalls_.take_ended()) {
    finish(std::move(ended));
    any = true;
  }
  return any;
}

// As `carry_out`, for a list whose memory accesses are done.
void DataPath::finish(std::unique_ptr<MemoryStall> ended) {
  MemoryStall& stall = *ended_stalls_.emplace_back(std::move(ended));
  finish_completions(stall.list());
  report_failures(stall.list(), stall.failed());
  transmit_packets(stall.list());
  finish_sent(stall.list());
  for (ActionStream* stream : stall.failed()) stream->failed_at = ActionStream::kNotFailed;
  stall.queue_pair().resume(stall);
}

void DataPath::end_wait(QueuePairContext& queue_pair) {
  auto stall = stalls_.take(queue_pair);
  if (stall == nullptr) return;
  stall->fail();
  finish(std::move(stall));
}

bool DataPath::forget_memory(const memory::ApplicationMemory& memory, std::uint64_t address,
                             std::uint64_t length) {
  bool any = false;
  while (QueuePairContext* const queue_pair = stalls_.find(memory, address, length)) {
    end_wait(*queue_pair);
    any = true;
  }
  return any;
}

void DataPath::finish_all(const std::vector<CompletionAction>& completions) {
  for (const CompletionAction& action : completions) {
    if (!action.stream->discards(action.accesses)) action.stream->queue_pair->finish(action.completion);
  }
}

void DataPath::finish_completions(ActionList& list) {
  finish_all(list.completions);
  for (const EventAction& action : list.events) action.queue_pair->raise(action.event);
  notifications_.raise(now_);
}

void DataPath::finish_sent(const ActionList& list) {
  if (list.sent.empty()) return;
  finish_all(list.sent);
  notifications_.raise(now_);
}

// A responder whose program has died stays silent: its peers see a dead host, and not an error that a program
// made. The control thread removes the rest when it notices the death. A target that other programs have
// open, too, is not dead and reports the error.
void DataPath::report_failures(const ActionList& list, const std::vector<ActionStream*>& failed) {
  for (const ActionStream* stream : failed) {
    const bool responds = stream->stream == transport::Stream::responder;
    const bool is_dead =
        responds && !stream->queue_pair->is_shared() && !list.memory[stream->failed_at].memory->owner_lives();
    if (is_dead) {
      stream->queue_pair->owner_died();
    } else {
      stream->queue_pair->memory_failed(*stream);
    }
  }
}

// A packet enters a link that takes time at the time of sending, not at the begin of the round.
void DataPath::enters_link(const PacketAction& packet) {
  if (clock_ != nullptr) now_ = clock_();
  ++sent_.frames;
  sent_.bytes += packet.length;
}

void DataPath::transmit_packets(ActionList& list) {
  for (PacketAction& packet : list.packets) {
    if (links_take_time_) enters_link(packet);
    if (!packet.stream->discards(packet.accesses)) packet.stream->queue_pair->transmit(packet);
  }
}

void DataPath::end_inputs() {
  while (!touched_.empty()) {
    QueuePairContext& queue_pair = queue_pair_of(touched_.front());
    touched_.pop_front();
    queue_pair.after_input();
  }
  notifications_.raise(now_);
}

EnginePools DataPath::pools() const {
  const auto count = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
  return {.staging_arenas = arenas_.in_use(),
          .staging_bytes = static_cast<std::uint32_t>(filling().arena->used()),
          .held_packets = reorder_pool_.in_use(),
          .frames_under_way = uplinks_.count(),
          .frames_lent = trunk_ports_ != nullptr ? trunk_ports_->frames_lent() : 0,
          .timers = timers_.armed(),
          .queue_pairs = count(ready_) + count(urgent_) + count(port_is_busy_) + count(touched_),
          .memory_stalls = stalls_.size(),
          .late_events = notifications_.count()};
}

}  // namespace urnic::engine
