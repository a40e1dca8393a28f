// Which multicast groups an adapter's port has joined (IBTA 15.2.5.17). The subnet manager knows a port once
// in each group, whoever joins there; so all members of one port share a membership, as by Linux's
// multicast.c.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "device_model/subnet/administration/client.hpp"

namespace urnic::subnet::administration {

using wire::mad::MulticastMemberRecord;

// What the manager is asked for when a port joins.
struct MembershipRequest {
  MulticastMemberRecord record;
  wire::mad::ComponentMask components = 0;  // what of the record counts: its group, port and join state do
};

class Memberships;

// A member of a group; its end leaves the group.
class Membership {
 public:
  Membership() = default;
  Membership(Membership&& other) noexcept
      : memberships_(std::exchange(other.memberships_, nullptr)), number_(other.number_) {}
  Membership& operator=(Membership&& other) noexcept {
    std::swap(memberships_, other.memberships_);
    std::swap(number_, other.number_);
    return *this;
  }
  ~Membership();

  // The group as the manager has described it last, also when it has joined again (join_again); null: it has
  // not, or the membership is lost. Until anything happens to memberships.
  const MulticastMemberRecord* group() const;

 private:
  friend class Memberships;
  Membership(Memberships& memberships, std::uint64_t number) : memberships_(&memberships), number_(number) {}

  Memberships* memberships_ = nullptr;  // which outlives it
  std::uint64_t number_ = 0;
};

class Memberships {
 public:
  using Clock = std::function<Time()>;
  // What a member costs who has joined, for example as a charge: it goes with the last share of it.
  using Held = std::shared_ptr<const void>;
  // The group as the manager knows it, if it has answered.
  using Joined = std::function<void(Outcome, const MulticastMemberRecord& group)>;

  // `client` outlives it.
  Memberships(Client& client, Clock now) : client_(client), now_(std::move(now)) {}
  Memberships(const Memberships&) = delete;
  Memberships& operator=(const Memberships&) = delete;

  // Joins the adapter's port to the group of `wanted`; the manager makes the group if nobody has, and if the
  // components are enough for it. A group of zeros is a new one, which the manager names. Calls `joined`
  // once, perhaps before it returns, and once more if the membership is lost later (join_again); not if it
  // has ended before. Who asks for another Q_Key or P_Key than the group has is refused. `joined` may
  // join, and end memberships. `held` is kept until the member has ended, and as long after that as its group
  // is only here for the manager's answers.
  [[nodiscard]] Membership join(NodeIndex adapter, const MembershipRequest& wanted, Held held, Joined joined);

  // Joins all of the adapter's groups again: its manager has forgotten them, or is another one
  // (IBTA 14.4.11, PortInfo.ClientReregister). A manager that refuses may be busy yet: it is asked again
  // after pauses of 1, 2, 4 up to 32 s. Members are told only when that has not helped either.
  void join_again(NodeIndex adapter);

  // Groups in which a port is, or is about to be or not to be.
  std::size_t groups() const { return groups_.size(); }

 private:
  friend class Membership;
  struct Member {
    std::uint64_t number = 0;
    MembershipRequest wanted;
    Held held;
    Joined joined;
    bool has_joined = false;  // and was told
  };
  // Adapter, group; the number of the first member where the manager is to name the group, else 0.
  using Key = std::tuple<NodeIndex, wire::Gid, std::uint64_t>;
  enum class Progress : std::uint8_t { idle, asking, pausing };
  struct Group {
    std::list<Member> members;
    Held held;                     // of the last member, while there is none
    std::uint8_t state = 0;        // as what the manager knows the port: bits of a join state
    MulticastMemberRecord record;  // as it has answered
    Query query;                   // a request, or a pause
    Progress progress = Progress::idle;
    unsigned pauses = 0;  // that are over, since members that had joined are to join again
  };
  using Place = std::map<Key, Group>::iterator;

  static bool may_join(const Group& group, const MembershipRequest& wanted);
  std::list<Member> take_strangers(Group& group);
  const MulticastMemberRecord* group_of(std::uint64_t number) const;
  void leave(std::uint64_t number);
  void proceed(const Key& key);
  void pause(Place place);
  static void end_pause(Group& group);
  void ask(Place place, wire::mad::Method method, std::uint8_t state);
  void answered(const Key& key, wire::mad::Method method, std::uint8_t state, Outcome outcome,
                const Mad& mad);
  // Tells all who wait for nothing more, or all whom a failed request has lost.
  void tell_joined(const Key& key);
  void tell_failed(const Key& key, Outcome outcome);

  Client& client_;
  Clock now_;
  std::uint64_t last_number_ = 0;
  std::map<Key, Group> groups_;
  std::map<std::uint64_t, Key> keys_;  // by member
};

}  // namespace urnic::subnet::administration
