// Which Ethernet address has which GID, how sure that is, and whom to ask when: the states of RFC 4861 7.3.2,
// for ARP too. Without frames, clock or threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "device_model/link/neighbours.hpp"
#include "device_model/transport/time.hpp"
#include "wire/identifiers.hpp"

namespace urnic::link {

struct NeighbourTimes {
  int tries = 3;                                      // MAX_MULTICAST_SOLICIT, MAX_UNICAST_SOLICIT
  transport::Nanoseconds retry{1'000'000'000};        // RetransTimer
  transport::Nanoseconds reachable{30'000'000'000};   // REACHABLE_TIME
  transport::Nanoseconds unreachable{1'000'000'000};  // how long a failure is remembered
};

class NeighbourTable {
 public:
  static constexpr std::size_t kMostEntries = 1024;

  enum class State : std::uint8_t {
    incomplete,   // asked, and no address is known
    reachable,    // confirmed lately
    stale,        // not confirmed for a while; used, and confirmed at the next use
    probe,        // as stale, and asked
    unreachable,  // nobody answered
  };
  struct Entry {
    State state = State::incomplete;
    wire::MacAddress mac;
    int tries_left = 0;
    transport::Time due{};  // the next try, or the state's end; stale: never
  };
  // A question to send: to `mac` alone, or to all.
  struct Question {
    wire::Gid gid;
    std::optional<wire::MacAddress> mac;
  };

  explicit NeighbourTable(const NeighbourTimes& times = {}) : times_(times) {}

  // What is known of `gid`; begins to ask if there is a need. The questions come out of `take_questions`.
  Neighbour look_up(const wire::Gid& gid, transport::Time now);

  // `gid` has `mac`. `solicited`: an answer to a question, which confirms the entry. `add`: makes an entry if
  // there is none. `overrides`: replaces another address.
  struct News {
    bool solicited = false;
    bool add = false;
    bool overrides = true;
  };
  void hear(const wire::Gid& gid, const wire::MacAddress& mac, const News& news, transport::Time now);

  // The questions that are due; changes states whose time is over.
  std::vector<Question> take_questions(transport::Time now);
  // When `take_questions` has something to do.
  std::optional<transport::Time> next_due() const;

  const std::map<wire::Gid, Entry>& entries() const { return entries_; }

 private:
  void ask(Entry& entry, State state, transport::Time now);
  void confirm(Entry& entry, const wire::MacAddress& mac, transport::Time now);
  Entry* add(const wire::Gid& gid);

  NeighbourTimes times_;
  std::map<wire::Gid, Entry> entries_;
};

}  // namespace urnic::link
