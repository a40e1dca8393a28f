// Writes a capture file of InfiniBand's packets for test_against_tshark.py: every opcode with and without a
// GRH, management of every kind, the connection manager's REQ. All CRCs are right.
#include <pcap/pcap.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "tests/unit/analysis/infiniband_packets.hpp"
#include "wire/mad/cm_messages.hpp"

namespace {

using namespace urnic;
using analysis::test::infiniband_network;
using analysis::test::on_link;

class Capture {
 public:
  explicit Capture(const char* path)
      : pcap_(pcap_open_dead(DLT_ERF, 65535), &pcap_close),
        file_(pcap_dump_open(pcap_.get(), path), &pcap_dump_close) {
    if (file_ != nullptr) return;
    std::fprintf(stderr, "%s: %s\n", path, pcap_geterr(pcap_.get()));
    std::exit(1);
  }

  void add(const wire::test::Bytes& packet) {
    const wire::test::Bytes record = analysis::test::erf_record(packet);
    pcap_pkthdr header{};
    header.caplen = header.len = static_cast<bpf_u_int32>(record.size());
    pcap_dump(reinterpret_cast<u_char*>(file_.get()), &header,
              reinterpret_cast<const u_char*>(record.data()));
  }

 private:
  std::unique_ptr<pcap_t, decltype(&pcap_close)> pcap_;
  std::unique_ptr<pcap_dumper_t, decltype(&pcap_dump_close)> file_;
};

void add_opcodes(Capture& capture) {
  for (unsigned value = 0; value < 256; ++value) {
    const wire::Opcode opcode{static_cast<std::uint8_t>(value)};
    if (!wire::traits(opcode).known) continue;
    const std::size_t payload = wire::traits(opcode).carries_payload ? 33 : 0;
    for (const bool with_grh : {false, true})
      capture.add(on_link(infiniband_network(with_grh), wire::test::transport_for(opcode), payload));
  }
}

void add_request(Capture& capture) {
  wire::mad::Req request;
  request.local_id = {0x77};
  request.local_qpn = wire::Qpn{0x11};
  wire::TransportHeaders transport;
  transport.bth.opcode = wire::Opcode(wire::Service::ud, wire::Operation::send_only);
  transport.bth.destination = wire::Qpn{1};
  transport.deth = {.qkey = 0x80010000, .source = wire::Qpn{1}};
  capture.add(on_link(infiniband_network(true), transport, wire::mad::encode(request, {1})));
}

void add_general(Capture& capture) {
  constexpr std::uint8_t kGetTableResponse = 0x92;
  constexpr std::uint8_t kGet = 1;
  using analysis::test::general_management_packet;
  capture.add(general_management_packet({.management_class = 3,
                                         .method = kGetTableResponse,
                                         .attribute = 0x11,
                                         .rmpp = {.version = 1,
                                                  .type = wire::mad::RmppType::data,
                                                  .first = true,
                                                  .active = true,
                                                  .segment = 1,
                                                  .length_or_window = 432}}));
  capture.add(general_management_packet({.management_class = 4, .method = kGet, .attribute = 0x12}));
  capture.add(general_management_packet({.management_class = 0x32, .method = kGet}));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  Capture capture(argv[1]);
  add_opcodes(capture);
  for (const bool is_directed : {true, false})
    capture.add(analysis::test::subnet_management_packet(is_directed));
  add_request(capture);
  add_general(capture);
  return 0;
}
