// When a device last notified each of its peers of congestion, for devices that send one notification to a
// peer in an interval, however many of its queue pairs have marked packets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "device_model/transport/mix.hpp"
#include "device_model/transport/time.hpp"
#include "wire/identifiers.hpp"

namespace urnic::engine {

class NotifiedPeers {
 public:
  // Whether `peer` may be notified now: at most once in `interval`. True: it counts as notified. Two peers
  // that share a place may be notified more often.
  bool take_turn(const wire::Gid& peer, transport::Nanoseconds interval, transport::Time now) {
    Place& place = places_[place_of(peer)];
    if (place.peer == peer && now < place.next) return false;
    place = {peer, now + interval};
    return true;
  }

 private:
  static constexpr std::size_t kPlaces = 256;

  struct Place {
    wire::Gid peer;
    transport::Time next{};
  };

  static std::size_t place_of(const wire::Gid& peer) {
    std::array<std::uint64_t, 2> halves{};
    std::memcpy(halves.data(), peer.bytes.data(), sizeof halves);
    return transport::mix(halves[0], halves[1]) % kPlaces;
  }

  std::array<Place, kPlaces> places_{};
};

}  // namespace urnic::engine
