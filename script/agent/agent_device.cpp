#include "script/agent/agent_device.hpp"

#include <arpa/inet.h>
#include <fcntl.h>

#include <cerrno>
#include <cstring>

namespace urnic::script {
namespace {

constexpr std::uint8_t kPort = 1;

ibv_gid parse_gid(const std::string& text) {
  ibv_gid gid{};
  if (inet_pton(AF_INET6, text.c_str(), gid.raw) != 1)
    throw std::runtime_error(text + " is no GID: one is an IPv6 address, such as ::ffff:192.0.2.1");
  return gid;
}

ibv_context* open_device(const std::string& name) {
  int count = 0;
  ibv_device** const list = ibv_get_device_list(&count);
  ibv_context* context = nullptr;
  for (int i = 0; i < count; ++i)
    if (name == ibv_get_device_name(list[i])) context = ibv_open_device(list[i]);
  if (list != nullptr) ibv_free_device_list(list);
  if (context == nullptr) throw std::runtime_error("there is no device " + name + ", or it cannot be opened");
  return context;
}

// On Ethernet a GID is there once for each version of RoCE.
std::uint8_t index_of(ibv_context* context, const AgentAddresses& addresses) {
  const ibv_gid wanted = parse_gid(addresses.gid);
  const std::uint32_t type = addresses.peer_lid != 0 ? IBV_GID_TYPE_IB : IBV_GID_TYPE_ROCE_V2;
  ibv_gid_entry entry{};
  for (std::uint32_t index = 0; index < 256; ++index) {
    if (ibv_query_gid_ex(context, kPort, index, &entry, 0) != 0) continue;
    if (entry.gid_type == type && std::memcmp(entry.gid.raw, wanted.raw, sizeof wanted.raw) == 0)
      return static_cast<std::uint8_t>(index);
  }
  throw std::runtime_error("the device has no GID " + addresses.gid +
                           (addresses.peer_lid != 0 ? " of InfiniBand" : " for RoCE v2"));
}

std::uint16_t checked_lid(unsigned lid) {
  constexpr unsigned kLastUnicast = 0xBFFF;
  if (lid > kLastUnicast) throw std::runtime_error(std::to_string(lid) + " is no port's LID: 1 to 49151 are");
  return static_cast<std::uint16_t>(lid);
}

// The errors with which verbs refuse a call. The C library has names of all since version 2.32 only.
std::string name_of(int error) {
  switch (error) {
    case EAGAIN:
      return "EAGAIN";
    case EBUSY:
      return "EBUSY";
    case EFAULT:
      return "EFAULT";
    case EINVAL:
      return "EINVAL";
    case EIO:
      return "EIO";
    case ENODEV:
      return "ENODEV";
    case ENOENT:
      return "ENOENT";
    case ENOMEM:
      return "ENOMEM";
    case ENOSPC:
      return "ENOSPC";
    case EOPNOTSUPP:
      return "EOPNOTSUPP";
    case EPERM:
      return "EPERM";
    case ETIMEDOUT:
      return "ETIMEDOUT";
    default:
      return "error " + std::to_string(error);
  }
}

}  // namespace

void refuse(int error, const std::string& what) { throw CallRefused(name_of(error) + ": " + what); }

AgentDevice::AgentDevice(const AgentAddresses& addresses)
    : context_(open_device(addresses.device)),
      pd_(ibv_alloc_pd(context())),
      channel_(ibv_create_comp_channel(context())),
      peer_(parse_gid(addresses.peer)),
      peer_lid_(checked_lid(addresses.peer_lid)),
      gid_index_(index_of(context(), addresses)) {
  if (pd_ == nullptr || channel_ == nullptr) throw std::runtime_error("the device's objects cannot be made");
  for (const int descriptor : {context_->async_fd, channel_->fd})
    fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

ibv_xrcd* AgentDevice::xrc_domain() {
  if (xrc_domain_ == nullptr) {
    ibv_xrcd_init_attr attributes{};
    attributes.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
    attributes.fd = -1;
    attributes.oflags = O_CREAT;
    xrc_domain_.reset(ibv_open_xrcd(context(), &attributes));
    if (xrc_domain_ == nullptr) refuse(errno, "ibv_open_xrcd");
  }
  return xrc_domain_.get();
}

ibv_ah_attr AgentDevice::path(const Call& call) const {
  ibv_ah_attr path{};
  path.is_global = 1;
  if (peer_lid_ != 0) {
    path.dlid = peer_lid_;
    path.sl = static_cast<std::uint8_t>(call.number("sl"));
    path.is_global = call.number("grh") != 0;
  }
  path.port_num = kPort;
  path.grh.dgid = peer_;
  path.grh.sgid_index = gid_index_;
  path.grh.hop_limit = 64;
  return path;
}

}  // namespace urnic::script
