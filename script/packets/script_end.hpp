// The script's end of a connection: its numbers, and what a peer of the device would know of the messages so
// far. What a statement does not name of a packet follows from this.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "script/host.hpp"
#include "script/language/syntax_tree.hpp"
#include "wire/headers.hpp"

namespace urnic::script {

struct ScriptEnd {
  std::string name;  // of the queue pair in the script
  wire::Service service = wire::Service::rc;
  wire::Qpn own;
  wire::Qpn device;
  std::uint32_t mtu = 1024;
  std::uint32_t qkey = 0;
  wire::NetworkHeaders path;        // to the device
  wire::Psn next_request;           // behind all requests that the script has sent
  wire::Psn next_response;          // to the request that came last
  wire::Psn awaited;                // the device's next new request
  wire::Msn msn;                    // messages of the device that have come whole
  std::uint32_t rest_of_write = 0;  // bytes of the script's WRITE that were not sent
  std::uint32_t rest_of_read = 0;   // bytes that the device has asked for and that were not sent
  std::deque<SeenFrame> waiting;
  std::vector<const Statement*> ignored;

  // The script sends this packet, with so many bytes of payload.
  void note_sent(const wire::TransportHeaders& headers, std::size_t payload);
  // A packet of the device has come.
  void note_seen(const wire::TransportHeaders& headers);
};

}  // namespace urnic::script
