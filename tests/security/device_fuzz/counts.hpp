// Counts of what attackers have done, in a file that all of them map: they outlive a killed attacker.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace urnic::device_fuzz {

using Count = std::atomic<std::uint64_t>;

inline constexpr std::size_t kOpcodes = 256;

// fuzz_device.py reads these 64-bit words by the names that `fuzz_attacker --names` prints in this order.
struct Counts {
  Count messages;     // control messages sent
  Count served;       // answered without an error
  Count refused;      // answered with an errno
  Count closed;       // connections that the device process closed
  Count unanswered;   // requests without an answer within the time limit
  Count descriptors;  // handed over
  Count contexts;     // opened
  Count posted;       // valid work requests
  Count scribbled;    // 64-bit words of nonsense stored into shared memory
  Count joined;       // forked children that joined a context
  Count connected;    // QPs brought to RTS
  Count turned_away;  // connections that were not accepted
  std::array<Count, kOpcodes> served_by_opcode;
  std::array<Count, kOpcodes> refused_by_opcode;
};
inline constexpr std::array kCountNames{"messages",   "served",      "refused",   "closed",
                                        "unanswered", "descriptors", "contexts",  "posted",
                                        "scribbled",  "joined",      "connected", "turned_away"};
static_assert(sizeof(Counts) == (kCountNames.size() + 2 * kOpcodes) * sizeof(std::uint64_t));

// Maps the counts in `file`, which is created if it does not exist, until the process ends. Throws.
Counts& open_counts(const std::string& file);

}  // namespace urnic::device_fuzz
