// The laboratory's own clock: picoseconds, because a frame of 60 bytes takes 4.8 ns at 100 Gbit/s and
// rounding each to a nanosecond would change the rate of the link. The transport is told whole nanoseconds.
#pragma once

#include <chrono>
#include <cstdint>

#include "device_model/transport/time.hpp"

namespace urnic::transport::lab {

using Picoseconds = std::chrono::duration<std::int64_t, std::pico>;

inline constexpr Picoseconds kNever = Picoseconds::max();

// The moment as the transport's clock shows it, rounded down.
inline Time transport_time(Picoseconds now) { return Time(std::chrono::duration_cast<Nanoseconds>(now)); }
// The first moment at which the transport's clock shows `time`.
inline Picoseconds first_moment(Time time) { return time.time_since_epoch(); }

inline double seconds(Picoseconds span) { return std::chrono::duration<double>(span).count(); }

}  // namespace urnic::transport::lab
