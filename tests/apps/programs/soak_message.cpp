#include "tests/apps/programs/soak_message.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace urnic::apps {
namespace {

constexpr std::size_t kLongestInline = 64;
constexpr std::size_t kWord = sizeof(std::uint64_t);

struct Names {
  const char* name;
  ibv_wr_opcode request;
  ibv_wc_opcode completion;
};
constexpr std::array<Names, kSoakOperations> kNames{{
    {"send", IBV_WR_SEND, IBV_WC_SEND},
    {"send with immediate", IBV_WR_SEND_WITH_IMM, IBV_WC_SEND},
    {"send with invalidate", IBV_WR_SEND_WITH_INV, IBV_WC_SEND},
    {"write", IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE},
    {"write with immediate", IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RDMA_WRITE},
    {"read", IBV_WR_RDMA_READ, IBV_WC_RDMA_READ},
    {"compare and swap", IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WC_COMP_SWAP},
    {"fetch and add", IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WC_FETCH_ADD},
    {"bind", IBV_WR_BIND_MW, IBV_WC_BIND_MW},
    {"empty write", IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE},
}};

const Names& names(SoakOperation operation) { return kNames[static_cast<std::size_t>(operation)]; }

// The finaliser of SplitMix64.
std::uint64_t mix(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

// Every power of two is as likely as every other, so that there are as many messages of one packet as of
// hundreds.
std::size_t draw_length(std::uint64_t chance, std::size_t longest) {
  const auto exponents = static_cast<std::uint64_t>(std::bit_width(longest));
  const std::size_t power = std::size_t{1} << (chance % exponents);
  return std::min(power + (chance >> 32) % power, longest);
}

SoakOperation draw_operation(std::uint64_t chance) {
  constexpr std::uint64_t kDrawn = static_cast<std::uint64_t>(SoakOperation::bind_window);
  return static_cast<SoakOperation>(chance % kDrawn);
}

}  // namespace

const char* to_string(SoakOperation operation) { return names(operation).name; }
ibv_wr_opcode request_opcode(SoakOperation operation) { return names(operation).request; }
ibv_wc_opcode completion_opcode(SoakOperation operation) { return names(operation).completion; }

std::uint64_t soak_chance(std::uint64_t seed, std::uint64_t lane, std::uint64_t number, std::uint64_t what) {
  return mix(mix(mix(mix(seed) + lane) + number) + what);
}

SoakMessage soak_message(std::uint64_t seed, std::uint64_t lane, std::uint64_t number, std::size_t longest) {
  const auto draw = [&](std::uint64_t what) { return soak_chance(seed, lane, number, what); };
  SoakMessage message;
  message.chance = draw(0);
  message.operation = draw_operation(draw(1));
  message.length = is_atomic(message.operation) ? kWord : draw_length(draw(2), longest);
  message.misalignment = draw(3) % 64;
  message.is_signaled = draw(4) % 4 != 0;
  message.is_inline = !fetches(message.operation) && message.length <= kLongestInline && draw(5) % 2 == 0;
  message.through_window = draw(6) % 2 == 0;
  message.late_receive = draw(7) % 64 == 0;
  return message;
}

}  // namespace urnic::apps
