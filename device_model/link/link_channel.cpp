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
  }
  return {};
}

const Verdict kUntouched{};

bool edits(const Verdict& verdict, const Passage& passage) {
  return passage.corrupted || passage.congestion || verdict.congestion || verdict.flips_before_count != 0 ||
         verdict.flips_after_count != 0;
}

}  // namespace

LinkChannel::LinkChannel(Link& link, Direction direction, Transit& transit, TravelGuide& guide)
    : link_(link),
      device_(link.number()),
      name_(link.device() + ' ' + std::string(name(direction))),
      direction_(direction),
      transit_(transit),
      guide_(guide),
      model_(LinkSettings{}, device_, direction),
      held_(Transit::kFrames) {}

void LinkChannel::configure(const LinkSettings& settings) {
  model_ = LinkDirection(settings, device_, direction_);
}

Why& LinkChannel::remark(Traveller& traveller) { return traveller.why.next().add(name_).add(": "); }

void LinkChannel::drop(Traveller& traveller, DropCause cause) {
  ++counters_.drops(cause);
  if (cause != DropCause::fault) remark(traveller).add(text(cause));
  guide_.dropped(traveller, link_.device(), direction_);
}

// The fault plan first: it acts on what the device sent, and a packet that it drops takes no time on the
// line.
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
    guide_.answer(traveller, verdict.answer, verdict.answering_queue_pair, now);
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

void LinkChannel::pass(Traveller& traveller, const Verdict& verdict, transport::Time now) {
  if (model_.only_loses() && !verdict.touched && empty()) {
    if (model_.loses(traveller.origin.identity)) return drop(traveller, DropCause::loss);
    return guide_.hand_on(traveller, direction_, now);
  }
  const auto bytes = static_cast<std::uint32_t>(traveller.frame.size());
  Passage passage = model_.enter(now, bytes, traveller.origin.identity);
  if (passage.drop != DropCause::none) return drop(traveller, passage.drop);
  if (verdict.touched || passage.is_touched() || !delivers_at_once(passage, now)) {
    return pass_touched(traveller, verdict, passage, now);
  }
  guide_.hand_on(traveller, direction_, now);
  let_follow(now, now);
}

// A packet overtakes frames that are due later, but not frames that are late.
bool LinkChannel::delivers_at_once(const Passage& passage, transport::Time now) const {
  return passage.behind == 0 && passage.due <= now && !is_late(now);
}

bool LinkChannel::is_late(transport::Time now) const { return under_way_ != 0 && transit_.overdue(now); }

void LinkChannel::pass_touched(Traveller& traveller, const Verdict& verdict, Passage& passage,
                               transport::Time now) {
  remark_chance(traveller, passage);
  count(verdict, passage);
  apply_verdict(verdict, now, passage);
  const bool at_once = delivers_at_once(passage, now);
  const bool had_slot = traveller.slot != nullptr;
  if (!at_once || edits(verdict, passage)) {
    if (!had_slot && !take_slot(traveller)) return drop(traveller, DropCause::buffer_full);
    if (edits(verdict, passage)) edit(traveller, verdict, passage);
  }
  if (at_once) {
    hand_on_copies(traveller, passage.copies, now);
  } else {
    keep_copies(traveller, passage);
  }
  if (!had_slot && traveller.slot != nullptr) {
    transit_.retire(traveller.slot);
    traveller.slot = nullptr;
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

void LinkChannel::mark(Traveller& traveller, std::span<std::byte> frame, const Verdict& verdict) {
  const Ecn before = mark_congestion(frame);
  counters_.not_ecn_capable += before == Ecn::not_capable;
  if (before != Ecn::capable) return;
  // A packet is marked once. The fault plan acts first and has added its own remark.
  ++(verdict.congestion ? counters_.by_fault : counters_.by_link).congestion_marked;
  if (!verdict.congestion) remark(traveller).add("marked congestion experienced, the queue is long");
}

// Copies the frame into a slot, which the traveller then refers to. False if no slot is free.
bool LinkChannel::take_slot(Traveller& traveller) {
  PooledFrame* const slot = transit_.copy(traveller.frame, *traveller.from);
  if (slot == nullptr) return false;
  traveller.frame = {slot->whole(), {}, {}};
  traveller.slot = slot;
  return true;
}

// Changes the copy in the traveller's slot.
void LinkChannel::edit(Traveller& traveller, const Verdict& verdict, const Passage& passage) {
  const auto frame = traveller.slot->whole();
  for (std::size_t i = 0; i < verdict.flips_before_count; ++i) flip_bit(frame, verdict.flips_before[i]);
  if (verdict.flips_before_count != 0) refresh_icrc(frame);
  for (std::size_t i = 0; i < verdict.flips_after_count; ++i) flip_bit(frame, verdict.flips_after[i]);
  if (passage.congestion || verdict.congestion) mark(traveller, frame, verdict);
  if (passage.corrupted) {
    const std::size_t bit = corrupt_somewhere(frame, passage.corruption);
    remark(traveller).add("bit ").add(bit).add(" inverted by chance");
  }
}

// Each copy continues by itself; the last one has the slot.
void LinkChannel::hand_on_copies(Traveller& traveller, std::uint32_t copies, transport::Time now) {
  for (; copies > 1; --copies) {
    Traveller copy = traveller;
    copy.slot = nullptr;
    guide_.hand_on(copy, direction_, now);
  }
  guide_.hand_on(traveller, direction_, now);
}

void LinkChannel::keep_copies(Traveller& traveller, const Passage& passage) {
  for (std::uint32_t copy = 1; copy < passage.copies; ++copy) {
    Traveller another = traveller;
    if (take_slot(another)) {
      put_under_way(another, passage);
    } else {
      drop(another, DropCause::buffer_full);
    }
  }
  put_under_way(traveller, passage);
}

// The channel owns the traveller's slot from here on.
void LinkChannel::put_under_way(Traveller& traveller, const Passage& passage) {
  PooledFrame* const frame = traveller.slot;
  traveller.slot = nullptr;
  frame->origin = traveller.origin;
  frame->to = traveller.to;
  frame->channel = this;
  frame->why = traveller.why;
  if (passage.behind != 0) {
    held_.hold(frame, passage.behind, passage.due, passage.latest);
  } else {
    depart(frame, passage.due);
  }
}

void LinkChannel::depart(PooledFrame* frame, transport::Time due) {
  ++under_way_;
  transit_.depart(frame, due);
}

void LinkChannel::leave(PooledFrame& frame, transport::Time due) {
  --under_way_;
  Traveller traveller({frame.whole(), {}, {}}, frame.origin, frame.from, frame.to);
  traveller.slot = &frame;
  traveller.why = frame.why;
  if (link_.up(due)) {
    guide_.hand_on(traveller, direction_, due);
  } else {
    drop(traveller, DropCause::cut);
  }
  if (traveller.slot != nullptr) transit_.retire(traveller.slot);
  if (empty()) link_.look_whether_plain();
}

}  // namespace urnic::link
