// The host of a live script: a device that runs, or a peer on a real wire.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "script/host.hpp"
#include "script/live_host/frame_socket.hpp"
#include "wire/network_headers.hpp"

namespace urnic::cli {

struct LiveScriptOptions {
  std::string name;    // of the device process
  std::string device;  // empty: the first one
  // A peer on a real wire, instead of a device of this machine.
  std::string lan;    // the path of a UNIX socket of frames
  std::string agent;  // IPV4:PORT
  std::string agent_token_file;
  std::string device_mac;
  std::string device_gid;
  std::string script_mac = "02:00:00:00:00:99";
  std::string script_gid = "::ffff:192.0.2.153";
  std::string script_host = "script";  // of the InfiniBand fabric
  double settle_ms = 5;
};

// The device process has no device whose link is the script's. what() says so.
struct NoSuchLink : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class LiveScriptHosts {
 public:
  explicit LiveScriptHosts(LiveScriptOptions options) : options_(std::move(options)) {}

  // A new host, with no object of an earlier script, for a script whose link is of this kind. Starts the
  // device process if none runs; it ends when nothing uses it. Throws NoSuchLink, Failure.
  std::unique_ptr<script::Host> make(wire::LinkLayer link_layer);

 private:
  std::unique_ptr<script::Host> beside_a_device(wire::LinkLayer link_layer) const;
  std::unique_ptr<script::Host> on_a_wire();

  LiveScriptOptions options_;
  std::shared_ptr<script::FrameSocket> wire_;  // once it is open: the other side connects once
};

}  // namespace urnic::cli
