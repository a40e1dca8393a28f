// The broadcast groups of IP over InfiniBand (RFC 4391, 5), whose Q_Key and path the port space IPOIB has. On
// Linux a network interface is in its group as long as it is up (ib_ipoib). Here a device joins when a
// program uses the port space there for the first time, and stays.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "device_model/control/rdma_cm/id.hpp"
#include "device_model/control/rdma_cm/local_addresses.hpp"
#include "device_model/subnet/administration/memberships.hpp"
#include "wire/mad/identifiers.hpp"

namespace urnic::control::rdma_cm {

class BroadcastGroups {
 public:
  // Fabric and memberships outlive it. `exists` says whether the subnet manager answers such requests.
  BroadcastGroups(const Fabric& fabric, subnet::administration::Memberships& memberships,
                  std::function<bool()> exists)
      : fabric_(fabric), memberships_(memberships), exists_(std::move(exists)) {}

  // The InfiniBand device joins, unless it has, or is about to. Where the manager has refused it, or was
  // silent, it asks again.
  void join(const ServedDevice& device);
  // All of them, for a listener on any address.
  void join_all();
  // The adapter's port has a manager, perhaps for the first time: its device asks again if it should be in
  // its group, and is not.
  void ask(subnet::NodeIndex adapter);

  // Whether the manager has not answered the device yet.
  bool is_asked(const ServedDevice& device) const;
  // The device's group; null: it is in none.
  const wire::mad::MulticastMemberRecord* find(const ServedDevice& device) const;

 private:
  enum class Progress : std::uint8_t { idle, asked, joined };
  struct Group {
    Progress progress = Progress::idle;
    subnet::administration::Membership membership;
  };
  const Group* group_of(const ServedDevice& device) const;

  const Fabric& fabric_;
  subnet::administration::Memberships& memberships_;
  std::function<bool()> exists_;
  std::map<subnet::NodeIndex, Group> groups_;  // of devices where a program has used the port space
};

// The Q_Key of the identifier's datagrams unless the programs agree on another one (Linux's
// cma_set_default_qkey). Empty: that of a group that its device is not in, which is EADDRNOTAVAIL. It has a
// device.
std::optional<wire::mad::Qkey> default_qkey(const BroadcastGroups& groups, const Id& id);

}  // namespace urnic::control::rdma_cm
