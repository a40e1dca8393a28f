// Two ends, each a queue pair with its surroundings, and the links between them, under virtual time: which
// event is next, and when. Everything follows from the links' seeds.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>

#include "device_model/transport/time.hpp"

namespace urnic::transport::bench {

// An `End` has a type `Link` (with next_arrival, take and free_at) and
//   arrive(packet, now)     a packet arrived
//   on_timer(now)           its deadline is reached
//   transmit(now)           its link is free: sends a packet, or several
//   settle(now)             after each of the above, or after several arrivals
//   wants_to_send()         whether to call `transmit`
//   deadline()              when to call `on_timer`; empty: never
template <class End>
class TwoEnds {
 public:
  using Link = typename End::Link;

  End& end(std::size_t side) { return *ends_[side]; }
  const End& end(std::size_t side) const { return *ends_[side]; }
  // The link from `side` to the other one.
  Link& link(std::size_t side) { return links_[side]; }

  Time time() const { return now_; }
  std::uint64_t events() const { return events_; }

 protected:
  TwoEnds(Link first, Link second) : links_{std::move(first), std::move(second)} {}

  enum class Step : std::uint8_t { done, later, quiet };
  // Carries out the next event up to `until`; of several at once first an arrival, then a timer, then a
  // transmission. `later`: the next event is after `until`, to which the clock moves. `quiet`: there is none.
  Step step(Time until) {
    const Event next = next_event();
    if (next.kind == Kind::none) return Step::quiet;
    if (next.time > until) {
      now_ = until;
      return Step::later;
    }
    events_at_once_ = next.time == now_ ? events_at_once_ + 1 : 0;
    if (events_at_once_ > 100'000) throw std::logic_error("time stands still: a queue pair asks without end");
    now_ = next.time;
    ++events_;
    carry_out(next);
    return Step::done;
  }

  std::array<Link, 2> links_;
  std::array<std::unique_ptr<End>, 2> ends_;  // made by the derived class
  Time now_{};
  bool timers_first_ = false;  // instead of arrivals
  Nanoseconds batch_{0};       // packets that arrive within this span are settled together

 private:
  enum class Kind : std::uint8_t { none, arrival, timer, transmission };
  struct Event {
    Kind kind = Kind::none;
    std::size_t side = 0;
    Time time = Time::max();

    void consider(Kind other, std::size_t where, std::optional<Time> when) {
      if (when && *when < time) *this = {other, where, *when};
    }
  };

  Event next_event() {
    Event next;
    if (timers_first_) consider_timers(next);
    for (std::size_t i = 0; i < 2; ++i) next.consider(Kind::arrival, 1 - i, links_[i].next_arrival());
    consider_timers(next);
    for (std::size_t i = 0; i < 2; ++i) {
      if (ends_[i]->wants_to_send())
        next.consider(Kind::transmission, i, std::max(now_, links_[i].free_at()));
    }
    return next;
  }

  void consider_timers(Event& next) {
    for (std::size_t i = 0; i < 2; ++i) {
      if (const auto deadline = ends_[i]->deadline())
        next.consider(Kind::timer, i, std::max(now_, *deadline));
    }
  }

  void carry_out(const Event& event) {
    End& end = *ends_[event.side];
    if (event.kind == Kind::arrival) {
      arrive(end, links_[1 - event.side]);
    } else if (event.kind == Kind::timer) {
      end.on_timer(now_);
    } else {
      end.transmit(now_);
    }
    end.settle(now_);
  }

  void arrive(End& end, Link& from) {
    const Time until = now_ + batch_;
    std::optional<Time> arrival = now_;
    do {
      now_ = std::max(now_, *arrival);
      end.arrive(from.take(), now_);
      arrival = from.next_arrival();
    } while (batch_.count() > 0 && arrival && *arrival <= until);
  }

  std::uint64_t events_ = 0;
  std::uint32_t events_at_once_ = 0;
};

}  // namespace urnic::transport::bench
