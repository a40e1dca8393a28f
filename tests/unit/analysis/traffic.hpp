// Packets between two ends, as a capture sees them: at every point of urnic's, or at one end without points.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/flows/flow_tracker.hpp"
#include "analysis/flows/verdict_text.hpp"
#include "tests/unit/wire/sample_frames.hpp"
#include "wire/aeth.hpp"
#include "wire/frame.hpp"

namespace urnic::analysis::test {

enum class Where {
  every_point,  // before, after and dropped
  at_sender,    // of requests: what is lost is seen, since it is lost later
  at_receiver,  // what is lost is not seen
};

// A (192.0.2.1, QP 0x11) sends requests, B (192.0.2.2, QP 0x22) answers; `reversed` turns that round.
class Traffic {
 public:
  static constexpr std::int64_t kStep = 1000;  // nanoseconds between two records
  static constexpr std::int64_t kStart = 1'700'000'000'000'000'000;

  explicit Traffic(Where where, std::size_t most = FlowTracker::kMostPackets)
      : tracker_(most), where_(where) {
    if (where != Where::every_point) {
      interfaces_.push_back(named_interface("", ""));
      return;
    }
    for (const char* name : {"a/before", "a/after", "a/dropped", "b/before", "b/after", "b/dropped"})
      interfaces_.push_back(named_interface(name, ""));
  }

  bool reversed = false;
  bool lose = false;  // the packets that follow
  bool mark = false;  // "congestion experienced", likewise
  wire::Service service = wire::Service::rc;
  std::uint32_t qp_of_a = 0x11;
  std::uint32_t qp_of_b = 0x22;
  std::uint16_t identification = 0;

  void request(wire::Operation operation, std::uint32_t psn, std::size_t payload = 16,
               std::uint32_t length = 0) {
    wire::TransportHeaders headers = headers_of(operation, psn, true);
    headers.reth.dma_length = length;
    put(headers, payload, true);
  }
  void send(std::uint32_t psn) { request(wire::Operation::send_only, psn); }
  void sends(std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t psn = first; psn <= last; ++psn) send(psn);
  }
  void read(std::uint32_t psn, std::uint32_t length) {
    request(wire::Operation::read_request, psn, 0, length);
  }

  void answer(std::uint32_t psn, std::uint8_t syndrome) {
    wire::TransportHeaders headers = headers_of(wire::Operation::acknowledge, psn, false);
    headers.aeth.syndrome = syndrome;
    put(headers, 0, false);
  }
  void ack(std::uint32_t psn) { answer(psn, 0x1F); }
  void nak(std::uint32_t psn) { answer(psn, wire::nak_syndrome(wire::NakCode::psn_sequence_error)); }
  void rnr(std::uint32_t psn) { answer(psn, wire::rnr_nak_syndrome(1)); }
  void selective(std::uint32_t psn, std::uint32_t latest, std::uint64_t earlier) {
    wire::TransportHeaders headers = headers_of(wire::Operation::acknowledge, psn, false);
    headers.bth.opcode = wire::kSelectiveAcknowledge;
    headers.aeth.syndrome = 0x60;
    headers.selective_ack_eth = {.latest = wire::Psn{latest}, .earlier = earlier};
    put(headers, 0, false);
  }
  void notification() {
    wire::TransportHeaders headers = headers_of(wire::Operation::acknowledge, 0, false);
    headers.bth.opcode = wire::kCongestionNotification;
    headers.bth.becn = true;
    put(headers, 16, false);
  }
  void response(wire::Operation operation, std::uint32_t psn, std::size_t payload) {
    put(headers_of(operation, psn, false), payload, false);
  }

  // A record of a frame at a capture point, 0 to 5 in the order of the constructor; 0 without points.
  void record(const wire::test::Bytes& frame, std::uint32_t interface, std::string_view comment = {}) {
    const CapturedPacket record{.number = ++number_,
                                .nanoseconds = kStart + static_cast<std::int64_t>(number_) * kStep,
                                .interface = interface,
                                .original_bytes = static_cast<std::uint32_t>(frame.size()),
                                .bytes = frame,
                                .comment = comment};
    tracker_.add(record, interfaces_);
  }

  wire::test::Bytes frame(const wire::TransportHeaders& headers, std::size_t payload, bool from_a) const {
    wire::NetworkHeaders network;
    network.source.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 1};
    network.destination.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 2};
    network.ip_identification = identification;
    network.traffic_class = mark ? 3 : 0;
    if (!from_a) std::swap(network.source, network.destination);
    return wire::test::encoded(network, headers, payload);
  }

  wire::TransportHeaders headers_of(wire::Operation operation, std::uint32_t psn, bool is_request) const {
    wire::TransportHeaders headers;
    headers.bth.opcode = wire::Opcode(service, operation);
    headers.bth.psn = wire::Psn{psn};
    headers.bth.destination = wire::Qpn{is_request != reversed ? qp_of_b : qp_of_a};
    return headers;
  }

  FlowTracker& tracker() { return tracker_; }
  std::uint64_t last() const { return number_; }
  // The packet whose first record has this number.
  const Packet& packet(FrameNumber number) const { return *tracker_.packet(number); }

  // "N: what is said of it", for all packets of which anything is said.
  std::vector<std::string> remarks() {
    tracker_.finish();
    std::vector<std::string> all;
    for (PacketId id = tracker_.packets().begin(); id < tracker_.packets().end(); ++id) {
      const Packet& packet = tracker_.packets()[id];
      const std::string text = remark_text(tracker_, packet);
      if (!text.empty()) all.push_back(std::to_string(packet.number) + ": " + text);
    }
    return all;
  }

 private:
  void put(const wire::TransportHeaders& headers, std::size_t payload, bool is_request) {
    const bool from_a = is_request != reversed;
    const wire::test::Bytes bytes = frame(headers, payload, from_a);
    if (where_ == Where::every_point) {
      record(bytes, from_a ? 0 : 3);
      record(bytes, lose ? (from_a ? 2 : 5) : (from_a ? 4 : 1), lose ? "a rule: dropped" : "");
    } else if (!lose || where_ == Where::at_sender) {
      record(bytes, 0);
    }
  }

  FlowTracker tracker_;
  Where where_;
  std::vector<CaptureInterface> interfaces_;
  std::uint64_t number_ = 0;
};

// Four messages that arrive and are acknowledged, up to PSN 14: six packets.
inline void ordinary(Traffic& traffic) {
  traffic.send(11);
  traffic.ack(11);
  traffic.sends(12, 14);
  traffic.ack(14);
}

// For comparisons whose failure shows a line for each remark.
inline std::string text_of(const std::vector<std::string>& remarks) {
  std::string text;
  for (const std::string& remark : remarks) text += "\n  " + remark;
  return text;
}

}  // namespace urnic::analysis::test
