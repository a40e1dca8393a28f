// A device of the product under virtual time, in this process: the engine's rounds, the built-in switch, and
// a program's ends of its queues. Each run is the same to the nanosecond.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "device_model/engine/data_path.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/link/switch.hpp"
#include "script/host.hpp"
#include "script/virtual_host/virtual_objects.hpp"

namespace urnic::script {

class VirtualHost final : public Host, private link::FrameReceiver {
 public:
  // The script's port and the device's are two of a switch: on InfiniBand of a subnet whose routes are there.
  explicit VirtualHost(wire::LinkLayer link_layer = wire::LinkLayer::ethernet);
  ~VirtualHost() override;

  bool is_virtual() const override { return true; }
  Time now() const override { return data_path_.now(); }
  std::uint32_t first_qpn() const override { return 0xABC001; }
  wire::NetworkHeaders path_to_device() const override;
  void send(std::span<const Bytes> frames) override;
  std::optional<SeenFrame> receive() override;
  Answer call(const Call& call) override;
  bool step(Time until) override;
  // Rounds until the device has nothing to do now.
  void settle() override;

 private:
  template <class Object>
  using Named = std::map<std::string, Object, std::less<>>;

  // The switch hands over a frame from the device.
  void arrive(const wire::Frame& frame, const link::PacketOrigin& origin) override;
  std::optional<std::span<const std::byte>> at_the_port(std::span<const std::byte> frame) const;
  Answer carry_out(const Call& call);
  bool is_known(const std::string& name) const;

  // virtual_objects.cpp: objects are made, changed and destroyed.
  Answer make_region(const Call& call);
  Answer make_window(const Call& call);
  Answer make_shared_receives(const Call& call);
  Answer make_address_handle(const Call& call);
  Answer make_queue_pair(const Call& call);
  Answer move_to(VirtualQueuePair& queue_pair, transport::QpState state, const Call& call);
  Answer modify(const Call& call);
  Answer destroy(const Call& call);
  // As `call`, which makes a queue pair or an address handle, says.
  wire::NetworkHeaders path_from_device(const Call& call) const;

  // virtual_verbs.cpp: work is posted, completions and events are taken.
  Answer post_send(const Call& call);
  Answer post_receive(const Call& call);
  Answer poll_send(const Call& call);
  Answer poll_receive(const Call& call);
  Answer next_event(const Call& call);
  Answer arm(const Call& call);
  Answer notified(const Call& call);
  Answer write_memory(const Call& call);
  Answer read_memory(const Call& call);
  std::vector<abi::ScatterGather> sges_of(const Call& call) const;

  // Makes the subnet of the two ports.
  void route();

  const wire::LinkLayer link_layer_;
  engine::DataPath data_path_;
  link::Switch switch_;
  engine::Device device_;
  link::Port& port_;
  in_process::ContextEnd context_;
  memory::InProcessMemory memory_;
  engine::XrcDomain xrc_domain_;
  Named<VirtualRegion> regions_;
  Named<VirtualWindow> windows_;
  Named<std::uint32_t> address_handles_;
  Named<VirtualSharedReceives> shared_receives_;
  Named<VirtualQueuePair> queue_pairs_;
  std::uint64_t next_region_ = 0;
  std::uint32_t next_doorbell_ = 0;
  std::uint64_t frames_sent_ = 0;
  std::deque<SeenFrame> seen_;
  std::deque<in_process::EventPipeEnd::Record> events_;
};

}  // namespace urnic::script
