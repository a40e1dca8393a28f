// RoCEv2 frames, and what becomes of them: ports, receivers and observers that remember.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "device_model/link/switch.hpp"
#include "wire/frame.hpp"
#include "wire/frame_template.hpp"

namespace urnic::link::test {

inline wire::MacAddress mac_of(std::uint8_t device) { return {{0x02, 0, 0, 0, 0, device}}; }

inline wire::Gid gid_of(std::uint8_t device, bool ipv4 = true) {
  wire::Gid gid;
  if (ipv4) {
    gid.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, device};
  } else {
    gid.bytes = {0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, device};
  }
  return gid;
}

// What a sample frame is made of. Its payload is 64 bytes, or none where the opcode carries none.
struct Sample {
  wire::Operation operation = wire::Operation::send_only;
  std::uint32_t psn = 100;
  std::uint32_t destination_qp = 0x22;
  std::uint8_t traffic_class = 0;
  bool ipv4 = true;
  std::uint8_t from = 0;
  std::uint8_t to = 1;
  wire::Service service = wire::Service::rc;
  std::uint16_t vlan_tag = 0;
};

class SampleFrame {
 public:
  explicit SampleFrame(const Sample& sample = {}, wire::Icrc icrc = wire::Icrc::made) {
    wire::NetworkHeaders network;
    network.destination_mac = mac_of(sample.to);
    network.source_mac = mac_of(sample.from);
    network.destination = gid_of(sample.to, sample.ipv4);
    network.source = gid_of(sample.from, sample.ipv4);
    network.traffic_class = sample.traffic_class;
    network.vlan_tag = sample.vlan_tag;
    network.udp_source = 0xC000;
    wire::TransportHeaders headers;
    headers.bth.opcode = wire::Opcode(sample.service, sample.operation);
    headers.bth.destination = wire::Qpn{sample.destination_qp};
    headers.bth.psn = wire::Psn(sample.psn);
    if (wire::traits(headers.bth.opcode).carries_payload) payload_.resize(64, std::byte{0x5A});
    frame_ = wire::FrameTemplate(network).encode(headers, payload_, storage_, icrc);
  }
  SampleFrame(const SampleFrame&) = delete;
  SampleFrame& operator=(const SampleFrame&) = delete;

  const wire::Frame& frame() const { return frame_; }
  bool is_paid() const;

 private:
  std::vector<std::byte> payload_;
  wire::FrameStorage storage_;
  wire::Frame frame_;
};

inline std::vector<std::byte> bytes_of(const wire::Frame& frame) {
  std::vector<std::byte> bytes(frame.headers.begin(), frame.headers.end());
  bytes.insert(bytes.end(), frame.payload.begin(), frame.payload.end());
  bytes.insert(bytes.end(), frame.trailer.begin(), frame.trailer.end());
  return bytes;
}

inline bool SampleFrame::is_paid() const {
  wire::ParsedFrame ignored;
  return wire::parse(bytes_of(frame_), ignored) == wire::ParseError::none;
}

// A device that remembers what arrives.
struct RememberingReceiver final : FrameReceiver {
  struct Arrival {
    std::vector<std::byte> bytes;
    bool direct;  // the sender's own bytes
    wire::ParseError error;
    wire::ParsedFrame parsed;
    PacketOrigin origin;
    std::uint32_t psn() const { return parsed.transport.bth.psn.value(); }
  };
  std::vector<Arrival> arrivals;

  // The sender's own frame has a payload beside its headers; a copy is in one piece.
  void arrive(const wire::Frame& frame, const PacketOrigin& origin) override {
    Arrival arrival{bytes_of(frame), !frame.trailer.empty(), {}, {}, origin};
    arrival.error = wire::parse(arrival.bytes, arrival.parsed);
    arrivals.push_back(std::move(arrival));
  }
  // A QP's ordinal is its number less 0x20.
  std::uint32_t ordinal_of(wire::Qpn qpn) const override { return qpn.value > 0x20 ? qpn.value - 0x20 : 0; }
  // All QPs have the same peer.
  std::optional<Connection> connection_of(wire::Qpn) const override { return connection; }
  std::optional<Connection> connection;

  std::string psns() const {
    std::string text;
    for (const Arrival& arrival : arrivals) text += std::to_string(arrival.psn()) + ' ';
    return text;
  }
};

struct RememberingObserver final : FrameObserver {
  struct Seen {
    CapturePoint point;
    std::string device;
    Direction direction;
    std::string remarks;
    std::vector<std::byte> bytes;
  };
  std::vector<Seen> all;
  std::size_t bytes = std::numeric_limits<std::size_t>::max();
  std::size_t reach() const override { return bytes; }
  void observe(const Observation& seen) override {
    all.push_back({seen.point, std::string(seen.device), seen.direction, std::string(seen.remarks),
                   bytes_of(seen.frame)});
  }
  // What was told about the last frame at `point`.
  const Seen* last(CapturePoint point) const {
    for (auto seen = all.rbegin(); seen != all.rend(); ++seen)
      if (seen->point == point) return &*seen;
    return nullptr;
  }
};

// Two devices, "urnic0" and "urnic1", on a switch, in virtual time.
struct TwoPorts {
  transport::Time now{transport::Nanoseconds(1'000'000)};
  Switch frame_switch;
  RememberingReceiver receivers[2];
  Port* ports[2] = {&frame_switch.attach(mac_of(0), receivers[0], "urnic0"),
                    &frame_switch.attach(mac_of(1), receivers[1], "urnic1")};
  RememberingObserver observer;
  std::uint64_t sent = 0;

  TwoPorts() { frame_switch.add_observer(observer); }

  // From QP 0x11, which its program opened first, with first PSN 100. It owes its ICRC, as a device's frames
  // do.
  void send(const Sample& sample, std::uint32_t queue_pair = 1) {
    const SampleFrame frame(sample, wire::Icrc::owed);
    const PacketOrigin origin{
        {sample.from, queue_pair, ++sent}, wire::Qpn{0x10 + queue_pair}, wire::Psn(100)};
    ports[sample.from]->transmit(frame.frame(), origin, now);
  }
  // As another host's.
  void send_from_outside(const Sample& sample) {
    const SampleFrame frame(sample);
    ports[sample.from]->transmit(frame.frame(), {.queue_pair = kUnknownQpn}, now);
  }
  void send_psn(std::uint32_t psn) { send({.psn = psn}); }
  void advance(std::int64_t nanoseconds) {
    now += transport::Nanoseconds(nanoseconds);
    do {
      frame_switch.deliver_due(now, {100, 1 << 20});
      frame_switch.release();
    } while (frame_switch.overdue(now));
  }
};

}  // namespace urnic::link::test
