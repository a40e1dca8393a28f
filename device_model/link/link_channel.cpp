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
      return "dropped, no room to keep it under way";
  }
  return {};
}

const Verdict kUntouched{};

bool edits(const Verdict& verdict, const Passage& passage) {
  return passage.corrupted || passage.congestion || verdict.congestion || verdict.flips_before_count != 0 ||
         verdict.flips_after_count != 0;
}

}  // namespace

LinkChannel::LinkChannel(Link& link, Direction direction, TravelGuide& guide)
    : link_(link),
      device_(link.number()),
      name_(link.device() + ' ' + std::string(name(direction))),
      direction_(direction),
      guide_(guide),
      model_(LinkSettings{}, device_, direction),
      pool_(kMostUnderWay),
      under_way_(kMostUnderWay) {}

void LinkChannel::configure(const LinkSettings& settings) {
  model_ = LinkDirection(settings, device_, direction_);
}

Why& LinkChannel::remark(Traveller& traveller) { return traveller.why.next().add(name_).add(": "); }

void LinkChannel::drop(Traveller& traveller, DropCause cause) {
  ++counters_.drops(cause);
  if (cause != DropCause::fault) remark(traveller).add(text(cause));
  guide_.dropped(traveller, link_.device(), direction_);
}

// The fault plan first: it decides about what the device sent, and a packet that it takes away takes no time
// of the line.
void LinkChannel::enter(Traveller& traveller, transport::Time now) {
  ++counters_.packets;
  if (!link_.up(now)) return drop(traveller, DropCause::cut);
  if (faults_ == nullptr) return pass(traveller, kUntouched, now);
  Verdict verdict;
  faults_->judge({traveller.frame, traveller.origin, device_, direction_, traveller.to->receiver}, now,
                 verdict);
  if (!verdict.touched) return pass(traveller, kUntouched, now);
  remark(traveller).add(verdict.why.view());
  if (verdict.cut.count() > 0) link_.cut(now + verdict.cut);
  if (!verdict.answer.empty()) {
    ++counters_.answered;
    guide_.answer(traveller, verdict.answer, now);
  }
  if (verdict.drop || !verdict.answer.empty()) return drop(traveller, DropCause::fault);
  pass(traveller, verdict, now);
}

void LinkChannel::apply_verdict(const Verdict& verdict, transport::Time now, Passage& passage) {
  passage.copies += verdict.more_copies;
  passage.due += verdict.delay;
  if (verdict.behind > passage.behind) {
    passage.behind = verdict.behind;
    passage.latest = std::max(passage.due, now) + verdict.hold;
  }
}

// `passage` is what the link's settings alone have brought about.
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

void LinkChannel::pass(Traveller& traveller, const Verdict& verdict, transport::Time now) {
  if (model_.only_loses() && !verdict.touched && under_way_.empty()) {
    if (model_.loses(traveller.origin.identity)) return drop(traveller, DropCause::loss);
    return guide_.hand_on(traveller, direction_, now);
  }
  const auto bytes = static_cast<std::uint32_t>(traveller.frame.size());
  Passage passage = model_.enter(now, bytes, traveller.origin.identity);
  if (passage.drop != DropCause::none) return drop(traveller, passage.drop);
  if (!verdict.touched && !passage.is_touched() && passage.due <= now) {
    guide_.hand_on(traveller, direction_, now);
  } else if (!pass_touched(traveller, verdict, passage, now)) {
    return;
  }
  if (!under_way_.empty()) let_follow(now);
}

// Who was held for the packet that has just passed follows it at once: the next one may be handed on just as
// directly.
void LinkChannel::let_follow(transport::Time now) {
  under_way_.passed(now);
  while (const auto departure = under_way_.take_due(now)) hand_on(*departure->item, departure->due);
  link_.look_whether_plain();
}

// False if the packet has not been handed on, but is under way or dropped.
bool LinkChannel::pass_touched(Traveller& traveller, const Verdict& verdict, Passage& passage,
                               transport::Time now) {
  remark_chance(traveller, passage);
  count(verdict, passage);
  apply_verdict(verdict, now, passage);
  PooledFrame* edited = nullptr;
  if (edits(verdict, passage)) {
    edited = edit(traveller, verdict, passage);
    if (edited == nullptr) {
      drop(traveller, DropCause::buffer_full);
      return false;
    }
  }
  if (passage.behind != 0 || passage.due > now) {
    keep(traveller, edited, passage);
    return false;
  }
  for (std::uint32_t copy = 0; copy < passage.copies; ++copy) {
    Traveller again = traveller;  // each copy has a way of its own from here
    guide_.hand_on(again, direction_, now);
  }
  if (edited != nullptr) pool_.give(edited);
  return true;
}

void LinkChannel::remark_chance(Traveller& traveller, const Passage& passage) {
  if (passage.copies > 1) remark(traveller).add("duplicated by chance");
  if (passage.behind != 0)
    remark(traveller).add("held behind ").add(passage.behind).add(" packets by chance");
  if (passage.jitter.count() > 0)
    remark(traveller)
        .add("delayed ")
        .add(static_cast<std::uint64_t>(passage.jitter.count()))
        .add(" ns more by jitter");
}

PooledFrame* LinkChannel::copy_of(const Traveller& traveller) {
  if (traveller.frame.size() > kSlotBytes) return nullptr;
  PooledFrame* const copy = pool_.take();
  if (copy == nullptr) return nullptr;
  copy->copy(traveller.frame);
  return copy;
}

void LinkChannel::mark(Traveller& traveller, std::span<std::byte> frame, const Verdict& verdict) {
  const Ecn before = mark_congestion(frame);
  counters_.not_ecn_capable += before == Ecn::not_capable;
  if (before != Ecn::capable) return;
  // A packet is marked once. The fault plan comes first, and has made its own remark.
  ++(verdict.congestion ? counters_.by_fault : counters_.by_link).congestion_marked;
  if (!verdict.congestion) remark(traveller).add("marked congestion experienced, the queue is long");
}

// From here on the traveller's frame is the changed copy.
PooledFrame* LinkChannel::edit(Traveller& traveller, const Verdict& verdict, const Passage& passage) {
  PooledFrame* const copy = copy_of(traveller);
  if (copy == nullptr) return nullptr;
  const auto frame = copy->whole();
  for (std::size_t i = 0; i < verdict.flips_before_count; ++i) flip_bit(frame, verdict.flips_before[i]);
  if (verdict.flips_before_count != 0) refresh_icrc(frame);
  for (std::size_t i = 0; i < verdict.flips_after_count; ++i) flip_bit(frame, verdict.flips_after[i]);
  if (passage.congestion || verdict.congestion) mark(traveller, frame, verdict);
  if (passage.corrupted) {
    const std::size_t bit = corrupt_somewhere(frame, passage.corruption);
    remark(traveller).add("bit ").add(bit).add(" turned over by chance");
  }
  traveller.frame = {frame, {}, {}};
  traveller.payload_is_stable = false;
  return copy;
}

void LinkChannel::keep(Traveller& traveller, PooledFrame* edited, const Passage& passage) {
  bool kept = false;
  for (std::uint32_t copy = 0; copy < passage.copies; ++copy) {
    PooledFrame* const frame = edited != nullptr && copy + 1 == passage.copies ? edited : copy_of(traveller);
    if (frame == nullptr) {
      drop(traveller, DropCause::buffer_full);
      continue;
    }
    frame->origin = traveller.origin;
    frame->from = traveller.from;
    frame->to = traveller.to;
    frame->why = traveller.why;
    put_under_way(frame, passage);
    kept = true;
  }
  if (kept && passage.behind == 0) under_way_.passed(passage.due);
  link_.look_whether_plain();
}

// The pool and the queue have the same size: who has a frame has a place.
void LinkChannel::put_under_way(PooledFrame* frame, const Passage& passage) {
  if (passage.behind != 0) {
    under_way_.hold(frame, passage.behind, passage.due, passage.latest);
  } else {
    under_way_.push(frame, passage.due);
  }
}

std::size_t LinkChannel::deliver_due(transport::Time now, std::size_t most) {
  std::size_t delivered = 0;
  while (delivered < most) {
    const auto departure = under_way_.take_due(now);
    if (!departure) break;
    hand_on(*departure->item, departure->due);
    ++delivered;
  }
  return delivered;
}

void LinkChannel::hand_on(PooledFrame& frame, transport::Time due) {
  Traveller traveller({frame.whole(), {}, {}}, false, frame.origin, frame.from, frame.to);
  traveller.why = frame.why;
  if (link_.up(due)) {
    guide_.hand_on(traveller, direction_, due);
  } else {
    drop(traveller, DropCause::cut);
  }
  pool_.give(&frame);
}

}  // namespace urnic::link
