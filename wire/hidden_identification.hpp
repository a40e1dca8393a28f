// The ICRC of an IPv4 packet covers the Identification (IBTA A17.3.3), which a UDP socket does not show to
// the receiver. The CRC is linear: the ICRC of a packet with Identification i is that with 0, XOR a value
// that depends only on i and on the number of bytes behind it. So the Identification follows from the ICRC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace urnic::wire {

// `difference`: the received ICRC XOR the one computed with Identification 0. `covered`: how many bytes the
// ICRC covers from the Identification on. Empty: the packet is damaged, since no Identification explains the
// difference. Damage goes unnoticed with a probability of 2^-16.
std::optional<std::uint16_t> hidden_identification(std::uint32_t difference, std::size_t covered);

// The other way: what an Identification adds to the ICRC that was computed with 0.
std::uint32_t icrc_change(std::uint16_t identification, std::size_t covered);

}  // namespace urnic::wire
