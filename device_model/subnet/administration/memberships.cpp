#include "device_model/subnet/administration/memberships.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

namespace urnic::subnet::administration {
namespace {

using wire::mad::Method;

// Linux's for joining and leaving (multicast.c).
constexpr std::chrono::milliseconds kPatience{3000};
// Until members that had joined have not joined again: a minute in all.
constexpr std::chrono::seconds kFirstPause{1};
constexpr unsigned kPauses = 6;

constexpr wire::mad::ComponentMask kLeaveComponents = wire::mad::member_component::kGroup |
                                                      wire::mad::member_component::kPort |
                                                      wire::mad::member_component::kJoinState;

// The partition, without the bit that says whether the port is a full member there.
std::uint16_t partition(wire::Pkey pkey) { return static_cast<std::uint16_t>(pkey.value & 0x7FFF); }

// As far as these components say (Linux's cmp_rec). A manager names a group's P_Key with its highest bit,
// which the port's own may not have.
bool agree(const MulticastMemberRecord& one, const MulticastMemberRecord& other,
           wire::mad::ComponentMask components) {
  namespace component = wire::mad::member_component;
  return ((components & component::kQkey) == 0 || one.qkey == other.qkey) &&
         ((components & component::kPkey) == 0 || partition(one.pkey) == partition(other.pkey));
}

bool agree(const MembershipRequest& one, const MembershipRequest& other) {
  return agree(one.record, other.record, one.components & other.components);
}

}  // namespace

Membership::~Membership() {
  if (memberships_ != nullptr) memberships_->leave(number_);
}

Membership Memberships::join(NodeIndex adapter, const MembershipRequest& wanted, Held held, Joined joined) {
  const std::uint64_t number = ++last_number_;
  const wire::Gid& gid = wanted.record.group;
  const Key key{adapter, gid, gid == wire::Gid{} ? number : 0};
  Group& group = groups_[key];
  keys_.emplace(number, key);
  const bool fits = may_join(group, wanted);
  group.members.push_back({number, wanted, std::move(held), std::move(joined)});
  group.held = {};
  if (fits) {
    end_pause(group);
    proceed(key);
  } else {
    const Joined refused = std::move(group.members.back().joined);
    group.members.pop_back();
    keys_.erase(number);
    refused(Outcome::refused, wanted.record);
  }
  return Membership(*this, number);
}

// As long as the manager has not said what the group is like, by what the others have asked for. The first
// one after all have left asks for a group of its own.
bool Memberships::may_join(const Group& group, const MembershipRequest& wanted) {
  if (group.state != 0 && !group.members.empty())
    return agree(group.record, wanted.record, wanted.components);
  return std::all_of(group.members.begin(), group.members.end(),
                     [&](const Member& each) { return agree(each.wanted, wanted); });
}

const MulticastMemberRecord* Memberships::group_of(std::uint64_t number) const {
  const auto key = keys_.find(number);
  if (key == keys_.end()) return nullptr;
  const MulticastMemberRecord& record = groups_.at(key->second).record;
  return record.group != wire::Gid{} ? &record : nullptr;
}

const MulticastMemberRecord* Membership::group() const {
  return memberships_ != nullptr ? memberships_->group_of(number_) : nullptr;
}

void Memberships::leave(std::uint64_t number) {
  const auto key = keys_.extract(number);
  if (!key) return;
  Group& group = groups_.at(key.mapped());
  const auto member = std::find_if(group.members.begin(), group.members.end(),
                                   [&](const Member& each) { return each.number == number; });
  const Held held = std::move(member->held);
  group.members.erase(member);
  if (group.members.empty()) group.held = held;
  proceed(key.mapped());
}

void Memberships::join_again(NodeIndex adapter) {
  std::vector<Key> keys;
  for (auto& [key, group] : groups_) {
    if (std::get<0>(key) != adapter) continue;
    group.state = 0;
    group.pauses = 0;
    end_pause(group);
    keys.push_back(key);
  }
  for (const Key& key : keys) proceed(key);
}

// One request is under way at a time, so that the manager's last word is about the last request.
void Memberships::proceed(const Key& key) {
  const auto place = groups_.find(key);
  if (place == groups_.end() || place->second.progress == Progress::asking) return;
  Group& group = place->second;
  std::uint8_t needed = 0;
  for (const Member& member : group.members) needed |= member.wanted.record.join_state;
  const auto missing = static_cast<std::uint8_t>(needed & ~group.state);
  const auto surplus = static_cast<std::uint8_t>(group.state & ~needed);
  if (missing != 0 && group.progress == Progress::pausing) return;
  end_pause(group);
  if (missing != 0) return ask(place, Method::set, missing);
  if (surplus != 0) return ask(place, Method::delete_record, surplus);
  if (group.members.empty()) {
    groups_.erase(place);
  } else {
    tell_joined(key);
  }
}

void Memberships::ask(Place place, Method method, std::uint8_t state) {
  Group& group = place->second;
  const Key key = place->first;
  const bool joins = method == Method::set;
  MulticastMemberRecord record = joins ? group.members.front().wanted.record : group.record;
  if (group.record.group != wire::Gid{}) record.group = group.record.group;
  record.join_state = state;
  group.progress = Progress::asking;
  auto query = client_.ask(
      std::get<0>(key), method, joins ? group.members.front().wanted.components : kLeaveComponents, record,
      patience_for(kPatience), now_(), [this, key, method, state](Outcome outcome, const Mad& mad) {
        answered(key, method, state, outcome, mad);
      });
  if (query) {
    group.query = std::move(*query);
  } else {
    answered(key, method, state, Outcome::no_manager, Mad{});
  }
}

// A pause that a new member has cut short does not count: its request was one more.
void Memberships::pause(Place place) {
  Group& group = place->second;
  group.progress = Progress::pausing;
  group.query = client_.pause(kFirstPause * (1U << group.pauses), now_(),
                              [this, key = place->first](Outcome, const Mad&) {
                                Group& paused = groups_.at(key);
                                ++paused.pauses;
                                end_pause(paused);
                                proceed(key);
                              });
}

void Memberships::end_pause(Group& group) {
  if (group.progress != Progress::pausing) return;
  group.query = {};
  group.progress = Progress::idle;
}

// A port that nobody could tell has left, too: there is no more to do about it.
void Memberships::answered(const Key& key, Method method, std::uint8_t state, Outcome outcome,
                           const Mad& mad) {
  Group& group = groups_.at(key);
  group.progress = Progress::idle;
  if (method == Method::delete_record) {
    group.state = static_cast<std::uint8_t>(group.state & ~state);
    return proceed(key);
  }
  if (outcome != Outcome::answered) return tell_failed(key, outcome);
  group.pauses = 0;
  group.record = wire::mad::decode_record<MulticastMemberRecord>(mad);
  group.state = static_cast<std::uint8_t>(group.state | state);
  const std::list<Member> strangers = take_strangers(group);
  proceed(key);
  for (const Member& member : strangers) member.joined(Outcome::refused, member.wanted.record);
}

// Who is told may change everything here.
void Memberships::tell_joined(const Key& key) {
  std::vector<Joined> told;
  Group& group = groups_.at(key);
  for (Member& member : group.members)
    if (!std::exchange(member.has_joined, true)) told.push_back(member.joined);
  const MulticastMemberRecord record = group.record;
  for (const Joined& joined : told) joined(Outcome::answered, record);
}

// Those who waited for the manager's answer, and want the group to be otherwise.
std::list<Memberships::Member> Memberships::take_strangers(Group& group) {
  std::list<Member> strangers;
  for (auto next = group.members.begin(); next != group.members.end();) {
    const auto member = next++;
    if (member->has_joined || agree(group.record, member->wanted.record, member->wanted.components)) continue;
    keys_.erase(member->number);
    strangers.splice(strangers.end(), group.members, member);
  }
  if (group.members.empty() && !strangers.empty()) group.held = strangers.back().held;
  return strangers;
}

// Members that had joined wait for the next request, unless there have been enough.
void Memberships::tell_failed(const Key& key, Outcome outcome) {
  std::list<Member> failed;
  const auto place = groups_.find(key);
  Group& group = place->second;
  const auto is_missing = [&](const Member& member) {
    return (member.wanted.record.join_state & ~group.state) != 0;
  };
  const bool is_last = group.pauses == kPauses;
  for (auto next = group.members.begin(); next != group.members.end();) {
    const auto member = next++;
    if (!is_missing(*member) || (member->has_joined && !is_last)) continue;
    keys_.erase(member->number);
    failed.splice(failed.end(), group.members, member);
  }
  if (group.members.empty() && !failed.empty()) group.held = failed.back().held;
  if (std::any_of(group.members.begin(), group.members.end(), is_missing)) {
    pause(place);
  } else {
    group.pauses = 0;
    proceed(key);
  }
  for (const Member& member : failed) member.joined(outcome, member.wanted.record);
}

}  // namespace urnic::subnet::administration
