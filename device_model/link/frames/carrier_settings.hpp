// Which carrier a LAN has ([lan], docs/configuration.md), and how it is opened.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device_model/link/frames/frame_carrier.hpp"
#include "wire/identifiers.hpp"

namespace urnic::link {

enum class CarrierKind : std::uint8_t {
  listen,     // a UNIX stream socket: listens at the path `name`, for one peer after the other
  connect,    // a UNIX stream socket: connects to `name`, again and again while nobody listens
  datagram,   // a datagram socket bound to `name`, to and from `remote`: paths, or ADDRESS:PORT for UDP
  interface,  // the network interface `name`, beside the host's own IP stack (AF_PACKET)
  tap,        // the TAP interface `name`, which is made if it does not exist
};

// Users that may connect to a listening socket, beside this process's user and root.
struct ListenerAccess {
  std::optional<gid_t> group;  // members of this group: the file has mode 0660
  std::vector<uid_t> users;    // these users, as the kernel names them (SO_PEERCRED): the file has mode 0666
  bool everybody = false;      // all users that reach the file
};

struct CarrierSettings {
  CarrierKind kind = CarrierKind::listen;
  std::string name = {};
  std::string remote = {};
  ListenerAccess access = {};
  std::vector<wire::MacAddress> devices = {};  // on the LAN
};

// Needs a capability that the device process gives up at its start: to be opened before.
constexpr bool needs_privilege(CarrierKind kind) {
  return kind == CarrierKind::interface || kind == CarrierKind::tap;
}

// Throws std::system_error with a sentence that says which right is missing and how to get it.
std::unique_ptr<FrameCarrier> open_carrier(const CarrierSettings& settings);

}  // namespace urnic::link
