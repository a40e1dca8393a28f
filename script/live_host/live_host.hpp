// A device that runs: frames go in and out by a port beside it, an agent makes the calls.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "script/host.hpp"
#include "script/live_host/agent_connection.hpp"
#include "script/live_host/frame_socket.hpp"

namespace urnic::script {

class LiveHost final : public Host {
 public:
  // Sets for a queue pair of the device what verbs cannot: the arguments `recovery` and `congestion` of the
  // call that makes it, where it has them. Empty: the device is none of urnic's.
  using SetPolicies = std::function<void(std::uint32_t qpn, const Call& made_by)>;

  // `path` is from the script's port to the device's. `settle` is how long the device may take for what it
  // does not answer. Frames that have come before are dropped: the socket may have served another script.
  LiveHost(std::shared_ptr<FrameSocket> frames, std::unique_ptr<AgentConnection> agent,
           const wire::NetworkHeaders& path, SetPolicies set_policies, Nanoseconds settle);

  bool is_virtual() const override { return false; }
  Time now() const override;
  // Others than an earlier script's, whose queue pairs may not have ended.
  std::uint32_t first_qpn() const override { return first_qpn_; }
  wire::NetworkHeaders path_to_device() const override { return path_; }
  void send(std::span<const Bytes> frames) override;
  std::optional<SeenFrame> receive() override;
  Answer call(const Call& call) override;
  bool step(Time until) override;
  void settle() override;

 private:
  Answer make_queue_pair(const Call& call);
  Answer ask_agent(const Call& call);
  void take();
  bool answer_neighbour(const Bytes& frame);

  std::shared_ptr<FrameSocket> frames_;
  std::unique_ptr<AgentConnection> agent_;
  const wire::NetworkHeaders path_;
  const std::uint32_t first_qpn_;
  const SetPolicies set_policies_;
  const Nanoseconds settle_;
  std::map<std::string, std::uint64_t, std::less<>> attached_;  // queue pairs of other programs
  std::deque<SeenFrame> seen_;
};

}  // namespace urnic::script
