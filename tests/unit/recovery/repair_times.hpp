// How long the repair of one loss takes: the time of a message of which one packet is lost, less the time of
// the same message without loss. Nothing is left to chance.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tests/unit/recovery/experiment.hpp"

namespace urnic::transport::lab {

// What is lost. For an RDMA READ and an atomic the data packets are the responses.
enum class LossPlace : std::uint8_t {
  first,           // the first data packet of several
  middle,          // any between the first and the last
  last,            // the last data packet of several
  only,            // the data packet of a message that has one
  retransmission,  // any data packet, and the first packet that is sent to repair that
  acknowledgement  // the acknowledgement of the last packet; for a READ or an atomic its request
};

inline constexpr std::array kLossPlaces{LossPlace::first,          LossPlace::middle,
                                        LossPlace::last,           LossPlace::only,
                                        LossPlace::retransmission, LossPlace::acknowledgement};

std::string_view name(LossPlace place);

// The data packets of a message of `packets` of which the loss is measured for `place`, from 0; empty if
// there is none.
std::vector<std::uint32_t> lost_packets(LossPlace place, std::uint32_t packets);

// The repair time for one message of `packets` full packets (one of 8 bytes if an atomic) that loses data
// packet `lost`. Some such messages have been sent before one at a time, so round trips have been measured.
// Empty if the queue pair gave up.
std::optional<Nanoseconds> repair_time(const Experiment& experiment, std::uint32_t packets, LossPlace place,
                                       std::uint32_t lost);

// `repair_time` for each of `lost_packets`.
std::vector<Nanoseconds> repair_times(const Experiment& experiment, std::uint32_t packets, LossPlace place);

}  // namespace urnic::transport::lab
