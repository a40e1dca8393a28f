#include "device_model/link/link_channel.hpp"

#include <algorithm>

#include "device_model/link/frame_edits.hpp"
#include "device_model/link/link.hpp"
#include "device_model/link/switch_port.hpp"

namespace urnic::link {

namespace {

constexpr std::string_view text(DropCause cause) {
  switch (cause) {
    case DropCause::none:
      break;
    case DropCause::loss:
      return "lost by chance";
    case DropCause::burst:
      return "lost in a burst";
    case DropCause::queue_full:
      return "dropped, the queue is full";
    case DropCause::cut:
      return "dropped, the link is down";
    case DropCause::fault:
      return "dropped by a fault";
    case DropCause::buffer_full:
      return "dropped, too many frames under way";
    case DropCause::shared_buffer_full:
      return "dropped, the switch's memory has no more for the queue";
  }
  return {};
}

const Verdict kUntouched{};

bool edits(const Verdict& verdict, const Passage& passage) {
  return passage.corrupted || passage.congestion || verdict.congestion || verdict.flips_before_count != 0 ||
         verdict.flips_after_count != 0;
}

}  // namespace

LinkChannel::LinkChannel(Link& link, Direction direction, FramesInFlight& in_flight, Forwarder& forwarder)
    : link_(link),
      device_(link.number()),
      name_(link.device() + ' ' + std::string(name(direction))),
      direction_(direction),
      in_flight_(in_flight),
      forwarder_(forwarder),
      model_(LinkSettings{}, device_, direction),
      held_(FramesInFlight::kFrames) {}

void LinkChannel::configure(const LinkSettings& settings) {
  counters_.pauses_caused += model_.back_pressure().caused();
  model_ = LinkDirection(settings, device_, direction_);
  prepare_model();
}

void LinkChannel::prepare_model() {
  if (buffer_ != nullptr) model_.use(*buffer_);
  if (pause_ != nullptr && direction_ == Direction::transmit) model_.obey(*pause_);
}

void LinkChannel::share(SharedBuffer& buffer) {
  buffer_ = &buffer;
  buffer.add(model_.queue());
  prepare_model();
}

void LinkChannel::set_pause(const Pause& pause) {
  pause_ = &pause;
  prepare_model();
}

LinkCounters LinkChannel::counters() const {
  LinkCounters counters = counters_;
  counters.pauses_caused += model_.back_pressure().caused();
  if (pause_ == nullptr || direction_ == Direction::transmit) return counters;
  counters.pauses = pause_->count();
  counters.paused = pause_->duration();
  return counters;
}

Remarks& LinkChannel::remark(FrameInFlight& flight) { return flight.remarks.next().add(name_).add(": "); }

void LinkChannel::drop(FrameInFlight& flight, DropCause cause) {
  ++counters_.drops(cause);
  if (cause != DropCause::fault) remark(flight).add(text(cause));
  forwarder_.dropped(flight, link_.device(), direction_);
}

// The fault plan first: it acts on what the device sent, and a packet that it drops takes no time on the
// line.
void LinkChannel::enter(FrameInFlight& flight, transport::Time now) {
  ++counters_.packets;
  if (!link_.up(now)) return drop(flight, DropCause::cut);
  if (faults_ == nullptr) return pass(flight, kUntouched, now);
  wire::pay_icrc(flight.frame);
  Verdict verdict;
  faults_->judge({flight.frame, flight.origin, device_, direction_, flight.to->receiver}, now, verdict);
  if (!verdict.touched) return pass(flight, kUntouched, now);
  remark(flight).add(verdict.remarks.view());
  if (verdict.cut.count() > 0) {
    link_.cut(now + verdict.cut);
    forwarder_.cut(device_, now, now + verdict.cut);
  }
  if (!verdict.answer.empty()) {
    ++counters_.answered;
    forwarder_.answer(flight, verdict.answer, verdict.answering_queue_pair, now);
  }
  const bool taken = !verdict.answer.empty() && !verdict.goes_on_when_answered;
  if (verdict.drop || taken) return drop(flight, DropCause::fault);
  pass(flight, verdict, now);
}

void LinkChannel::apply_verdict(const Verdict& verdict, transport::Time now, Passage& passage) {
  passage.copies += verdict.more_copies;
  passage.due += verdict.delay;
  if (verdict.behind > passage.behind) {
    passage.behind = verdict.behind;
    passage.latest = std::max(passage.due, now) + verdict.hold;
  }
}

// `passage`: what the link's settings alone did.
void LinkChannel::count(const Verdict& verdict, const Passage& passage) {
  counters_.by_link.duplicated += passage.copies - 1;
  counters_.by_link.delayed += passage.jitter.count() > 0;
  counters_.by_link.reordered += passage.behind != 0;
  counters_.by_link.corrupted += passage.corrupted;
  counters_.by_fault.duplicated += verdict.more_copies;
  counters_.by_fault.delayed += verdict.delay.count() > 0;
  counters_.by_fault.reordered += verdict.behind != 0;
  counters_.by_fault.corrupted += verdict.flips_before_count != 0 || verdict.flips_after_count != 0;
}

void LinkChannel::pass(FrameInFlight& flight, const Verdict& verdict, transport::Time now) {
  if (model_.only_loses() && !verdict.touched && empty()) {
    if (model_.loses(flight.origin.identity)) return drop(flight, DropCause::loss);
    return forwarder_.hand_on(flight, direction_, now);
  }
  const auto bytes = static_cast<std::uint32_t>(flight.frame.size());
  Passage passage = model_.enter(now, bytes, flight.origin.identity, flight.from->pause);
  if (passage.drop != DropCause::none) return drop(flight, passage.drop);
  if (verdict.touched || passage.is_touched() || !delivers_at_once(passage, now)) {
    return pass_touched(flight, verdict, passage, now);
  }
  forwarder_.hand_on(flight, direction_, now);
  let_follow(now, now);
}

// A packet overtakes frames that are due later, but not frames that are late.
bool LinkChannel::delivers_at_once(const Passage& passage, transport::Time now) const {
  return passage.behind == 0 && passage.due <= now && !is_late(now);
}

bool LinkChannel::is_late(transport::Time now) const { return under_way_ != 0 && in_flight_.overdue(now); }

void LinkChannel::pass_touched(FrameInFlight& flight, const Verdict& verdict, Passage& passage,
                               transport::Time now) {
  remark_chance(flight, passage);
  count(verdict, passage);
  apply_verdict(verdict, now, passage);
  const bool at_once = delivers_at_once(passage, now);
  const bool had_slot = flight.slot != nullptr;
  if (!at_once || edits(verdict, passage)) {
    if (!had_slot && !take_slot(flight)) return drop(flight, DropCause::buffer_full);
    if (edits(verdict, passage)) edit(flight, verdict, passage);
  }
  if (at_once) {
    hand_on_copies(flight, passage.copies, now);
  } else {
    keep_copies(flight, passage);
  }
  if (!had_slot && flight.slot != nullptr) {
    in_flight_.retire(flight.slot);
    flight.slot = nullptr;
  }
  if (passage.behind == 0) let_follow(at_once ? now : passage.due, now);
  link_.look_whether_plain();
}

// A packet has passed and arrives at `due`: releases the packets that were held until then.
void LinkChannel::let_follow(transport::Time due, transport::Time now) {
  if (held_.empty()) return;
  held_.passed(due, [&](const HeldBehind<PooledFrame*>::Released& released) {
    if (released.due > now || is_late(now)) return depart(released.item, released.due);
    ++under_way_;
    leave(*released.item, released.due);
  });
  link_.look_whether_plain();
}

void LinkChannel::end_holds(transport::Time now) {
  held_.expire(now, [this](const HeldBehind<PooledFrame*>::Released& released) {
    depart(released.item, released.due);
  });
}

void LinkChannel::remark_chance(FrameInFlight& flight, const Passage& passage) {
  if (passage.copies > 1) remark(flight).add("duplicated by chance");
  if (passage.behind != 0) remark(flight).add("held behind ").add(passage.behind).add(" packets by chance");
  if (passage.jitter.count() > 0)
    remark(flight)
        .add("delayed ")
        .add(static_cast<std::uint64_t>(passage.jitter.count()))
        .add(" ns more by jitter");
}

void LinkChannel::mark(FrameInFlight& flight, const Verdict& verdict) {
  const Ecn before = mark_congestion(flight.slot->edited());
  counters_.not_ecn_capable += before == Ecn::not_capable;
  if (before != Ecn::capable) return;
  // A packet is marked once. The fault plan acts first and has added its own remark.
  ++(verdict.congestion ? counters_.by_fault : counters_.by_link).congestion_marked;
  if (!verdict.congestion) remark(flight).add("marked congestion experienced, the queue is long");
}

// Copies the frame into a slot, which `flight` then refers to. False if no slot is free.
bool LinkChannel::take_slot(FrameInFlight& flight) {
  PooledFrame* const slot = in_flight_.copy(flight.frame, *flight.from);
  if (slot == nullptr) return false;
  flight.frame = slot->frame();
  flight.slot = slot;
  return true;
}

// Changes the copy in the slot of `flight`.
void LinkChannel::edit(FrameInFlight& flight, const Verdict& verdict, const Passage& passage) {
  const auto bytes = flight.slot->whole();
  for (std::size_t i = 0; i < verdict.flips_before_count; ++i) flip_bit(bytes, verdict.flips_before[i]);
  if (verdict.flips_before_count != 0) refresh_icrc(flight.slot->edited());
  for (std::size_t i = 0; i < verdict.flips_after_count; ++i) flip_bit(bytes, verdict.flips_after[i]);
  if (passage.congestion || verdict.congestion) mark(flight, verdict);
  if (passage.corrupted) {
    const std::size_t bit = corrupt_somewhere(flight.slot->edited(), passage.corruption);
    remark(flight).add("bit ").add(bit).add(" inverted by chance");
  }
  if (flight.frame.link_layer == wire::LinkLayer::infiniband)
    flight.is_damaged = verdict.flips_after_count != 0 || passage.corrupted;
}

// Each copy continues by itself; the last one has the slot.
void LinkChannel::hand_on_copies(FrameInFlight& flight, std::uint32_t copies, transport::Time now) {
  for (; copies > 1; --copies) {
    FrameInFlight copy = flight;
    copy.slot = nullptr;
    forwarder_.hand_on(copy, direction_, now);
  }
  forwarder_.hand_on(flight, direction_, now);
}

void LinkChannel::keep_copies(FrameInFlight& flight, const Passage& passage) {
  for (std::uint32_t copy = 1; copy < passage.copies; ++copy) {
    FrameInFlight another = flight;
    if (take_slot(another)) {
      put_under_way(another, passage);
    } else {
      drop(another, DropCause::buffer_full);
    }
  }
  put_under_way(flight, passage);
}

// The channel owns the slot of `flight` from here on.
void LinkChannel::put_under_way(FrameInFlight& flight, const Passage& passage) {
  PooledFrame* const frame = flight.slot;
  flight.slot = nullptr;
  frame->origin = flight.origin;
  frame->to = flight.to;
  frame->channel = this;
  frame->remarks = flight.remarks;
  frame->is_damaged = flight.is_damaged;
  if (passage.behind != 0) {
    held_.hold(frame, passage.behind, passage.due, passage.latest);
  } else {
    depart(frame, passage.due);
  }
}

void LinkChannel::depart(PooledFrame* frame, transport::Time due) {
  ++under_way_;
  in_flight_.depart(frame, due);
}

void LinkChannel::leave(PooledFrame& frame, transport::Time due) {
  --under_way_;
  FrameInFlight flight(frame.frame(), frame.origin, frame.from, frame.to);
  flight.slot = &frame;
  flight.remarks = frame.remarks;
  flight.is_damaged = frame.is_damaged;
  if (link_.up(due)) {
    forwarder_.hand_on(flight, direction_, due);
  } else {
    drop(flight, DropCause::cut);
  }
  if (flight.slot != nullptr) in_flight_.retire(flight.slot);
  if (empty()) link_.look_whether_plain();
}

}  // namespace urnic::link
