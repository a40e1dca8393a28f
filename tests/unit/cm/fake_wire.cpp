#include "tests/unit/cm/fake_wire.hpp"

#include <algorithm>
#include <utility>

namespace urnic::cm::test {

Message kind_of(const Mad& mad) {
  CmMessage message;
  if (decode(mad, message) != MadError::none) throw std::logic_error("no message of the CM");
  return static_cast<Message>(message.index());
}

FakeWire::FakeWire(const WireSetup& setup)
    : faults(setup.faults),
      left(1, {setup.seed * 2, setup.connections}),
      right(2, {setup.seed * 2 + 1, setup.connections}),
      random_(setup.seed) {
  left.on_send = [this](const SentMad& mad) { fly(right, mad); };
  right.on_send = [this](const SentMad& mad) { fly(left, mad); };
}

void FakeWire::fly(End& to, const SentMad& mad) {
  sent.push_back(mad.mad);
  // What an end sends to its own GID comes back to it.
  End& receiver = mad.address.peer == left.gid() ? left : mad.address.peer == right.gid() ? right : to;
  if (chance(faults.lose) || loses(receiver, mad.mad)) return;
  for (int copies = chance(faults.duplicate) ? 2 : 1; copies > 0; --copies) {
    SentMad arriving = mad;
    std::swap(arriving.address.own, arriving.address.peer);
    if (chance(faults.damage)) {
      arriving.mad[random_() % kMadBytes] ^= static_cast<std::byte>(1u << random_() % 8);
    }
    const Nanoseconds delay = chance(faults.delay) ? Nanoseconds(random_() % 1'000'000'000) : kWireDelay;
    flights_.emplace(now + delay, Flight{&receiver, arriving});
  }
}

void FakeWire::deliver(const Flight& flight) {
  flight.to->manager.receive(flight.mad.device, flight.mad.address, flight.mad.mad, now);
}

std::optional<Time> FakeWire::next() const {
  std::optional<Time> earliest;
  const auto consider = [&](Time time) { earliest = earliest ? std::min(*earliest, time) : time; };
  if (!flights_.empty()) consider(flights_.begin()->first);
  if (!actions_.empty()) consider(actions_.begin()->first);
  for (const End* end : {&left, &right}) {
    if (end->wake) consider(*end->wake);
  }
  return earliest;
}

bool FakeWire::step(Time limit) {
  const std::optional<Time> time = next();
  if (!time || *time > limit) return false;
  now = std::max(now, *time);
  if (!actions_.empty() && actions_.begin()->first <= now) {
    const auto action = std::move(actions_.begin()->second);
    actions_.erase(actions_.begin());
    action();
    return true;
  }
  if (!flights_.empty() && flights_.begin()->first <= now) {
    const Flight flight = flights_.begin()->second;
    flights_.erase(flights_.begin());
    deliver(flight);
    return true;
  }
  for (End* end : {&left, &right}) {
    if (!end->wake || *end->wake > now) continue;
    end->wake.reset();
    end->manager.expire(now);
  }
  return true;
}

void FakeWire::run(Nanoseconds span) {
  const Time end = now + span;
  while (step(end)) {
  }
  now = end;
}

void FakeWire::run_until_quiet() {
  while (step(Time::max())) {
  }
}

}  // namespace urnic::cm::test
