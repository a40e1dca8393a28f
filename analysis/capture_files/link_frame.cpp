#include "analysis/capture_files/link_frame.hpp"

#include <algorithm>
#include <string>

#include "analysis/capture_files/capture_error.hpp"
#include "analysis/capture_files/erf_record.hpp"
#include "analysis/capture_files/ethernet_frame.hpp"

namespace urnic::analysis {

void set_frame(CapturedPacket& packet, LinkType link, std::span<const std::byte> record,
               std::uint32_t original, std::vector<std::byte>& storage) {
  if (!is_supported(link)) {
    throw CaptureError("its packets have link type " + std::to_string(static_cast<unsigned>(link)) +
                       "; read are Ethernet (1), raw IP (101, 228, 229), Linux cooked (113, 276) and "
                       "InfiniBand (247, and in ERF 197)");
  }
  if (link == LinkType::infiniband) {
    packet.link_layer = wire::LinkLayer::infiniband;
    packet.bytes = record;
    packet.original_bytes = std::max(original, static_cast<std::uint32_t>(record.size()));
    return;
  }
  if (link == LinkType::erf) {
    const ErfPacket found = infiniband_packet(record);
    packet.link_layer = wire::LinkLayer::infiniband;
    packet.bytes = found.bytes;
    packet.original_bytes = found.original_bytes;
    return;
  }
  packet.link_layer = wire::LinkLayer::ethernet;
  packet.bytes = ethernet_frame(link, record, storage).value_or(std::span<const std::byte>{});
  const std::int64_t length = std::max<std::int64_t>(original, static_cast<std::int64_t>(record.size()));
  packet.original_bytes =
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(length + frame_growth(link), 0, UINT32_MAX));
}

}  // namespace urnic::analysis
