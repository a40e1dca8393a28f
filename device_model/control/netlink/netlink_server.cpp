#include "device_model/control/netlink/netlink_server.hpp"

#include <sys/socket.h>

#include <utility>

namespace urnic::control::netlink {

NetlinkServer::NetlinkServer(EventLoop& loop, DescriptorDisposal& disposal, Fabric& fabric,
                             const ContextRegistry& contexts, const std::filesystem::path& socket,
                             const std::filesystem::path& sysfs)
    : nodes_(sysfs),
      surroundings_{loop, disposal, {fabric, contexts, nodes_}},
      listener_(loop, disposal, socket, SOCK_SEQPACKET,
                [this](memory::Descriptor connection) { open(std::move(connection)); }) {}

NetlinkServer::~NetlinkServer() = default;

void NetlinkServer::open(memory::Descriptor socket) {
  const std::uint64_t number = next_file_++;
  files_.emplace(number, std::make_unique<NetlinkFile>(surroundings_, std::move(socket),
                                                       [this, number] { files_.erase(number); }));
}

}  // namespace urnic::control::netlink
