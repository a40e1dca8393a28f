#include "device_model/engine/device.hpp"

#include <algorithm>
#include <cstring>

#include "device_model/engine/data_path.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/engine/queue_pair_context.hpp"

namespace urnic::engine {

namespace {

constexpr std::uint8_t kEcnMask = 3;  // CE is both bits (RFC 3168)

}  // namespace

Device::Device(const DeviceConfig& config, Engine& engine, link::Switch& fabric)
    : config_(config),
      data_path_(engine.data_path()),
      memory_table_(config.max_memory_keys),
      queue_pairs_(config.max_qp),
      port_(fabric.attach(config.mac, *this, config.name)) {
  data_path_.set_frames_under_way(&fabric);
  data_path_.add_device(*this);
}

Device::~Device() = default;

void Device::transmit(const wire::Frame& frame, const link::PacketOrigin& origin) {
  ++port_counters_.transmitted_packets;
  port_counters_.transmitted_bytes += frame.size();
  port_.transmit(frame, origin, data_path_.now());
}

std::size_t Device::port_room(std::uint64_t round, std::size_t least) const {
  const std::size_t promised = promised_in_ == round ? promised_ : 0;
  const std::size_t room = port_.room(data_path_.now(), least);
  return room > promised ? room - promised : 0;
}

void Device::promise_port(std::uint64_t round, std::size_t bytes) {
  if (promised_in_ != round) promised_ = 0;
  promised_in_ = round;
  promised_ += bytes;
}

std::uint32_t Device::ordinal_of(wire::Qpn qpn) const {
  const QueuePairContext* const queue_pair = queue_pairs_.find(qpn);
  return queue_pair != nullptr ? queue_pair->ordinal() : 0;
}

// A packet that does not check out is dropped without a word (IBTA 9.6).
void Device::arrive(const wire::Frame& frame, bool payload_is_stable) {
  ++port_counters_.received_packets;
  port_counters_.received_bytes += frame.size();
  const wire::ParseError error = wire::parse(frame, parsed_);
  if (error != wire::ParseError::none) {
    ++port_counters_.receive_errors;
    if (error == wire::ParseError::bad_icrc) ++port_counters_.icrc_errors;
    return;
  }
  QueuePairContext* const queue_pair = queue_pairs_.find(parsed_.transport.bth.destination);
  if (!is_for(queue_pair, parsed_.network)) {
    ++port_counters_.wrong_address;
    return;
  }
  if (queue_pair == nullptr) {
    ++port_counters_.unknown_qp;
    return;
  }
  transport::InboundPacket packet{
      .headers = parsed_.transport,
      .payload = parsed_.payload,
      .congestion_experienced = (parsed_.network.traffic_class & kEcnMask) == kEcnMask};
  if (!payload_is_stable && !keep_payload(packet.payload)) {
    ++port_counters_.buffer_overruns;
    return;
  }
  queue_pair->receive(packet);
}

// A QP's path ends at one of our GIDs: they are looked through only where there is no QP.
bool Device::is_for(const QueuePairContext* queue_pair, const wire::NetworkHeaders& network) const {
  if (network.destination_mac != config_.mac) return false;
  if (queue_pair != nullptr) return queue_pair->is_on_path(network);
  return std::find(config_.gids.begin(), config_.gids.end(), network.destination) != config_.gids.end();
}

// Copies the payload to where it stays until the writes that refer to it are done; false if there is no room:
// the packet counts as lost.
bool Device::keep_payload(std::span<const std::byte>& payload) {
  if (payload.empty()) return true;
  std::byte* const copy = data_path_.filling().arena->take(static_cast<std::uint32_t>(payload.size()));
  if (copy == nullptr) return false;
  std::memcpy(copy, payload.data(), payload.size());
  payload = {copy, payload.size()};
  return true;
}

}  // namespace urnic::engine
