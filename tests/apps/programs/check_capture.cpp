// Checks a capture file frame by frame with urnic's own parser: headers, lengths, checksums, ICRC,
// timestamps, and that the file ends where a record ends. Prints what is in it as a JSON object.
//
// Usage: check_capture FILE. Exit status 1 if anything is wrong; each fault is a line on stderr.
#include <fmt/format.h>
#include <pcap/pcap.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "json/json.hpp"
#include "wire/frame.hpp"
#include "wire/network_codec.hpp"

namespace {

using namespace urnic;

constexpr std::uint32_t kNanosecondMagic = 0xA1B23C4D;
constexpr std::uint64_t kMaxReports = 20;

struct Findings {
  std::uint64_t frames = 0;
  std::uint64_t faults = 0;
  std::uint64_t without_udp_checksum = 0;
  std::uint64_t last_timestamp = 0;
  std::map<unsigned, std::uint64_t> opcodes;

  void fault(const std::string& what) {
    if (++faults <= kMaxReports) fmt::print(stderr, "frame {}: {}\n", frames, what);
  }
};

void check_frame(const pcap_pkthdr& header, const u_char* data, Findings& findings) {
  ++findings.frames;
  const std::uint64_t timestamp = static_cast<std::uint64_t>(header.ts.tv_sec) * 1'000'000'000 +
                                  static_cast<std::uint64_t>(header.ts.tv_usec);  // nanoseconds, as asked for
  if (timestamp <= findings.last_timestamp) findings.fault("its timestamp is not later than the one before");
  findings.last_timestamp = timestamp;
  if (header.caplen != header.len) findings.fault("it was cut");
  wire::ParsedFrame parsed;
  const wire::ParseError error =
      wire::parse({reinterpret_cast<const std::byte*>(data), header.caplen}, parsed);
  if (error != wire::ParseError::none) {
    findings.fault(wire::describe(error));
    return;
  }
  if (parsed.network.udp_checksum == 0) ++findings.without_udp_checksum;
  ++findings.opcodes[static_cast<unsigned>(data[wire::network_header_size(parsed.network)])];
}

// libpcap reads microsecond files too and makes their times look like nanoseconds.
bool has_nanoseconds(const char* path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path, "rb"), std::fclose);
  std::uint32_t magic = 0;
  return file && std::fread(&magic, sizeof magic, 1, file.get()) == 1 && magic == kNanosecondMagic;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: check_capture FILE\n");
    return 2;
  }
  char message[PCAP_ERRBUF_SIZE] = "";
  const std::unique_ptr<pcap_t, void (*)(pcap_t*)> capture(
      pcap_open_offline_with_tstamp_precision(argv[1], PCAP_TSTAMP_PRECISION_NANO, message), pcap_close);
  if (!capture) {
    fmt::print(stderr, "{}: {}\n", argv[1], message);
    return 1;
  }
  Findings findings;
  if (!has_nanoseconds(argv[1])) findings.fault("the file is not a nanosecond pcap");
  if (pcap_datalink(capture.get()) != DLT_EN10MB) findings.fault("the link type is not Ethernet");
  pcap_pkthdr* header = nullptr;
  const u_char* data = nullptr;
  int result = 0;
  while ((result = pcap_next_ex(capture.get(), &header, &data)) == 1) check_frame(*header, data, findings);
  if (result != PCAP_ERROR_BREAK) findings.fault(fmt::format("behind it: {}", pcap_geterr(capture.get())));

  nlohmann::json opcodes = nlohmann::json::object();
  for (const auto& [opcode, count] : findings.opcodes) opcodes[fmt::format("0x{:02x}", opcode)] = count;
  const nlohmann::json report{{"frames", findings.frames},
                              {"faults", findings.faults},
                              {"without_udp_checksum", findings.without_udp_checksum},
                              {"opcodes", opcodes}};
  fmt::print("{}\n", json_text(report));
  return findings.faults == 0 ? 0 : 1;
}
