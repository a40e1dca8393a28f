#include "analysis/capture_files/packet_filter.hpp"

#include <pcap/pcap.h>

#include <algorithm>
#include <cstdint>

#include "analysis/capture_files/capture_error.hpp"

namespace urnic::analysis {
namespace {

constexpr int kSnapshotBytes = 65535;

}  // namespace

struct PacketFilter::Program {
  bpf_program code{};
  ~Program() { pcap_freecode(&code); }
};

PacketFilter::PacketFilter(const std::string& expression) : program_(std::make_unique<Program>()) {
  const std::unique_ptr<pcap_t, decltype(&pcap_close)> offline(pcap_open_dead(DLT_EN10MB, kSnapshotBytes),
                                                               pcap_close);
  if (!offline) throw CaptureError("libpcap has no memory");
  if (pcap_compile(offline.get(), &program_->code, expression.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0)
    throw CaptureError(expression + ": " + pcap_geterr(offline.get()));
}

PacketFilter::~PacketFilter() = default;
PacketFilter::PacketFilter(PacketFilter&&) noexcept = default;

bool PacketFilter::matches(std::span<const std::byte> frame, std::size_t original_bytes) const {
  pcap_pkthdr header{};
  header.caplen = static_cast<bpf_u_int32>(std::min<std::size_t>(frame.size(), UINT32_MAX));
  header.len = static_cast<bpf_u_int32>(std::min<std::size_t>(original_bytes, UINT32_MAX));
  return pcap_offline_filter(&program_->code, &header, reinterpret_cast<const u_char*>(frame.data())) != 0;
}

}  // namespace urnic::analysis
