// Two ends and a wire between them that loses, doubles, delays and damages MADs as a seed says, under virtual
// time: the same seed gives the same run. An end's timers run only when it has asked for them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <stdexcept>
#include <vector>

#include "device_model/cm/sender.hpp"
#include "tests/unit/cm/end.hpp"

namespace urnic::cm::test {

// Chances in thousandths.
struct Faults {
  std::uint32_t lose = 0;
  std::uint32_t duplicate = 0;
  std::uint32_t delay = 0;   // up to a second, so others overtake it
  std::uint32_t damage = 0;  // a random bit of the MAD
};

struct WireSetup {
  std::uint64_t seed = 1;
  Faults faults{};
  std::uint32_t connections = 65536;  // Settings::connections of both ends
};

inline constexpr Nanoseconds kWireDelay = 10us;
inline constexpr ServiceId kService{0x01060000u + 7174};

class FakeWire {
 public:
  explicit FakeWire(const WireSetup& setup = WireSetup{});

  // Delivers MADs and runs timers up to this time from now on.
  void run(Nanoseconds span);
  // Until nothing is under way: neither MADs nor timers.
  void run_until_quiet();
  // Long enough for every MAD under way and its answers, too short for any timer.
  void settle() { run(100us); }
  // Calls `action` at `time`.
  void at(Time time, std::function<void()> action) { actions_.emplace(time, std::move(action)); }

  // The message with which `end` would receive this MAD.
  void put(End& to, const SentMad& mad) { flights_.emplace(now + kWireDelay, Flight{&to, mad}); }

  Time now{};
  Faults faults;
  // MADs for which this is true are lost.
  std::function<bool(const End& to, const Mad& mad)> loses = [](const End&, const Mad&) { return false; };
  End left;
  End right;
  // Every MAD that left, in order.
  std::vector<Mad> sent;

 private:
  struct Flight {
    End* to;
    SentMad mad;
  };
  std::optional<Time> next() const;
  bool step(Time limit);
  void fly(End& to, const SentMad& mad);
  void deliver(const Flight& flight);
  bool chance(std::uint32_t thousandths) { return random_() % 1000 < thousandths; }

  std::mt19937_64 random_;
  std::multimap<Time, Flight> flights_;
  std::multimap<Time, std::function<void()>> actions_;
};

// What kind of message a MAD is; it must be one.
Message kind_of(const Mad& mad);
// The MAD as a message, which it must be.
template <class T>
T read(const Mad& mad) {
  T message;
  if (decode(mad, message) != MadError::none) throw std::logic_error("not the message expected");
  return message;
}

// The last message of this kind that left.
template <class T>
T last(const FakeWire& wire) {
  const auto found = std::find_if(wire.sent.rbegin(), wire.sent.rend(),
                                  [](const Mad& mad) { return kind_of(mad) == message_of(T::kAttribute); });
  if (found == wire.sent.rend()) throw std::logic_error("no such message was sent");
  return read<T>(*found);
}

}  // namespace urnic::cm::test
