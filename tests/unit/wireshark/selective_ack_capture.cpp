// Writes a capture file with selective acknowledges and packets of the specification; test_dissector.py has
// the expected fields of each.
#include <pcap/pcap.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "wire/aeth.hpp"
#include "wire/frame.hpp"
#include "wire/selective_ack_offer.hpp"

namespace {

using urnic::wire::FrameStorage;
using urnic::wire::NakCode;
using urnic::wire::NetworkHeaders;
using urnic::wire::Opcode;
using urnic::wire::Operation;
using urnic::wire::Psn;
using urnic::wire::Service;
using urnic::wire::TransportHeaders;

NetworkHeaders ipv4() {
  NetworkHeaders network;
  network.source.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 1};
  network.destination.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 2};
  network.hop_limit = 64;
  network.udp_source = 0xC000;
  return network;
}

NetworkHeaders ipv6() {
  NetworkHeaders network = ipv4();
  network.source.bytes = {0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  network.destination.bytes = {0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
  return network;
}

TransportHeaders packet(Opcode opcode, std::uint32_t psn) {
  TransportHeaders headers;
  headers.bth.opcode = opcode;
  headers.bth.destination = urnic::wire::Qpn{0x12};
  headers.bth.psn = Psn(psn);
  return headers;
}

TransportHeaders nak(NakCode code, std::uint32_t psn) {
  TransportHeaders headers = packet(Opcode(Service::rc, Operation::acknowledge), psn);
  headers.aeth.syndrome = urnic::wire::nak_syndrome(code);
  return headers;
}

TransportHeaders report(std::uint32_t psn, std::uint32_t latest, std::uint64_t earlier) {
  TransportHeaders headers = packet(urnic::wire::kSelectiveAcknowledge, psn);
  headers.aeth = {urnic::wire::nak_syndrome(NakCode::psn_sequence_error), urnic::wire::Msn{7}};
  headers.selective_ack_eth = {.reserved = 0, .latest = Psn(latest), .earlier = earlier};
  return headers;
}

TransportHeaders offer(const urnic::wire::SelectiveAckOffer& offer) {
  TransportHeaders headers = packet(urnic::wire::kSelectiveAckOffer, 0xC00000);
  headers.selective_ack_eth = urnic::wire::header_of(offer);
  return headers;
}

class Capture {
 public:
  explicit Capture(const char* path)
      : pcap_(pcap_open_dead(DLT_EN10MB, 65535), &pcap_close),
        file_(pcap_dump_open(pcap_.get(), path), &pcap_dump_close) {
    if (file_ != nullptr) return;
    std::fprintf(stderr, "%s: %s\n", path, pcap_geterr(pcap_.get()));
    std::exit(1);
  }

  void add(const NetworkHeaders& network, const TransportHeaders& headers, std::size_t payload_bytes = 0) {
    const std::vector<std::byte> payload(payload_bytes, std::byte{0x55});
    FrameStorage storage;
    const urnic::wire::Frame frame = urnic::wire::encode(network, headers, payload, storage);
    std::vector<unsigned char> bytes;
    for (const auto piece : {frame.headers, frame.payload, frame.trailer}) {
      for (const std::byte byte : piece) bytes.push_back(std::to_integer<unsigned char>(byte));
    }
    pcap_pkthdr record{};
    record.ts.tv_sec = ++seconds_;
    record.caplen = record.len = static_cast<bpf_u_int32>(bytes.size());
    pcap_dump(reinterpret_cast<unsigned char*>(file_.get()), &record, bytes.data());
  }

 private:
  std::unique_ptr<pcap_t, decltype(&pcap_close)> pcap_;
  std::unique_ptr<pcap_dumper_t, decltype(&pcap_dump_close)> file_;
  int seconds_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FILE.pcap\n", argv[0]);
    return 2;
  }
  constexpr std::uint64_t kAllBut4 = ~std::uint64_t{0} << 4;
  Capture capture(argv[1]);
  capture.add(ipv4(), packet(Opcode(Service::rc, Operation::send_only), 1), 64);
  capture.add(ipv4(), packet(Opcode(Service::rc, Operation::acknowledge), 3));
  capture.add(ipv4(), report(100, 104, kAllBut4 | 0b101));
  capture.add(ipv6(), report(0xFFFFFE, 2, kAllBut4 | 0b0110));
  capture.add(ipv4(), nak(NakCode::psn_sequence_error, 100));
  capture.add(ipv4(), report(100, 500, ~std::uint64_t{0}));
  capture.add(ipv4(), report(100, 99, ~std::uint64_t{0}));
  capture.add(ipv4(), offer({.reads = true, .gives = false, .wants_answer = true}));
  return 0;
}
