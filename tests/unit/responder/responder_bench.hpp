// A responder in RTR with memory, keys and queues around it. Requests go in with `give` (nothing leaves until
// `settle`) or `ask` (both at once).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "device_model/transport/responder/reorder_buffer.hpp"
#include "device_model/transport/responder/responder.hpp"
#include "tests/unit/transport_bench/bench_memory.hpp"
#include "tests/unit/transport_bench/bench_queues.hpp"
#include "tests/unit/transport_bench/packets.hpp"
#include "tests/unit/transport_bench/recording_host.hpp"

namespace urnic::transport::bench {

inline constexpr std::uint32_t kMtu = 256;
inline constexpr std::uint32_t kFirst = 0xFFFFF0;  // so that every longer test wraps around
inline constexpr std::uint64_t kBase = 0x10000;
inline constexpr std::size_t kMemorySize = 0x10000;
inline constexpr std::uint64_t kBuffer = kBase + 0x8000;  // where `post` puts receives
inline constexpr std::uint32_t kKey = 0x1234;
inline constexpr std::uint32_t kForeignKey = 0x1235;   // of another protection domain
inline constexpr std::uint32_t kReadOnlyKey = 0x1236;  // local and remote read only
inline constexpr std::uint32_t kPrivateKey = 0x1237;   // local rights only
inline constexpr PdId kPd{7};
inline constexpr wire::Qpn kQpn{0x11};
inline constexpr wire::Qpn kPeer{0x22};
inline constexpr std::uint8_t kRnrCode = 12;
inline constexpr std::uint8_t kDepth = 4;  // max_dest_rd_atomic
inline constexpr std::uint32_t kSlots = 512;

struct ResponderBench {
  BenchMemory memory{kBase, kMemorySize};
  BenchKeys keys;
  BenchSendQueue sends;
  BenchReceiveQueue receives;
  RecordingHost host;
  Counters counters;
  ReorderPool own_pool;
  ReorderPool& pool;
  SharedState shared;
  Responder responder;

  // Under another mode than gbn the responder keeps what is out of order, here or in `shared_pool`.
  // With `xrc` it is the target of an extended reliable connection.
  explicit ResponderBench(RecoveryMode mode = RecoveryMode::gbn, std::uint32_t slots = kSlots,
                          ReorderPool* shared_pool = nullptr, XrcReceiveQueues* xrc = nullptr)
      : own_pool(slots),
        pool(shared_pool != nullptr ? *shared_pool : own_pool),
        shared{.config = make_config(mode, xrc),
               .recovery = {.mode = mode},
               .state = QpState::rtr,
               .parameters = make_parameters()},
        responder(shared) {
    keys.add(kKey, kPd, memory);
    keys.add(kForeignKey, PdId{8}, memory);
    keys.add(kPrivateKey, kPd, memory, {AccessRight::local_read, AccessRight::local_write});
    keys.add(kReadOnlyKey, kPd, memory, {AccessRight::local_read, AccessRight::remote_read});
    responder.start();
  }

  QpConfig make_config(RecoveryMode mode, XrcReceiveQueues* xrc = nullptr) {
    QpConfig config;
    config.recovery.mode = mode;
    config.reorder_pool = &pool;
    config.qpn = kQpn;
    config.pd = kPd;
    config.send_slots = 16;
    config.receive_slots = 64;
    config.host = &host;
    config.keys = &keys;
    config.send_queue = &sends;
    config.receive_queue = &receives;
    config.counters = &counters;
    if (xrc == nullptr) return config;
    config.pd = PdId{};
    config.receive_queue = config.xrc_receives = xrc;
    config.shared_receive_queue = true;
    config.packets = wire::Service::xrc;
    return config;
  }

  static QpParameters make_parameters() {
    QpParameters parameters;
    parameters.access = {true, true, true};
    parameters.path_mtu = kMtu;
    parameters.destination = kPeer;
    parameters.receive_psn = wire::Psn(kFirst);
    parameters.max_destination_reads = kDepth;
    parameters.min_rnr_timer = kRnrCode;
    return parameters;
  }

  // A receive of `length` bytes at kBuffer + offset.
  std::uint32_t post(std::uint32_t length = 0x1000, std::uint32_t offset = 0, std::uint32_t key = kKey) {
    return receives.post({Sge{kBuffer + offset, length, Lkey{key}}});
  }

  void give(Packet packet) {
    packets_.push_back(std::move(packet));
    responder.receive(packets_.back().inbound());
  }

  // Sends what is owed, carries everything out, reports memory that failed; until nothing is left to do.
  void settle() {
    do {
      responder.pump(1000);
      flush();
    } while (responder.wants_pump() || !host.empty());
  }

  void flush() {
    const std::vector<AccessTag> failed = host.flush();
    pool.batch_flushed();
    for (const AccessTag& tag : failed) responder.memory_failed(tag);
  }

  void ask(Packet packet) {
    give(std::move(packet));
    settle();
  }

  std::deque<SentPacket>& sent() { return host.sent; }
  SentPacket take() {
    SentPacket packet = host.sent.at(0);
    host.sent.pop_front();
    return packet;
  }
  Completion completion() {
    Completion completion = host.completions.at(0);
    host.completions.pop_front();
    return completion;
  }

 private:
  std::deque<Packet> packets_;
};

inline wire::Psn psn(std::uint32_t offset) { return wire::Psn(kFirst + offset); }

// `packet` with AckReq.
inline Packet ack_requested(Packet packet) {
  packet.headers.bth.ack_request = true;
  return packet;
}

// Requests by their offset from the first PSN; AckReq is set on last packets.
inline Packet send(wire::Operation operation, std::uint32_t offset, std::vector<std::byte> payload = {}) {
  Packet packet = rc_packet(operation, psn(offset).value(), std::move(payload));
  packet.headers.bth.ack_request = wire::traits(packet.headers.bth.opcode).last;
  return packet;
}

inline Packet send_only(std::uint32_t offset, std::size_t length = 16, std::uint8_t seed = 0) {
  return send(wire::Operation::send_only, offset, pattern(length, seed));
}

inline Packet write(wire::Operation operation, std::uint32_t offset, std::vector<std::byte> payload,
                    std::uint32_t total = 0, std::uint64_t address = kBase, std::uint32_t key = kKey) {
  Packet packet = write_request(operation, psn(offset).value(), address, key, total, std::move(payload));
  packet.headers.bth.ack_request = wire::traits(packet.headers.bth.opcode).last;
  return packet;
}

inline Packet write_only(std::uint32_t offset, std::size_t length = 16, std::uint64_t address = kBase,
                         std::uint32_t key = kKey) {
  return write(wire::Operation::write_only, offset, pattern(length), static_cast<std::uint32_t>(length),
               address, key);
}

inline Packet read(std::uint32_t offset, std::uint32_t length, std::uint64_t address = kBase,
                   std::uint32_t key = kKey) {
  return read_request(psn(offset).value(), address, key, length);
}

inline Packet add(std::uint32_t offset, std::uint64_t value, std::uint64_t address = kBase,
                  std::uint32_t key = kKey) {
  return fetch_add_request(psn(offset).value(), address, key, value);
}

inline wire::Operation operation_of(const SentPacket& packet) {
  return packet.headers.bth.opcode.operation();
}

inline bool is_ack(const SentPacket& packet, wire::Psn of) {
  return operation_of(packet) == wire::Operation::acknowledge && packet.headers.bth.psn == of &&
         wire::kind(packet.headers.aeth.syndrome) == wire::AethKind::ack;
}

inline bool is_nak(const SentPacket& packet, wire::Psn of, wire::NakCode code) {
  return operation_of(packet) == wire::Operation::acknowledge && packet.headers.bth.psn == of &&
         packet.headers.aeth.syndrome == wire::nak_syndrome(code);
}

inline bool is_rnr_nak(const SentPacket& packet, wire::Psn of) {
  return operation_of(packet) == wire::Operation::acknowledge && packet.headers.bth.psn == of &&
         packet.headers.aeth.syndrome == wire::rnr_nak_syndrome(kRnrCode);
}

}  // namespace urnic::transport::bench
