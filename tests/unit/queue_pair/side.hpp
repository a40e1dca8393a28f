// A queue pair with its own memory, keys, queues and host: one end of a connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "device_model/transport/reliable/queue_pair.hpp"
#include "device_model/transport/responder/reorder_buffer.hpp"
#include "tests/unit/transport_bench/bench_memory.hpp"
#include "tests/unit/transport_bench/bench_queues.hpp"
#include "tests/unit/transport_bench/packets.hpp"
#include "tests/unit/transport_bench/recording_host.hpp"

namespace urnic::transport::bench {

inline constexpr std::uint64_t kBase = 0x10000;
inline constexpr std::uint32_t kKey = 0x1234;
inline constexpr PdId kPd{7};
inline constexpr std::uint32_t kReorderSlots = 128;  // few: now and then there is no room

// Every SRQ number is that of the one queue behind it, and in the one domain.
class BenchXrcReceives final : public XrcReceiveQueues {
 public:
  explicit BenchXrcReceives(ReceiveQueue& queue) : queue_(queue) {}
  std::optional<PdId> select(std::uint32_t) override { return kPd; }
  bool next(ReceiveRequest& request) override {
    if (!queue_.next(request)) return false;
    request.pd = kPd;
    return true;
  }
  std::uint32_t available() const override { return queue_.available(); }
  void retire(std::uint32_t index) override { queue_.retire(index); }

 private:
  ReceiveQueue& queue_;
};

struct Side {
  BenchMemory memory;
  BenchKeys keys;
  BenchSendQueue sends;
  BenchReceiveQueue receives;
  BenchXrcReceives extended_receives{receives};
  RecordingHost host;
  Counters counters;
  ReorderPool reorder_pool{kReorderSlots};
  QueuePair qp;

  explicit Side(wire::Qpn qpn, std::size_t memory_size = 0x10000, std::uint32_t slots = 64,
                RecoveryMode recovery = RecoveryMode::gbn, QpService service = QpService::rc)
      : memory(kBase, memory_size), qp(make_config(qpn, slots, recovery, service)) {
    keys.add(kKey, kPd, memory);
  }

  QpConfig make_config(wire::Qpn qpn, std::uint32_t slots, RecoveryMode recovery,
                       QpService service = QpService::rc) {
    QpConfig config;
    config.recovery.mode = recovery;
    config.reorder_pool = &reorder_pool;
    config.qpn = qpn;
    config.pd = kPd;
    config.send_slots = slots;
    config.receive_slots = slots;
    config.host = &host;
    config.keys = &keys;
    config.send_queue = &sends;
    config.receive_queue = &receives;
    config.counters = &counters;
    if (is_xrc(service)) config.packets = wire::Service::xrc;
    if (service == QpService::xrc_target) {
      config.pd = PdId{};
      config.receive_queue = config.xrc_receives = &extended_receives;
      config.shared_receive_queue = true;
    }
    return config;
  }

  void give(Packet packet, Time now = {}) {
    packets_.push_back(std::move(packet));
    qp.receive(packets_.back().inbound(), now);
  }

  // One batch: everything that wants to leave, then memory, then what failed.
  void run(Time now = {}) {
    do {
      for (int i = 0; i < 1000 && qp.wants_pump(); ++i) qp.pump(now, 8);
      const std::vector<AccessTag> failed = host.flush();
      reorder_pool.batch_flushed();
      for (const AccessTag& tag : failed) qp.memory_failed(tag);
    } while (qp.wants_pump() || !host.empty());
    packets_.clear();
    sends.forget_retired();
  }

  void ask(Packet packet, Time now = {}) {
    give(std::move(packet), now);
    run(now);
  }

  std::uint32_t post_receive(std::uint32_t length = 64, std::uint64_t address = kBase + 0x8000) {
    return receives.post({Sge{address, length, Lkey{kKey}}});
  }

  std::uint32_t post_send(WorkOpcode opcode, std::uint32_t length = 16) {
    const Sge sge{kBase, length, Lkey{kKey}};
    SendRequest request;
    request.opcode = opcode;
    request.signaled = true;
    request.remote_address = kBase;
    request.rkey = wire::Rkey{kKey};
    request.sges = {&sge, 1};
    return sends.post(request);
  }

 private:
  std::deque<Packet> packets_;
};

}  // namespace urnic::transport::bench
