#include "device_model/fault/packet_filter.hpp"

#include <memory>
#include <new>
#include <stdexcept>

namespace urnic::fault {

PacketFilter::PacketFilter(const std::string& expression) : any_(expression.empty()) {
  if (any_) return;
  constexpr int kSnapshotBytes = 65535;
  const std::unique_ptr<pcap_t, decltype(&pcap_close)> offline(pcap_open_dead(DLT_EN10MB, kSnapshotBytes),
                                                               pcap_close);
  if (offline == nullptr) throw std::bad_alloc();
  if (pcap_compile(offline.get(), &program_, expression.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0)
    throw std::runtime_error(pcap_geterr(offline.get()));
}

PacketFilter::~PacketFilter() {
  if (!any_) pcap_freecode(&program_);
}

bool PacketFilter::matches(std::span<const std::byte> headers, const wire::Frame& frame) const {
  if (any_) return true;
  if (frame.link_layer != wire::LinkLayer::ethernet) return false;
  pcap_pkthdr lengths{};
  lengths.caplen = static_cast<bpf_u_int32>(headers.size());
  lengths.len = static_cast<bpf_u_int32>(frame.size());
  return pcap_offline_filter(&program_, &lengths, reinterpret_cast<const unsigned char*>(headers.data())) !=
         0;
}

}  // namespace urnic::fault
