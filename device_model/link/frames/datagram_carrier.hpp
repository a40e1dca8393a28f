// Frames on a datagram socket, one in each, as QEMU's `-netdev dgram` speaks: between two paths, or over UDP
// between two addresses of hosts. Only the peer is heard.
#pragma once

#include <string>

#include "device_model/link/frames/frame_batch.hpp"
#include "device_model/link/frames/wake_set.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::link {

class DatagramCarrier final : public FrameCarrier {
 public:
  // Both are paths (they contain a slash), or both are ADDRESS:PORT, with [ADDRESS]:PORT for IPv6. Throws
  // std::system_error; not if the peer is not there yet.
  DatagramCarrier(const std::string& local, const std::string& remote);
  ~DatagramCarrier() override;
  DatagramCarrier(const DatagramCarrier&) = delete;
  DatagramCarrier& operator=(const DatagramCarrier&) = delete;

  int wake_descriptor() const override { return wake_.descriptor(); }
  bool is_connected() const override { return connected_; }
  std::span<const std::span<std::byte>> receive(transport::Time now, const Load& most) override;
  void release() override { batch_.release(); }
  std::size_t send(std::span<const std::byte> frames) override;
  std::optional<transport::Time> next_due() const override;
  CarrierCounters counters() const override { return counters_; }

 private:
  void open_unix();
  void open_udp();
  bool is_path() const { return local_.find('/') != std::string::npos; }
  void find_peer(transport::Time now);
  void connect_again();

  const std::string local_;
  const std::string remote_;
  WakeSet wake_;
  memory::Descriptor socket_;
  bool connected_ = false;
  transport::Time next_try_{};
  CarrierCounters counters_;
  FrameBatch batch_{counters_};
};

}  // namespace urnic::link
