// Any datagrams as what comes to a whole device from outside: a device with queue pairs in several states and
// queue pair 1, the engine's rounds, and virtual time. Nothing is written where nobody may write; a stranger
// gets at most one answer to a datagram, not longer than that, and nothing without asking; in the end nothing
// is left in the engine's pools.
//
// An input is a row of datagrams. Before each stand four bytes: what is repaired in it (enum Repair), where
// it comes from and what happens before, and the number of its bytes in two.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "device_model/engine/data_path.hpp"
#include "device_model/engine/management/management_queue_pair.hpp"
#include "device_model/engine/management/management_traffic.hpp"
#include "device_model/link/outer_port.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/unit/engine/program.hpp"
#include "wire/byte_order.hpp"
#include "wire/datagram_frame.hpp"
#include "wire/icrc.hpp"
#include "wire/network_codec.hpp"
#include "wire/transport_codec.hpp"

namespace {

using namespace urnic;
using engine::test::TestQp;
using fuzz::require;
using transport::QpState;

constexpr std::uint32_t kPeerQpn = 0x77;
constexpr std::uint32_t kQkey = 0x11111111;
constexpr std::uint32_t kFirstPsn = 0xFFFFF0;
constexpr std::size_t kMostDatagrams = 64;
// Of the program's memory: what peers may write, and where receives lie. All else stays as it is.
constexpr std::size_t kOpenAt = 4096;
constexpr std::size_t kOpenBytes = 4096;
constexpr std::size_t kReceivesAt = 64 * 1024;
constexpr std::size_t kReceiveBytes = 2048;
constexpr std::size_t kReceives = 16;

enum Repair : std::uint8_t {
  repair_icrc = 1,
  repair_qpn = 2,
  repair_psn = 4,     // near the one that is expected
  repair_reth = 8,    // the open memory and its key
  repair_deth = 16,   // the Q_Key
  repair_length = 32  // a multiple of four, as long as the headers
};

enum class Source : std::uint8_t { peer, stranger, itself, neighbour };

wire::Gid host(std::uint8_t last) {
  wire::Gid gid;
  gid.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, last};
  return gid;
}

wire::MacAddress mac_of(const wire::Gid& gid) {
  return {{2, 0, gid.bytes[12], gid.bytes[13], gid.bytes[14], gid.bytes[15]}};
}

// As the port of a UDP wire, but for the sockets.
class Outside final : public link::OuterPort {
 public:
  struct Datagram {
    wire::NetworkHeaders network;
    std::vector<std::byte> bytes;  // of exactly this length, so that the sanitizer sees a read behind it
    std::array<std::byte, wire::kMaxHeaderBytes> headers{};
  };
  void put(const wire::NetworkHeaders& network, std::vector<std::byte> bytes) {
    arrived_.push_back(std::make_unique<Datagram>(Datagram{network, std::move(bytes)}));
  }

  void take(link::Port& port, transport::Time now, const link::Load&) override {
    for (; taken_ != arrived_.size(); ++taken_) {
      Datagram& datagram = *arrived_[taken_];
      wire::Frame frame;
      if (wire::frame_of_datagram(datagram.network, datagram.bytes, datagram.headers, frame) !=
          wire::ParseError::none)
        continue;
      port.transmit(frame,
                    {.identity = {0x80000001, 0, ++count_},
                     .queue_pair = link::kUnknownQpn,
                     .device = datagram.network.source_mac},
                    now);
    }
  }
  void release() override {
    arrived_.clear();
    taken_ = 0;
  }
  std::uint32_t unreleased() const override { return static_cast<std::uint32_t>(taken_); }
  void arrive(const wire::Frame& frame, const link::PacketOrigin&) override {
    wire::NetworkHeaders network;
    wire::NetworkExtent extent;
    require(wire::parse_network(frame.headers, frame.size(), network, extent) == wire::ParseError::none,
            "a frame without network headers leaves");
    left.push_back({network.destination, extent.frame_bytes - extent.header_bytes});
  }
  void flush() override {}

  struct Left {
    wire::Gid to;
    std::size_t bytes;
  };
  std::vector<Left> left;

 private:
  std::vector<std::unique_ptr<Datagram>> arrived_;
  std::size_t taken_ = 0;
  std::uint64_t count_ = 0;
};

class Attacked {
 public:
  Attacked() {
    fabric_.frame_switch.connect(1, outside_);
    fabric_.device1.set_management_receiver(wire::Qpn{1}, &management_);
    open_memory();
    std::fill(program().bytes.begin(), program().bytes.end(), std::byte{0x5A});
    before_ = program().bytes;
    connect(rc_, 0);
    connect(uc_, 0);
    connect(ud_, kQkey);
    fabric_.engine.execute([&] { waiting_.device_end().modify(QpState::init, parameters(0), std::nullopt); });
    for (std::size_t i = 0; i < kReceives; ++i) {
      TestQp* const to[] = {&rc_, &uc_, &ud_};
      const abi::ScatterGather into[] = {
          program().private_sge(kReceivesAt + i * kReceiveBytes, kReceiveBytes)};
      to[i % 3]->post_receive(into);
    }
    run();
  }

  void take(Source source, std::uint8_t repairs, std::uint8_t choice, std::vector<std::byte> bytes) {
    const wire::NetworkHeaders network = path_from(source);
    repair(network, repairs, choice, bytes);
    outside_.left.clear();
    const std::size_t asked = bytes.size();
    outside_.put(network, std::move(bytes));
    run();
    if (source == Source::peer) return;
    std::size_t answers = 0;
    for (const Outside::Left& answer : outside_.left) {
      if (answer.to != network.source) continue;
      ++answers;
      require(answer.bytes <= asked, "an answer is longer than what asked");
    }
    require(answers <= 1, "more answers than questions");
  }
  void send(std::uint8_t what) {
    const abi::ScatterGather from[] = {program().private_sge(kReceivesAt, 1500)};
    abi::SendWqe head = engine::test::wqe(what % 2 == 0 ? abi::SendOpcode::send : abi::SendOpcode::rdma_read);
    head.remote_address = program().address(kOpenAt);
    (what % 3 == 0 ? uc_ : rc_).post_send(head, from);
    run();
  }
  void pass(std::uint8_t time) {
    outside_.left.clear();
    fabric_.engine.data_path().set_now(fabric_.engine.data_path().now() +
                                       transport::Nanoseconds(std::int64_t{1000} << (time % 24)));
    run();
    for (const Outside::Left& packet : outside_.left)
      require(packet.to == host(9), "a stranger hears something without asking");
  }

  void end() {
    const auto untouched = [&](std::size_t from, std::size_t to) {
      return std::equal(before_.begin() + static_cast<std::ptrdiff_t>(from),
                        before_.begin() + static_cast<std::ptrdiff_t>(to),
                        program().bytes.begin() + static_cast<std::ptrdiff_t>(from));
    };
    require(untouched(0, kOpenAt) && untouched(kOpenAt + kOpenBytes, kReceivesAt) &&
                untouched(kReceivesAt + kReceives * kReceiveBytes, before_.size()),
            "memory that nobody may write was written");
    fabric_.engine.execute([&] {
      for (TestQp* const qp : {&rc_, &uc_, &ud_, &waiting_})
        qp->device_end().modify(QpState::reset, parameters(0), std::nullopt);
    });
    fabric_.advance(std::chrono::seconds(20));
    require(fabric_.engine.data_path().pools() == engine::kPoolsAtRest, "the pools are not at rest");
  }

 private:
  engine::test::Program& program() { return fabric_.program1; }

  void open_memory() {
    fabric_.engine.execute([&] {
      auto& table = fabric_.device1.memory_table();
      table.remove_region(program().key);
      program().key =
          *table.add_region({.memory = &program().memory,
                             .pd = program().pd,
                             .address = program().address(kOpenAt),
                             .iova = program().address(kOpenAt),
                             .length = kOpenBytes,
                             .access = memory::access_local_write | memory::access_remote_write |
                                       memory::access_remote_read | memory::access_remote_atomic});
    });
  }
  transport::QpParameters parameters(std::uint32_t qkey) const {
    transport::QpParameters parameters = engine::test::Fabric::parameters(rc_, 1024);
    parameters.destination = wire::Qpn{kPeerQpn};
    parameters.qkey = qkey;
    return parameters;
  }
  void connect(TestQp& qp, std::uint32_t qkey) {
    wire::NetworkHeaders path = path_from(Source::peer);
    std::swap(path.source, path.destination);
    std::swap(path.source_mac, path.destination_mac);
    fabric_.engine.execute([&] {
      const transport::QpParameters wanted = parameters(qkey);
      qp.device_end().modify(QpState::init, wanted, std::nullopt);
      qp.device_end().modify(QpState::rtr, wanted, path);
      qp.device_end().modify(QpState::rts, wanted, std::nullopt);
    });
  }
  wire::NetworkHeaders path_from(Source source) const {
    const auto& own = fabric_.device1.config();
    wire::NetworkHeaders network;
    network.destination = own.gids[0].gid;
    network.destination_mac = own.mac;
    network.source = source == Source::peer       ? host(9)
                     : source == Source::stranger ? host(66)
                     : source == Source::itself   ? own.gids[0].gid
                                                  : fabric_.device0.config().gids[0].gid;
    network.source_mac = mac_of(network.source);
    network.udp_source = 0xC001;
    return network;
  }

  void repair(const wire::NetworkHeaders& network, std::uint8_t repairs, std::uint8_t choice,
              std::vector<std::byte>& bytes) {
    if (bytes.size() < wire::kBthBytes + wire::kIcrcBytes) return;
    const std::uint8_t opcode = std::to_integer<std::uint8_t>(bytes[0]);
    const std::size_t headers = wire::transport_header_size(wire::Opcode(opcode));
    if ((repairs & repair_length) != 0) {
      bytes[1] &= std::byte{0xC0};  // no pad, version 0
      bytes.resize(std::max(bytes.size() / 4 * 4, headers + wire::kIcrcBytes));
    }
    const TestQp* const qps[] = {&rc_, &uc_, &ud_, &waiting_};
    if ((repairs & repair_qpn) != 0) {
      const std::uint32_t qpn = choice % 5 == 4 ? 1 : qps[choice % 5]->qpn().value;
      bytes[5] = static_cast<std::byte>(qpn >> 16);
      bytes[6] = static_cast<std::byte>(qpn >> 8);
      bytes[7] = static_cast<std::byte>(qpn);
    }
    if ((repairs & repair_psn) != 0) {
      const std::uint32_t psn = kFirstPsn + (std::to_integer<std::uint32_t>(bytes[11]) & 0x1F) - 4;
      bytes[9] = static_cast<std::byte>(psn >> 16);
      bytes[10] = static_cast<std::byte>(psn >> 8);
      bytes[11] = static_cast<std::byte>(psn);
    }
    constexpr std::size_t kRethBytes = 16;
    if ((repairs & repair_reth) != 0 && bytes.size() >= wire::kBthBytes + kRethBytes + wire::kIcrcBytes) {
      const std::uint64_t offset = std::to_integer<std::uint64_t>(bytes[wire::kBthBytes + 7]) * 16;
      const std::uint64_t address = program().address(kOpenAt) + offset;
      for (std::size_t i = 0; i < 8; ++i)
        bytes[wire::kBthBytes + i] = static_cast<std::byte>(address >> (56 - 8 * i));
      wire::store_be32(bytes.data() + wire::kBthBytes + 8, program().key.value);
    }
    if ((repairs & repair_deth) != 0 && bytes.size() >= wire::kBthBytes + 8 + wire::kIcrcBytes)
      wire::store_be32(bytes.data() + wire::kBthBytes, choice % 5 == 4 ? engine::kManagementQkey : kQkey);
    if ((repairs & repair_icrc) != 0) repair_crc(network, bytes);
  }
  static void repair_crc(const wire::NetworkHeaders& network, std::vector<std::byte>& bytes) {
    std::array<std::byte, wire::kMaxHeaderBytes> headers;
    wire::Frame frame;
    if (wire::frame_of_datagram(network, bytes, headers, frame) != wire::ParseError::none) return;
    wire::store_be16(headers.data() + wire::kEthernetBytes + 4, 0);  // the Identification
    const std::size_t pad = frame.trailer.size() - wire::kIcrcBytes;
    const std::uint32_t crc = wire::icrc(frame.headers, frame.payload, frame.trailer.first(pad));
    wire::store_be32(bytes.data() + bytes.size() - wire::kIcrcBytes, __builtin_bswap32(crc));
  }

  // As the engine's loop; and queue pair 1 answers each datagram with one, to where it came from.
  void run() {
    do {
      if (traffic_.has_to_send(fabric_.engine.now())) traffic_.send();
      fabric_.run();
      answer_management();
    } while (traffic_.has_to_send(fabric_.engine.now()));
  }
  void answer_management() {
    traffic_.expect_arrivals();
    while (const engine::ArrivedDatagram* const arrived = traffic_.next_arrival()) {
      wire::NetworkHeaders back = path_from(Source::peer);
      back.source = back.destination;
      back.source_mac = back.destination_mac;
      back.destination.bytes = arrived->peer;
      back.destination_mac.bytes = arrived->peer_mac;
      management_.post(back, wire::Qpn{arrived->peer_qpn}, wire::Pkey{}, arrived->mad);
      traffic_.taken();
    }
  }

  Outside outside_;
  engine::test::Fabric fabric_;
  engine::ManagementTraffic traffic_;
  engine::ManagementQueuePair management_{fabric_.device1.resources(), traffic_};
  TestQp rc_{fabric_.program1, 0, {}};
  TestQp uc_{fabric_.program1, 1, {.service = transport::QpService::uc}};
  TestQp ud_{fabric_.program1, 2, {.service = transport::QpService::ud}};
  TestQp waiting_{fabric_.program1, 3, {}};
  std::vector<std::byte> before_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kHead = 4;
  Attacked attacked;
  std::span<const std::byte> input = std::as_bytes(std::span(data, size));
  for (std::size_t count = 0; count < kMostDatagrams && input.size() >= kHead; ++count) {
    const auto repairs = std::to_integer<std::uint8_t>(input[0]);
    const auto what = std::to_integer<std::uint8_t>(input[1]);
    const std::size_t length = wire::load_be16(input.data() + 2) % 4200;
    input = input.subspan(kHead);
    const auto bytes = input.first(std::min(length, input.size()));
    input = input.subspan(bytes.size());
    if ((what & 0x40) != 0) attacked.send(what);
    if ((what & 0x80) != 0) attacked.pass(what & 0x1F);
    attacked.take(static_cast<Source>(what & 3), repairs, (what >> 2) & 0xF, {bytes.begin(), bytes.end()});
  }
  attacked.end();
  return 0;
}
