// The host of a live script: a device that runs, or a peer on a real wire.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "script/host.hpp"
#include "script/live_host/frame_socket.hpp"

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
  double settle_ms = 5;
};

class LiveScriptHosts {
 public:
  explicit LiveScriptHosts(LiveScriptOptions options) : options_(std::move(options)) {}

  // A new host, with no object of an earlier script. Starts the device process if none runs; it ends when
  // nothing uses it. Throws Failure.
  std::unique_ptr<script::Host> make();

 private:
  std::unique_ptr<script::Host> beside_a_device() const;
  std::unique_ptr<script::Host> on_a_wire();

  LiveScriptOptions options_;
  std::shared_ptr<script::FrameSocket> wire_;  // once it is open: the other side connects once
};

}  // namespace urnic::cli
