#include "device_model/link/membership/group_membership.hpp"

#include <algorithm>

#include "wire/network_headers.hpp"

namespace urnic::link {
namespace {

using wire::MembershipChange;
using wire::MembershipVersion;

constexpr int kRobustness = 2;                                    // RFC 3376 8.1
constexpr transport::Nanoseconds kBetweenReports{1'000'000'000};  // Unsolicited Report Interval, 8.11
// Older Version Querier Present Timeout, with the default query interval (8.12).
constexpr transport::Nanoseconds kOlderVersionHeard{260'000'000'000};

bool is_ipv6(const wire::Gid& group) { return !wire::is_ipv4_mapped(group); }

// Everybody is in these groups, and says so to nobody (RFC 3376 6, RFC 3810 6).
bool is_silent(const wire::Gid& group) {
  const auto& bytes = group.bytes;
  if (!is_ipv6(group)) return bytes[12] == 224 && bytes[13] == 0 && bytes[14] == 0 && bytes[15] == 1;
  constexpr wire::Gid kAllNodes{{0xFF, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  return (bytes[1] & 0x0F) < 2 || group == kAllNodes;
}

}  // namespace

void GroupMembership::change(Entry& entry, bool is_member) {
  entry.is_member = is_member;
  entry.changes_left = kRobustness;
  entry.change_due = {};
}

void GroupMembership::set_members(const std::vector<GroupMember>& members) {
  {
    const std::lock_guard lock(mutex_);
    std::map<Key, wire::Gid> wanted;
    for (const GroupMember& member : members)
      if (!is_silent(member.group)) wanted.emplace(Key{member.mac, member.group}, member.source);
    for (auto& [key, entry] : entries_)
      if (entry.is_member && !wanted.contains(key)) change(entry, false);
    for (const auto& [key, source] : wanted) {
      const auto [at, is_new] = entries_.try_emplace(key);
      at->second.source = source;
      if (is_new || !at->second.is_member) change(at->second, true);
    }
    note_due();
    if (due_.load() > transport::Time{}) return;
  }
  wake_();
}

std::size_t GroupMembership::members() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::count_if(entries_.begin(), entries_.end(),
                                                [](const auto& entry) { return entry.second.is_member; }));
}

transport::Time GroupMembership::due_of(const Entry& entry) const {
  return entry.changes_left != 0 ? std::min(entry.change_due, entry.answer_due) : entry.answer_due;
}

void GroupMembership::note_due() {
  transport::Time next = kNever;
  for (const auto& [key, entry] : entries_) next = std::min(next, due_of(entry));
  due_.store(next);
}

std::optional<transport::Time> GroupMembership::next_due() const {
  const transport::Time due = due_.load();
  return due == kNever ? std::nullopt : std::optional(due);
}

transport::Nanoseconds GroupMembership::random_up_to(transport::Nanoseconds most) {
  return transport::Nanoseconds(
      std::uniform_int_distribution<std::int64_t>(0, std::max<std::int64_t>(most.count(), 0))(random_));
}

// A host answers for all its groups at one random time (RFC 3376 5.2).
bool GroupMembership::receive(std::span<const std::byte> frame, transport::Time now) {
  const auto query = wire::parse_membership_query(frame);
  if (!query) return false;
  const std::lock_guard lock(mutex_);
  Family& family = families_[query->ipv6 ? 1 : 0];
  if (query->version < MembershipVersion::igmp3_mld2) {
    family.version = query->version;
    family.version_until = now + kOlderVersionHeard;
  }
  const wire::MacAddress* host = nullptr;
  transport::Time when{};
  for (auto& [key, entry] : entries_) {
    if (!entry.is_member || is_ipv6(key.group) != query->ipv6) continue;
    if (query->group != wire::Gid{} && query->group != key.group) continue;
    if (host == nullptr || *host != key.mac) when = now + random_up_to(query->response_time);
    host = &key.mac;
    entry.answer_due = std::min(entry.answer_due, when);
  }
  note_due();
  return true;
}

// What the entry has to report now. A report of a change answers a query, too.
std::optional<MembershipChange> GroupMembership::take_due(Entry& entry, transport::Time now) {
  if (due_of(entry) > now) return {};
  entry.answer_due = kNever;
  if (entry.changes_left == 0) return MembershipChange::is_member;
  --entry.changes_left;
  entry.change_due = now + random_up_to(kBetweenReports);
  return entry.is_member ? MembershipChange::joins : MembershipChange::leaves;
}

GroupMembership::Reports GroupMembership::run(transport::Time now) {
  Reports reports;
  if (due_.load() > now) return reports;
  const std::lock_guard lock(mutex_);
  std::vector<wire::MembershipRecord> records;
  const Key* key = nullptr;  // of the records' host
  wire::Gid source;
  for (auto& [next, entry] : entries_) {
    const auto change = take_due(entry, now);
    if (!change) continue;
    const bool other_report = key != nullptr && (key->mac != next.mac || source != entry.source ||
                                                 records.size() == wire::kMostMembershipRecords);
    if (other_report) {
      report(key->mac, source, records, now, reports);
      records.clear();
    }
    key = &next;
    source = entry.source;
    records.push_back({*change, next.group});
  }
  if (key != nullptr) report(key->mac, source, records, now, reports);
  std::erase_if(entries_,
                [](const auto& entry) { return !entry.second.is_member && entry.second.changes_left == 0; });
  note_due();
  return reports;
}

void GroupMembership::report(const wire::MacAddress& mac, const wire::Gid& source,
                             const std::vector<wire::MembershipRecord>& records, transport::Time now,
                             Reports& reports) {
  const Family& family = families_[is_ipv6(records.front().group) ? 1 : 0];
  if (family.version == MembershipVersion::igmp3_mld2 || family.version_until <= now) {
    reports.push_back(wire::encode_membership_report(mac, source, records));
    return;
  }
  for (const wire::MembershipRecord& record : records) {
    auto old = wire::encode_old_membership_report(mac, source, record, family.version);
    if (!old.empty()) reports.push_back(std::move(old));
  }
}

}  // namespace urnic::link
