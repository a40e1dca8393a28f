#include "device_model/transport/recovery/scoreboard.hpp"

#include <algorithm>
#include <bit>

namespace urnic::transport {

Scoreboard::Scoreboard(std::uint32_t window) : entries_(std::bit_ceil(std::max(window, 2u))) {
  mask_ = std::bit_ceil(std::max(window, 2u)) - 1;
}

void Scoreboard::clear(PacketNumber first) {
  base_ = high_ = tracked_end_ = disorder_end_ = first;
  next_order_ = 0;
  exact_ = false;
  under_way_ = sent_again_ = postponed_ = lost_ = {};
  arrived_ahead_ = 0;
}

bool Scoreboard::is_under_way(PacketNumber packet) const {
  if (packet < base_ || packet >= high_) return false;
  return !exact_ || packet >= tracked_end_ || at(packet).state == State::under_way;
}

bool Scoreboard::is_under_way_again(PacketNumber packet) const {
  return exact_ && packet < tracked_end_ && is_under_way(packet) &&
         at(packet).late == Entry::Late::sent_again;
}

std::optional<Time> Scoreboard::under_way_again_since(PacketNumber packet) const {
  return is_under_way_again(packet) ? std::optional(at(packet).sent_at) : std::nullopt;
}

void Scoreboard::sent(PacketRange packets) {
  high_ = packets.end();
  next_order_ += packets.count;
  if (exact_) add_entries();
}

void Scoreboard::sent_again(PacketRange packets, Time now) {
  become_exact();
  const PacketNumber end = std::min(packets.end(), tracked_end_);
  for (PacketNumber packet = std::max(packets.first, base_); packet < end; packet = packet + 1) {
    Entry& entry = at(packet);
    if (entry.state == State::arrived) continue;
    send_late(packet, Entry::Late::sent_again);
    entry.sent_at = now;
    entry.again = true;
  }
}

namespace {

void take_later(std::optional<Scoreboard::Arrival>& latest, Scoreboard::Arrival next) {
  if (!latest) {
    latest = next;
    return;
  }
  if (latest->again_at && (!next.again_at || next.again_order < latest->again_order)) {
    next.again_at = latest->again_at;
    next.again_order = latest->again_order;
  }
  if (latest->lowest_once && (!next.lowest_once || *latest->lowest_once < *next.lowest_once)) {
    next.lowest_once = latest->lowest_once;
  }
  if (latest->order < next.order) {
    latest = next;
  } else {
    latest->again_at = next.again_at;
    latest->again_order = next.again_order;
    latest->lowest_once = next.lowest_once;
  }
}

}  // namespace

std::optional<Scoreboard::Arrival> Scoreboard::acknowledge(PacketNumber until) {
  TakenOut taken;
  if (exact_ && base_ < until) {
    const auto packets = static_cast<std::uint32_t>(std::min(until, tracked_end_) - base_);
    taken = take_out({base_, packets});
    arrived_ahead_ -= packets - taken.count;
  }
  base_ = std::max(base_, until);
  tracked_end_ = std::max(tracked_end_, base_);
  if (exact_) {
    add_entries();
    forget_entries_if_in_order();
  }
  return taken.latest;
}

std::optional<Scoreboard::Arrival> Scoreboard::arrive(PacketRange packets) {
  become_exact();
  const TakenOut taken = take_out(packets);
  if (taken.count == 0) return std::nullopt;
  for (PacketNumber packet = packets.first; packet < packets.end(); packet = packet + 1) {
    at(packet).state = State::arrived;
  }
  disorder_end_ = high_;
  arrived_ahead_ += taken.count;
  return taken.latest;
}

// Those under way that were sent once stand in the order of their numbers, so they leave their list as a run.
Scoreboard::TakenOut Scoreboard::take_out(PacketRange packets) {
  TakenOut taken;
  std::optional<PacketNumber> first_on_time;
  PacketNumber last_on_time;
  for (PacketNumber packet = packets.first; packet < packets.end(); packet = packet + 1) {
    const Entry& entry = at(packet);
    if (entry.state == State::arrived) continue;
    ++taken.count;
    if (entry.state == State::under_way && entry.late == Entry::Late::no) {
      last_on_time = packet;
      if (!first_on_time) first_on_time = packet;
    } else {
      take_later(taken.latest, arrival_of(packet));
      remove(packet);
    }
  }
  if (first_on_time) {
    Arrival arrival = arrival_of(last_on_time);
    arrival.lowest_once = first_on_time;
    take_later(taken.latest, arrival);
    remove_run(*first_on_time, last_on_time);
  }
  return taken;
}

SendOrder Scoreboard::postpone(PacketNumber packet) {
  become_exact();
  const SendOrder order = at(packet).order;
  if (at(packet).state != State::arrived) send_late(packet, Entry::Late::postponed);
  return order;
}

void Scoreboard::send_late(PacketNumber packet, Entry::Late how) {
  disorder_end_ = high_;
  remove(packet);
  at(packet).order = next_order_++;
  at(packet).late = how;
  append(packet, State::under_way);
}

void Scoreboard::lose(PacketNumber packet) {
  if (!covers(packet) || !is_under_way(packet)) return;
  become_exact();
  move_to(packet, State::lost);
}

void Scoreboard::doubt(PacketNumber packet) {
  if (!covers(packet)) return;
  become_exact();
  if (at(packet).state == State::arrived) {
    --arrived_ahead_;
    append(packet, State::lost);
    disorder_end_ = high_;
  } else {
    lose(packet);
  }
}

void Scoreboard::doubt_first(PacketNumber packet) {
  doubt(packet);
  if (covers(packet) && lost_.first != place(packet)) put_first(packet);
}

void Scoreboard::lose_from(PacketNumber first) {
  become_exact();
  for (PacketNumber packet = std::max(first, base_); packet < tracked_end_; packet = packet + 1) {
    if (at(packet).state != State::arrived) move_to(packet, State::lost);
  }
}

bool Scoreboard::lose(const Early& early) {
  if (!exact_) return false;  // everything that was sent before an arrival has arrived, too
  bool any = false;
  while (under_way_.first != kNone && entries_[under_way_.first].order < early.order) {
    const PacketNumber packet = number_of(under_way_.first);
    if (packet >= early.limit) break;
    move_to(packet, State::lost);
    any = true;
  }
  any |= lose_late(sent_again_, early);
  if (early.postponed_too) any |= lose_late(postponed_, early);
  return any;
}

bool Scoreboard::lose_late(const List& list, const Early& early) {
  bool any = false;
  for (std::uint32_t place = list.first; place != kNone && entries_[place].order < early.order;) {
    const PacketNumber packet = number_of(place);
    place = entries_[place].behind;
    if (packet >= early.limit) continue;
    move_to(packet, State::lost);
    any = true;
  }
  return any;
}

bool Scoreboard::any(const Early& early) const {
  if (!exact_) return false;
  return any(under_way_, early) || any(sent_again_, early) || (early.postponed_too && any(postponed_, early));
}

bool Scoreboard::any(const List& list, const Early& early) const {
  for (std::uint32_t place = list.first; place != kNone && entries_[place].order < early.order;
       place = entries_[place].behind) {
    if (number_of(place) < early.limit) return true;
    if (&list == &under_way_) break;  // in the order of numbers, too
  }
  return false;
}

std::optional<Time> Scoreboard::first_sent_again() const {
  if (!exact_ || sent_again_.first == kNone) return std::nullopt;
  return entries_[sent_again_.first].sent_at;
}

void Scoreboard::lose_sent_again_until(Time time) {
  while (const std::optional<Time> first = first_sent_again()) {
    if (*first > time) return;
    move_to(number_of(sent_again_.first), State::lost);
  }
}

void Scoreboard::forget_arrivals(PacketNumber from) {
  become_exact();
  const PacketNumber known = base_;
  base_ = std::min(base_, from);
  under_way_ = sent_again_ = postponed_ = lost_ = {};
  arrived_ahead_ = 0;
  tracked_end_ = std::min(high_, base_ + ring_size());
  for (PacketNumber packet = base_; packet < tracked_end_; packet = packet + 1) {
    Entry& entry = at(packet);
    if (packet < known)
      entry = {.order = 0,
               .sent_at = {},
               .before = kNone,
               .behind = kNone,
               .state = State::lost,
               .again = true,
               .late = Entry::Late::sent_again};
    if (packet >= from) entry.state = State::lost;
    if (entry.state == State::arrived) {
      ++arrived_ahead_;
    } else {
      append(packet, entry.state);
    }
  }
  disorder_end_ = high_;
}

void Scoreboard::truncate(PacketNumber end) {
  if (end >= high_) return;
  if (exact_) {
    for (PacketNumber packet = std::max(end, base_); packet < tracked_end_; packet = packet + 1) {
      if (at(packet).state == State::arrived) {
        --arrived_ahead_;
      } else {
        remove(packet);
      }
    }
    tracked_end_ = std::max(base_, std::min(tracked_end_, end));
    disorder_end_ = std::min(disorder_end_, end);
  }
  high_ = std::max(base_, end);
}

std::optional<PacketRange> Scoreboard::first_lost(std::uint32_t most) const {
  if (!exact_ || lost_.first == kNone) return std::nullopt;
  PacketRange range{number_of(lost_.first), 1};
  for (const Entry* entry = &entries_[lost_.first];
       range.count < most && entry->behind != kNone && number_of(entry->behind) == range.end();
       entry = &entries_[entry->behind]) {
    ++range.count;
  }
  return range;
}

PacketNumber Scoreboard::first_missing(PacketNumber from, PacketNumber limit) const {
  while (from < limit && has_arrived(from)) from = from + 1;
  return from;
}

// The ring holds one packet for each place: those in [base_, base_ + ring_size()).
PacketNumber Scoreboard::number_of(std::uint32_t place) const {
  return base_ + ((place - static_cast<std::uint32_t>(base_.value())) & mask_);
}

void Scoreboard::append(PacketNumber packet, State state) {
  Entry& entry = at(packet);
  entry.state = state;
  List& list = list_of(entry);
  entry.before = list.last;
  entry.behind = kNone;
  (list.last == kNone ? list.first : entries_[list.last].behind) = place(packet);
  list.last = place(packet);
}

// Among the lost ones, of which it is one.
void Scoreboard::put_first(PacketNumber packet) {
  remove(packet);
  Entry& entry = at(packet);
  entry.before = kNone;
  entry.behind = lost_.first;
  (lost_.first == kNone ? lost_.last : entries_[lost_.first].before) = place(packet);
  lost_.first = place(packet);
}

void Scoreboard::remove(PacketNumber packet) { remove_run(packet, packet); }

void Scoreboard::remove_run(PacketNumber first, PacketNumber last) {
  List& list = list_of(at(first));
  const std::uint32_t before = at(first).before;
  const std::uint32_t behind = at(last).behind;
  (before == kNone ? list.first : entries_[before].behind) = behind;
  (behind == kNone ? list.last : entries_[behind].before) = before;
}

void Scoreboard::move_to(PacketNumber packet, State state) {
  disorder_end_ = high_;
  remove(packet);
  append(packet, state);
}

Scoreboard::Arrival Scoreboard::arrival_of(PacketNumber packet) const {
  const Entry& entry = at(packet);
  Arrival arrival{packet, entry.order, entry.again, entry.sent_at};
  if (entry.again) {
    arrival.again_at = entry.sent_at;
    arrival.again_order = entry.order;
  } else if (entry.late == Entry::Late::no) {
    arrival.lowest_once = packet;
  }
  return arrival;
}

void Scoreboard::become_exact() {
  if (exact_) return;
  exact_ = true;
  under_way_ = sent_again_ = postponed_ = lost_ = {};
  tracked_end_ = base_;
  disorder_end_ = high_;
  add_entries();
}

// For packets that were sent and have come near enough. All of them were sent once, after all others.
void Scoreboard::add_entries() {
  const PacketNumber end = std::min(high_, base_ + ring_size());
  for (; tracked_end_ < end; tracked_end_ = tracked_end_ + 1) {
    at(tracked_end_) = {.order = next_order_ - (high_ - tracked_end_),
                        .sent_at = {},
                        .before = kNone,
                        .behind = kNone,
                        .state = State::under_way,
                        .again = false,
                        .late = Entry::Late::no};
    append(tracked_end_, State::under_way);
  }
}

void Scoreboard::forget_entries_if_in_order() {
  if (base_ < disorder_end_) return;
  exact_ = false;
  under_way_ = sent_again_ = postponed_ = lost_ = {};
}

}  // namespace urnic::transport
