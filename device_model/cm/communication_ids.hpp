// The numbers that a connection manager chooses: communication ids, transaction ids and starting PSNs.
#pragma once

#include <cstdint>

#include "device_model/transport/mix.hpp"
#include "wire/mad/identifiers.hpp"
#include "wire/psn.hpp"

namespace urnic::cm {

// A counter and a random number of this process, so that ids are used again as late as possible, and peers do
// not take ids of the process before for this one's. The same seed gives the same ids.
class CommunicationIds {
 public:
  explicit CommunicationIds(std::uint64_t seed)
      : seed_(transport::mix(seed)), mask_(static_cast<std::uint32_t>(seed_)) {}

  // May be in use if 2^32 were given since; never 0.
  wire::mad::CommunicationId next() {
    std::uint32_t value = 0;
    while (value == 0) value = ++count_ ^ mask_;
    return {value};
  }

  // The PSN at which the peer of this connection shall begin to send.
  wire::Psn starting_psn(wire::mad::CommunicationId id) const {
    return wire::Psn(static_cast<std::uint32_t>(transport::mix(seed_, id.value) >> 32));
  }

 private:
  std::uint64_t seed_;
  std::uint32_t mask_;
  std::uint32_t count_ = 0;
};

// As Linux makes them: the number of a MAD agent, and the id in little endian.
constexpr wire::mad::TransactionId transaction_of(wire::mad::CommunicationId id) {
  constexpr std::uint64_t kAgent = 2;
  const std::uint32_t value = id.value;
  const std::uint32_t swapped = value >> 24 | (value >> 8 & 0xFF00) | (value << 8 & 0xFF0000) | value << 24;
  return {kAgent << 32 | swapped};
}

}  // namespace urnic::cm
