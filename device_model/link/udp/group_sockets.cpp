#include "device_model/link/udp/group_sockets.hpp"

#include <sys/epoll.h>

#include "device_model/link/udp/multicast_socket.hpp"
#include "device_model/memory/checked_call.hpp"
#include "wire/network_headers.hpp"

namespace urnic::link {
GroupSockets::GroupSockets(const wire::Gid& group)
    : group_(group), wake_(memory::checked(epoll_create1(EPOLL_CLOEXEC), "multicast group: epoll_create1")) {}

std::uint32_t GroupSockets::scope_on(std::uint32_t interface) const {
  return wire::needs_interface(group_) ? interface : 0;
}

void GroupSockets::join_on(const std::set<std::uint32_t>& interfaces) {
  std::map<std::uint32_t, std::set<std::uint32_t>> wanted;
  for (const std::uint32_t interface : interfaces) wanted[scope_on(interface)].insert(interface);
  std::erase_if(members_, [&](const auto& member) { return !wanted.contains(member.first); });
  for (const auto& [scope, on] : wanted) {
    auto member = members_.find(scope);
    if (member == members_.end()) member = members_.emplace(scope, open(scope)).first;
    join_on(member->second, on);
  }
}

GroupSockets::Member GroupSockets::open(std::uint32_t scope) const {
  Member opened{open_group_socket(group_, scope, wire::kRocePort), {}};
  epoll_event event{.events = EPOLLIN, .data = {.u32 = scope}};
  memory::checked(epoll_ctl(wake_.get(), EPOLL_CTL_ADD, opened.socket.get(), &event),
                  "multicast group: epoll_ctl");
  return opened;
}

void GroupSockets::join_on(Member& member, const std::set<std::uint32_t>& interfaces) const {
  std::erase_if(member.interfaces, [&](std::uint32_t joined) {
    if (interfaces.contains(joined)) return false;
    leave_group(member.socket.get(), group_, joined);
    return true;
  });
  for (const std::uint32_t interface : interfaces) {
    if (member.interfaces.contains(interface)) continue;
    join_group(member.socket.get(), group_, interface);
    member.interfaces.insert(interface);
  }
}

}  // namespace urnic::link
