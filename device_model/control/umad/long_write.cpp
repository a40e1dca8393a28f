#include "device_model/control/umad/long_write.hpp"

#include <algorithm>

#include "device_model/control/umad/packet_rest.hpp"

namespace urnic::control {

LongWrite::LongWrite(const UmadPacket& packet, const GsiAddress& to, std::span<const std::byte> beginning,
                     int rest, std::size_t rest_bytes)
    : packet_(packet), to_(to), rest_(rest), begin_(beginning.size()), size_(begin_ + rest_bytes) {
  message_.reserve(size_);
  message_.assign(beginning.begin(), beginning.end());
}

LongWrite::State LongWrite::read(std::size_t most) {
  const std::size_t before = message_.size();
  message_.resize(before + std::min(most, size_ - before));
  if (!read_rest(rest_, std::span(message_).subspan(before), before - begin_)) return State::cut_off;
  return message_.size() == size_ ? State::whole : State::under_way;
}

}  // namespace urnic::control
