// One side of a flow of the incast laboratory: a queue pair and its host. The memory never fails and has no
// bytes, so the host carries out each action at once.
#pragma once

#include <cstdint>

#include "device_model/transport/reliable/queue_pair.hpp"
#include "device_model/transport/responder/reorder_buffer.hpp"
#include "tests/unit/recovery/uniform_queues.hpp"
#include "tests/unit/recovery/weightless_memory.hpp"

namespace urnic::transport::lab {

// A packet under way between the two sides.
struct IncastPacket {
  wire::TransportHeaders headers;
  std::uint32_t payload = 0;
  SelectiveAcks selective_acks = SelectiveAcks::no;
  bool marked = false;
};

class IncastEnd;

// Takes what an end sends.
class IncastNetwork {
 public:
  virtual void take(const IncastEnd& from, const IncastPacket& packet) = 0;

 protected:
  ~IncastNetwork() = default;
};

struct IncastEndSettings {
  std::uint32_t flow = 0;
  bool sends = false;  // data, else it receives
  wire::Qpn qpn;
  wire::Qpn peer;
  std::uint32_t path_mtu = 1024;
  CongestionSettings congestion{};
};

class IncastEnd final : public Host {
 public:
  IncastEnd(const IncastEndSettings& settings, IncastNetwork& network);
  IncastEnd(const IncastEnd&) = delete;
  IncastEnd& operator=(const IncastEnd&) = delete;

  std::uint32_t flow() const { return settings_.flow; }
  bool is_sender() const { return settings_.sends; }
  // Bytes of the application that have arrived here, each once, in their order.
  std::uint64_t delivered() const { return delivered_; }

  void connect(Time now);
  // Writes of 1 MiB without end, until `stop`: that forgets what is under way.
  void write_endlessly(Time now);
  void stop(Time now);

  void receive(const IncastPacket& packet, Time now);
  void pump(Time now, std::uint32_t packets) { queue_pair.pump(now, packets); }

  // Host
  void send(const OutboundPacket& packet) override;
  std::size_t frame_bytes(const OutboundPacket& packet) const override;
  bool may_notify_peer(Nanoseconds, Time) override { return true; }
  void write(const MemoryRange&, std::span<const std::byte> data, bool, AccessTag) override {
    delivered_ += data.size();
  }
  void atomic(const AtomicAction&) override {}
  void complete(const Completion& completion, Stream) override;
  void event(AsyncEvent) override {}

 private:
  QpConfig make_config();

  const IncastEndSettings settings_;
  IncastNetwork& network_;
  EveryKey keys_;
  ReorderPool reorder_pool_;
  UniformSendQueue sends_;
  UniformReceiveQueue receives_;
  bool endless_ = false;
  std::uint64_t delivered_ = 0;

 public:
  Counters counters;
  QueuePair queue_pair;
};

}  // namespace urnic::transport::lab
