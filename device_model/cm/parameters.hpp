// What the user gives with each call of the connection manager.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "device_model/cm/path.hpp"
#include "wire/identifiers.hpp"
#include "wire/mad/cm_codes.hpp"
#include "wire/mad/cm_parts.hpp"
#include "wire/mad/identifiers.hpp"
#include "wire/mad/service_id.hpp"
#include "wire/mad/timeout_code.hpp"

namespace urnic::cm {

using wire::mad::Ece;
using wire::mad::ServiceId;
using wire::mad::TimeoutCode;
using PrivateData = std::span<const std::byte>;  // copied during the call

enum class ServiceType : std::uint8_t { reliable, unreliable, xrc_initiator, xrc_target };

// Seed of everything that is random, and what bounds the manager's memory. What finds no room is not begun:
// calls return Result::no_room, requests of peers are dropped, so that the peer asks again.
struct Settings {
  std::uint64_t seed = 0;
  std::uint32_t connections = 65536;  // also those in time wait, and SIDR requests under way
  std::uint32_t listeners = 65536;
};

enum class Result : std::uint8_t {
  ok,
  unknown_id,         // no such connection, or not the kind of thing that the call is for
  wrong_state,        // EINVAL
  already_connected,  // EISCONN: `establish` of an established connection
  too_long,           // private data or additional information
  in_use,             // another listener has the service id
  no_room,            // a limit of Settings
};

struct ConnectParameters {
  DeviceIndex device;
  Path path;
  ServiceId service_id;
  ServiceType service = ServiceType::reliable;  // not xrc_target
  wire::Qpn qpn;
  bool srq = false;
  bool flow_control = false;
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  std::uint8_t retry_count = 7;
  std::uint8_t rnr_retry_count = 7;
  // How long the peer, and this side, may take to answer a message of the CM; how often it is repeated.
  TimeoutCode remote_response_timeout{20};
  TimeoutCode local_response_timeout{20};
  std::uint8_t max_retries = 15;
  PrivateData private_data;  // 92 bytes at most, with the IP header of annex A11
  Ece ece;
};

struct ReplyParameters {
  wire::Qpn qpn;
  bool srq = false;
  bool flow_control = false;
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  std::uint8_t rnr_retry_count = 7;
  PrivateData private_data;  // 196 bytes at most
  Ece ece;
};

struct RejectParameters {
  wire::mad::RejectReason reason = wire::mad::RejectReason::consumer;
  PrivateData private_data;  // 148 bytes at most
};

struct SidrRequestParameters {
  DeviceIndex device;
  Path path;
  ServiceId service_id;
  TimeoutCode response_timeout{20};
  std::uint8_t max_retries = 15;
  PrivateData private_data;  // 216 bytes at most, with the IP header of annex A11
};

struct SidrReplyParameters {
  wire::mad::SidrStatus status = wire::mad::SidrStatus::ok;
  wire::Qpn qpn;
  wire::mad::Qkey qkey;
  PrivateData private_data;  // 136 bytes at most
  Ece ece;
};

}  // namespace urnic::cm
