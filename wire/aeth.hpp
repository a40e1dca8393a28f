// The AETH syndrome: ACK with credits, RNR NAK with a timer, NAK with a code (IBTA 9.7.5.2, tables 43 to 46).
#pragma once

#include <chrono>
#include <cstdint>

namespace urnic::wire {

// Bits 6 and 5 of the syndrome; bit 7 is reserved and sent as zero.
enum class AethKind : std::uint8_t { ack = 0, rnr_nak = 1, reserved = 2, nak = 3 };

// NAK codes (IBTA 9.7.5.2.8, table 44).
enum class NakCode : std::uint8_t {
  psn_sequence_error = 0,
  invalid_request = 1,
  remote_access_error = 2,
  remote_operational_error = 3,
  invalid_rd_request = 4,
};

// Bit 7 is reserved: a receiver ignores it.
constexpr AethKind kind(std::uint8_t syndrome) { return static_cast<AethKind>((syndrome >> 5) & 3); }
// Credit count code, RNR timer code or NAK code: the low five bits.
constexpr std::uint8_t code(std::uint8_t syndrome) { return syndrome & 0x1F; }

// The syndromes to send; codes are cut to five bits.
constexpr std::uint8_t ack_syndrome(std::uint8_t credit_code) { return credit_code & 0x1F; }
constexpr std::uint8_t rnr_nak_syndrome(std::uint8_t timer_code) { return 0x20 | (timer_code & 0x1F); }
constexpr std::uint8_t nak_syndrome(NakCode nak) { return 0x60 | static_cast<std::uint8_t>(nak); }

// This credit code tells a requester to send without regard to credits (IBTA 9.7.7.2.1).
inline constexpr std::uint8_t kInvalidCreditCode = 31;

// Number of receive WQEs that a credit code stands for (IBTA 9.7.7.2.3). Code 31 stands for no number:
// compare with kInvalidCreditCode first.
std::uint32_t credits_from_code(std::uint8_t credit_code);
// The largest code whose count is at most `credits` (IBTA 9.7.7.2.4).
std::uint8_t credit_code_for(std::uint32_t credits);

// The wait that a 5-bit RNR timer code asks for (table 45): code 0 is 655.36 ms, 1 is 0.01 ms, 31 is 491.52
// ms.
std::chrono::nanoseconds rnr_timer(std::uint8_t timer_code);

}  // namespace urnic::wire
