// A queue pair of a service without acknowledgements, with memory, keys, queues and host around it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "device_model/transport/unreliable/unreliable_connection.hpp"
#include "device_model/transport/unreliable/unreliable_datagram.hpp"
#include "tests/unit/transport_bench/bench_memory.hpp"
#include "tests/unit/transport_bench/bench_queues.hpp"
#include "tests/unit/transport_bench/packets.hpp"
#include "tests/unit/transport_bench/recording_host.hpp"

namespace urnic::transport::bench {

inline constexpr std::uint64_t kBase = 0x10000;
inline constexpr std::uint64_t kBuffer = kBase + 0x8000;  // where receives are
inline constexpr std::uint32_t kKey = 0x1234;
inline constexpr std::uint32_t kReadOnlyKey = 0x1236;
inline constexpr std::uint32_t kMtu = 256;
inline constexpr std::uint32_t kFirst = 0xFFFFFE;  // so that PSNs wrap around
inline constexpr PdId kPd{7};
inline constexpr wire::Qpn kQpn{0x11};
inline constexpr wire::Qpn kPeer{0x22};
inline constexpr std::uint32_t kQkey = 0x11111111;

class BenchAddresses final : public AddressHandles {
 public:
  struct Address final : DatagramAddress {
    using DatagramAddress::DatagramAddress;
  };
  void add(std::uint32_t number, PdId pd) { addresses_.try_emplace(number, pd); }
  void set_static_rate(std::uint32_t number, std::uint32_t kbps) {
    addresses_.at(number).static_rate_kbps = kbps;
  }
  const DatagramAddress* find(std::uint32_t number) const override {
    const auto found = addresses_.find(number);
    return found == addresses_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::uint32_t, Address> addresses_;
};

template <class Service>
struct UnreliableBench {
  BenchMemory memory{kBase, 0x10000};
  BenchKeys keys;
  BenchAddresses addresses;
  BenchSendQueue sends;
  BenchReceiveQueue receives;
  RecordingHost host;
  Counters counters;
  Service qp;

  UnreliableBench() : qp(make_config()) {
    keys.add(kKey, kPd, memory);
    keys.add(kReadOnlyKey, kPd, memory, {AccessRight::local_read, AccessRight::remote_read});
    memory.fill_pattern(kBase, 0x8000);
    for (const QpState state : {QpState::init, QpState::rtr, QpState::rts}) to(state);
  }

  static QpParameters parameters() {
    QpParameters made;
    made.access = {true, true, true};
    made.path_mtu = kMtu;
    made.destination = kPeer;
    made.receive_psn = wire::Psn(kFirst);
    made.send_psn = wire::Psn(kFirst);
    made.qkey = kQkey;
    return made;
  }
  void to(QpState state, bool notify = false) { qp.modify(state, parameters(), notify); }

  // Everything that wants to leave, then memory, then what failed.
  void run() {
    do {
      while (qp.wants_pump()) qp.pump(Time{}, 4);
      const std::vector<AccessTag> failed = host.flush();
      for (const AccessTag& tag : failed) qp.memory_failed(tag);
    } while (qp.wants_pump() || !host.empty());
    packets_.clear();
  }

  void give(Packet packet) {
    packets_.push_back(std::move(packet));
    InboundPacket inbound = packets_.back().inbound();
    inbound.grh = grh;
    qp.receive(inbound);
  }
  void ask(Packet packet) {
    give(std::move(packet));
    run();
  }

  std::uint32_t post_receive(std::uint32_t length = 0x1000, std::uint32_t key = kKey) {
    return receives.post({Sge{kBuffer, length, Lkey{key}}});
  }
  std::uint32_t post_send(WorkOpcode opcode, std::uint32_t length = 16, bool signaled = true,
                          std::uint32_t key = kKey, std::uint64_t address = kBase) {
    const Sge sge{address, length, Lkey{key}};
    SendRequest request = prepared;
    request.opcode = opcode;
    request.signaled = signaled;
    request.remote_address = kBase + 0x4000;
    request.rkey = wire::Rkey{kKey};
    request.sges = {&sge, 1};
    return sends.post(request);
  }
  SendRequest prepared;  // the other members of what `post_send` posts

  // Index and status of what has completed, and forgets it.
  using Completed = std::vector<std::pair<std::uint32_t, WorkStatus>>;
  Completed completed() {
    Completed all;
    for (const Completion& one : host.completions) all.emplace_back(one.wqe_index, one.status);
    host.completions.clear();
    return all;
  }

  std::array<std::byte, kGrhBytes> grh = make_grh();  // of packets that come

 private:
  QpConfig make_config() {
    QpConfig config;
    config.qpn = kQpn;
    config.pd = kPd;
    config.send_slots = 64;
    config.receive_slots = 64;
    config.max_message_size = 0x4000;
    config.host = &host;
    config.keys = &keys;
    config.addresses = &addresses;
    config.send_queue = &sends;
    config.receive_queue = &receives;
    config.counters = &counters;
    return config;
  }

  static std::array<std::byte, kGrhBytes> make_grh() {
    std::array<std::byte, kGrhBytes> made;
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = pattern_byte(i, 77);
    return made;
  }

  std::deque<Packet> packets_;
};

constexpr auto kSuccess = WorkStatus::success;
constexpr auto kFlushed = WorkStatus::flushed;

}  // namespace urnic::transport::bench
