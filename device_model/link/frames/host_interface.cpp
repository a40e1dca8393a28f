#include "device_model/link/frames/host_interface.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

namespace urnic::link {
namespace {

constexpr std::size_t kAddressBytes = 6;
// The longest frame that an interface of usual size sends; what is longer goes ahead of its line by the rest.
constexpr std::size_t kLikelyFrame = 1514;
// A look at an interface that has sent nothing costs a system call, for which RoCE packets of busy rounds
// wait: with one each 10 µs they took 1.6 times as long. So an interface that stays silent is looked at
// ever more rarely.
constexpr transport::Nanoseconds kShortestPause{10'000};
constexpr transport::Nanoseconds kLongestPause{320'000};

bool is(std::span<const std::byte> bytes, const wire::MacAddress& address) {
  return std::memcmp(bytes.data(), address.bytes.data(), kAddressBytes) == 0;
}

}  // namespace

// A frame's source must be the interface's address: a program that may send any frame there would pass as
// another device. As their origin the frames have no device, so no connection takes a RoCE packet among them.
void HostInterface::take(Port& port, transport::Time now, const Load& most) {
  waits_until_.reset();
  // A frame that comes to an empty interface wakes the engine if it sleeps; then `woken` asks for a look.
  if (now < next_look_) return;
  const std::size_t room = port.room(now, kLikelyFrame);
  if (room == 0) {
    waits_until_ = port.room_at(kLikelyFrame);
    return;
  }
  const bool is_line = room != std::numeric_limits<std::size_t>::max();
  if (is_line && !std::exchange(has_yielded_, true)) {
    waits_until_ = now;
    return;
  }
  has_yielded_ = false;
  const std::size_t fitting = std::max<std::size_t>(room / kLikelyFrame, 1);
  const auto frames = static_cast<std::uint32_t>(std::min<std::size_t>(fitting, most.frames));
  const auto received = tap_.receive(frames);
  counters_.impossible = tap_.impossible();
  pause_ =
      received.empty() ? std::clamp(2 * pause_, kShortestPause, kLongestPause) : transport::Nanoseconds{};
  next_look_ = now + pause_;
  for (const std::span<std::byte> frame : received) {
    ++given_;
    ++counters_.received_frames;
    if (!is(frame.subspan(kAddressBytes), address_)) {
      ++counters_.refused_sources;
      continue;
    }
    const PacketOrigin origin{.identity = {.device = device_, .count = counters_.received_frames},
                              .queue_pair = kUnknownQpn,
                              .first_psn = {},
                              .selective_acks = transport::SelectiveAcks::outside,
                              .device = {}};
    port.transmit({frame, {}, {}}, origin, now);
  }
}

void HostInterface::release() {
  given_ = 0;
  tap_.release();
}

// The switch gives a frame to a group to its sender, too; a host does not hear itself.
void HostInterface::arrive(const wire::Frame& frame, const PacketOrigin&) {
  if (frame.headers.size() < 2 * kAddressBytes) return;
  const bool to_group = (frame.headers[0] & std::byte{1}) != std::byte{0};
  if (to_group ? is(frame.headers.subspan(kAddressBytes), address_) : !is(frame.headers, address_)) return;
  const bool has_room = outgoing_.add(frame);
  counters_.sent_frames += has_room;
  counters_.host_does_not_read += !has_room;
}

void HostInterface::flush() {
  if (outgoing_.empty()) return;
  tap_.send(outgoing_);
  outgoing_.clear();
}

}  // namespace urnic::link
