// A host's part of IGMP (RFC 3376, with RFC 2236 and RFC 1112 for older routers) and MLD (RFC 3810, RFC
// 2710): reports at joining and leaving, and answers to queries. Each device is a host.
#pragma once

#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "device_model/transport/time.hpp"
#include "wire/group_membership.hpp"
#include "wire/identifiers.hpp"

namespace urnic::link {

// A device that listens to a group.
struct GroupMember {
  wire::MacAddress mac;
  wire::Gid group;
  wire::Gid source;  // the device's address of the group's family, for IPv6 a link-local one
};

class GroupMembership {
 public:
  // `wake` is called when reports wait: it makes the engine call `run`. `seed` spreads answers over time.
  explicit GroupMembership(std::function<void()> wake, std::uint32_t seed = 1)
      : wake_(std::move(wake)), random_(seed) {}

  // Control thread. Replaces all memberships; what is new or gone is reported.
  void set_members(const std::vector<GroupMember>& members);
  std::size_t members() const;

  // Engine thread. A frame from the network; false if it is no query.
  bool receive(std::span<const std::byte> frame, transport::Time now);
  // The reports that are due, as frames.
  std::vector<std::vector<std::byte>> run(transport::Time now);
  // When `run` has something to do.
  std::optional<transport::Time> next_due() const;

 private:
  struct Key {
    wire::MacAddress mac;
    wire::Gid group;
    friend bool operator==(const Key&, const Key&) = default;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Entry {
    wire::Gid source;
    bool is_member = true;
    int changes_left = 0;  // reports of the last change
    transport::Time change_due{};
    transport::Time answer_due = transport::Time::max();
  };
  struct Family {
    wire::MembershipVersion version = wire::MembershipVersion::igmp3_mld2;
    transport::Time version_until{};  // an older router was heard
  };
  using Reports = std::vector<std::vector<std::byte>>;

  static constexpr transport::Time kNever = transport::Time::max();

  transport::Time due_of(const Entry& entry) const;
  void change(Entry& entry, bool is_member);
  std::optional<wire::MembershipChange> take_due(Entry& entry, transport::Time now);
  void report(const wire::MacAddress& mac, const wire::Gid& source,
              const std::vector<wire::MembershipRecord>& records, transport::Time now, Reports& reports);
  transport::Nanoseconds random_up_to(transport::Nanoseconds most);
  void note_due();

  const std::function<void()> wake_;
  mutable std::mutex mutex_;  // of all below but due_; no data packet takes it
  std::minstd_rand random_;
  std::map<Key, Entry> entries_;
  std::array<Family, 2> families_;  // IPv4, IPv6
  std::atomic<transport::Time> due_{kNever};
};

}  // namespace urnic::link
