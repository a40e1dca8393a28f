// Frames on a UNIX stream socket, each behind its length, as QEMU's `-netdev stream` speaks. One peer at a
// time. When it has gone, a listener takes the next peer, and the connecting side connects again.
#pragma once

#include <sys/un.h>

#include <vector>

#include "device_model/link/frames/carrier_settings.hpp"
#include "device_model/link/frames/frame_stream.hpp"
#include "device_model/link/frames/wake_set.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::link {

class StreamCarrier final : public FrameCarrier {
 public:
  // `settings.kind` is `listen` or `connect`. Throws std::system_error; not if nobody listens.
  explicit StreamCarrier(const CarrierSettings& settings);
  ~StreamCarrier() override;
  StreamCarrier(const StreamCarrier&) = delete;
  StreamCarrier& operator=(const StreamCarrier&) = delete;

  int wake_descriptor() const override { return wake_.descriptor(); }
  bool is_connected() const override { return static_cast<bool>(peer_); }
  std::span<const std::span<std::byte>> receive(transport::Time now, const Load& most) override;
  void release() override;
  std::size_t send(std::span<const std::byte> frames) override;
  void peer_stalls(transport::Time now) override;
  std::optional<transport::Time> next_due() const override;
  CarrierCounters counters() const override;

 private:
  void find_peer(transport::Time now);
  void accept_peer();
  void connect_peer(transport::Time now);
  void welcome(memory::Descriptor peer);
  void lose_peer();
  void forget_stream();
  void read_stream();
  bool send_rest();

  const CarrierSettings settings_;
  sockaddr_un address_;
  WakeSet wake_;
  memory::Descriptor listener_;
  memory::Descriptor peer_;
  transport::Time next_try_{};
  FrameStreamReader reader_;
  bool stream_ended_ = false;  // the reader has bytes of a former peer
  std::vector<std::span<std::byte>> given_;
  bool owes_release_ = false;
  std::vector<std::byte> rest_;  // of a frame of which the peer has a part
  CarrierCounters counters_;
};

}  // namespace urnic::link
