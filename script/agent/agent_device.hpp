// The device that an agent uses: its context, and the path between it and the script's port.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "script/call.hpp"

namespace urnic::script {

// A verbs call failed. what() begins with the error's name: "EINVAL: ibv_reg_mr".
struct CallRefused : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// Throws CallRefused with the name of `error`, a value of errno.
[[noreturn]] void refuse(int error, const std::string& what);

// Closes objects of verbs.
struct Closes {
  void operator()(ibv_context* object) const { ibv_close_device(object); }
  void operator()(ibv_pd* object) const { ibv_dealloc_pd(object); }
  void operator()(ibv_comp_channel* object) const { ibv_destroy_comp_channel(object); }
  void operator()(ibv_xrcd* object) const { ibv_close_xrcd(object); }
  void operator()(ibv_cq* object) const { ibv_destroy_cq(object); }
  void operator()(ibv_mr* object) const { ibv_dereg_mr(object); }
  void operator()(ibv_mw* object) const { ibv_dealloc_mw(object); }
  void operator()(ibv_ah* object) const { ibv_destroy_ah(object); }
  void operator()(ibv_srq* object) const { ibv_destroy_srq(object); }
  void operator()(ibv_qp* object) const { ibv_destroy_qp(object); }
};
template <class Object>
using Owned = std::unique_ptr<Object, Closes>;

struct AgentAddresses {
  std::string device;     // urnic0
  std::string gid;        // of the device, as an IPv6 address
  std::string peer;       // of the script's port
  unsigned peer_lid = 0;  // the same on InfiniBand; 0: the link is Ethernet
};

class AgentDevice {
 public:
  // Throws std::runtime_error: no such device, it has not the GID, or the LID is no port's.
  explicit AgentDevice(const AgentAddresses& addresses);

  ibv_context* context() const { return context_.get(); }
  ibv_pd* pd() const { return pd_.get(); }
  ibv_xrcd* xrc_domain();
  ibv_comp_channel* channel() const { return channel_.get(); }
  // From the device to the script's port, with the service level and the GRH that `call` wants on InfiniBand.
  ibv_ah_attr path(const Call& call) const;

 private:
  Owned<ibv_context> context_;
  Owned<ibv_pd> pd_;
  Owned<ibv_comp_channel> channel_;
  Owned<ibv_xrcd> xrc_domain_;
  ibv_gid peer_{};
  std::uint16_t peer_lid_;
  std::uint8_t gid_index_ = 0;
};

}  // namespace urnic::script
