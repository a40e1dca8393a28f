// One side of the laboratory: a queue pair and its host. The memory never fails, so the host carries out each
// action at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "device_model/transport/reliable/queue_pair.hpp"
#include "device_model/transport/responder/reorder_buffer.hpp"
#include "tests/unit/recovery/laboratory_settings.hpp"
#include "tests/unit/recovery/soft_roce_responder.hpp"
#include "tests/unit/recovery/uniform_queues.hpp"
#include "tests/unit/recovery/weightless_memory.hpp"

namespace urnic::transport::lab {

// Sees everything that happens, as it happens.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void sent(std::size_t /*from*/, const wire::TransportHeaders&, std::uint32_t /*payload*/,
                    Nanoseconds /*now*/) {}
  virtual void arrived(std::size_t /*at*/, const Flight&, Nanoseconds /*now*/) {}
  virtual void completed(std::size_t /*at*/, const Completion&, Nanoseconds /*now*/) {}
  virtual void timer(std::size_t /*at*/, Nanoseconds /*now*/) {}
};

class LaboratoryEnd final : public Host {
 public:
  using Link = lab::Link;

  // `link` leads to the other side; `observer` may change while the laboratory runs. Both outlive this.
  LaboratoryEnd(const LaboratorySettings& settings, std::size_t side, Link& link, Observer* const& observer);

  // As TwoEnds asks.
  void arrive(const Flight& flight, Time now);
  void on_timer(Time now);
  void transmit(Time now);
  void settle(Time now);
  bool wants_to_send() const { return wants_to_send_; }
  std::optional<Time> deadline() const { return deadline_; }

  // Host
  void send(const OutboundPacket& packet) override;
  std::size_t frame_bytes(const OutboundPacket&) const override { return 0; }
  bool may_notify_peer(Nanoseconds, Time) override { return true; }
  void write(const MemoryRange&, std::span<const std::byte>, bool, AccessTag) override {}
  void atomic(const AtomicAction& action) override;
  void complete(const Completion& completion, Stream) override;
  void event(AsyncEvent) override {}

 private:
  QpConfig make_config(const LaboratorySettings& settings);
  Nanoseconds now() const { return now_.time_since_epoch(); }

  const std::size_t side_;
  const Peer peer_;
  Link& link_;
  Observer* const& observer_;
  Time now_{};
  EveryKey keys_;
  ReorderPool reorder_pool_;
  bool wants_to_send_ = false;
  std::optional<Time> deadline_;

 public:
  UniformSendQueue sends;
  UniformReceiveQueue receives;
  Counters counters;
  QueuePair qp;
  std::unique_ptr<SoftRoceResponder> soft_roce;  // takes the place of `qp`

  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  std::uint64_t received = 0;
  WorkStatus first_failure = WorkStatus::success;
  Nanoseconds last_completion{0};
};

}  // namespace urnic::transport::lab
