// What congestion control is told of request packets, and how it holds them back.
#include "device_model/transport/requester/requester.hpp"

namespace urnic::transport {

namespace {

// Of a frame over IPv4 without extended headers, about: Ethernet 14, IP 20, UDP 8, BTH 12, ICRC 4.
constexpr std::uint32_t kHeaderBytes = 58;

}  // namespace

void Requester::use(const CongestionSettings& settings, Time now) {
  control_.reset();
  pace_.allow(SendRate::unlimited());
  if (!is_on(settings)) return;
  pace_.let_together(settings.burst);
  control_ = std::make_unique<SenderControl>(settings, window_packets_);
  begin_anew(now);
}

void Requester::begin_anew(Time now) {
  control_->start(path_mtu_ + kHeaderBytes, now);
  obey_control(now);
}

bool Requester::notified(Time now) {
  if (control_ == nullptr) return false;
  control_->marked(now);
  obey_control(now);
  return true;
}

// The packet has left. `packets`: the PSNs that it takes.
void Requester::pace_departure(const OutboundPacket& packet, PacketRange packets, Time now) {
  const std::size_t bytes = shared_.config.host->frame_bytes(packet);
  if (control_ != nullptr) {
    const auto length = static_cast<std::uint32_t>(bytes);
    if (packets.first < next_new_) {
      control_->sent_again(packets, length, now);
    } else {
      shared_.config.counters->slow_restarts += in_flight() == 0 && control_->wake(now);
      control_->sent(packets.first, length, now);
    }
    obey_control(now);
  }
  if (pace_.is_limited()) pace_.sent(now, bytes);
}

}  // namespace urnic::transport
