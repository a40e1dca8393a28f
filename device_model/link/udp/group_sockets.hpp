// The sockets by which a port is a member of one multicast group of the host.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "device_model/memory/descriptor.hpp"
#include "wire/identifiers.hpp"

namespace urnic::link {

class GroupSockets {
 public:
  // A member on no interface yet. Throws std::system_error.
  explicit GroupSockets(const wire::Gid& group);

  const wire::Gid& group() const { return group_; }
  // Readable when datagrams have come to any of the sockets.
  int wake_descriptor() const { return wake_.get(); }
  // A member on these interfaces, by their indexes, and on no others. Throws std::system_error with a
  // sentence: one cannot be joined; those before it are.
  void join_on(const std::set<std::uint32_t>& interfaces);

  template <typename Visit>
  void for_each_socket(Visit visit) const {
    for (const auto& [scope, member] : members_) visit(member.socket.get());
  }

 private:
  struct Member {
    memory::Descriptor socket;
    std::set<std::uint32_t> interfaces;  // where it is joined
  };

  // The interface to which a socket for `interface` is bound; 0: to none, one socket serves all interfaces.
  std::uint32_t scope_on(std::uint32_t interface) const;
  Member open(std::uint32_t scope) const;
  void join_on(Member& member, const std::set<std::uint32_t>& interfaces) const;

  wire::Gid group_;
  memory::Descriptor wake_;
  std::map<std::uint32_t, Member> members_;  // by their scopes
};

}  // namespace urnic::link
