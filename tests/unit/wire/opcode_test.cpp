#include "wire/opcode.hpp"

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>

#include "wire/transport_codec.hpp"

namespace urnic::wire {
namespace {

constexpr unsigned request = 1;
constexpr unsigned first = 2;
constexpr unsigned last = 4;
constexpr unsigned payload = 8;

struct Row {
  std::uint8_t opcode;
  const char* name;
  unsigned headers;
  std::size_t header_bytes;  // BTH included
  unsigned flags;
};

// IBTA 9.2.1, table 38; XRC: A14.3; CNP: A17.9.3; ATOMIC WRITE: A19. All other opcodes are reserved or RD's.
constexpr std::array kTable38 = std::to_array<Row>({
    {0x00, "RC Send First", 0, 12, request | first | payload},
    {0x01, "RC Send Middle", 0, 12, request | payload},
    {0x02, "RC Send Last", 0, 12, request | last | payload},
    {0x03, "RC Send Last Immediate", has_immediate, 16, request | last | payload},
    {0x04, "RC Send Only", 0, 12, request | first | last | payload},
    {0x05, "RC Send Only Immediate", has_immediate, 16, request | first | last | payload},
    {0x06, "RC RDMA Write First", has_reth, 28, request | first | payload},
    {0x07, "RC RDMA Write Middle", 0, 12, request | payload},
    {0x08, "RC RDMA Write Last", 0, 12, request | last | payload},
    {0x09, "RC RDMA Write Last Immediate", has_immediate, 16, request | last | payload},
    {0x0A, "RC RDMA Write Only", has_reth, 28, request | first | last | payload},
    {0x0B, "RC RDMA Write Only Immediate", has_reth | has_immediate, 32, request | first | last | payload},
    {0x0C, "RC RDMA Read Request", has_reth, 28, request | first | last},
    {0x0D, "RC RDMA Read Response First", has_aeth, 16, first | payload},
    {0x0E, "RC RDMA Read Response Middle", 0, 12, payload},
    {0x0F, "RC RDMA Read Response Last", has_aeth, 16, last | payload},
    {0x10, "RC RDMA Read Response Only", has_aeth, 16, first | last | payload},
    {0x11, "RC Acknowledge", has_aeth, 16, first | last},
    {0x12, "RC Atomic Acknowledge", has_aeth | has_atomic_ack_eth, 24, first | last},
    {0x13, "RC Compare Swap", has_atomic_eth, 40, request | first | last},
    {0x14, "RC Fetch Add", has_atomic_eth, 40, request | first | last},
    {0x16, "RC Send Last Invalidate", has_ieth, 16, request | last | payload},
    {0x17, "RC Send Only Invalidate", has_ieth, 16, request | first | last | payload},
    {0x1D, "RC Atomic Write", has_reth, 28, request | first | last | payload},
    {0x20, "UC Send First", 0, 12, request | first | payload},
    {0x21, "UC Send Middle", 0, 12, request | payload},
    {0x22, "UC Send Last", 0, 12, request | last | payload},
    {0x23, "UC Send Last Immediate", has_immediate, 16, request | last | payload},
    {0x24, "UC Send Only", 0, 12, request | first | last | payload},
    {0x25, "UC Send Only Immediate", has_immediate, 16, request | first | last | payload},
    {0x26, "UC RDMA Write First", has_reth, 28, request | first | payload},
    {0x27, "UC RDMA Write Middle", 0, 12, request | payload},
    {0x28, "UC RDMA Write Last", 0, 12, request | last | payload},
    {0x29, "UC RDMA Write Last Immediate", has_immediate, 16, request | last | payload},
    {0x2A, "UC RDMA Write Only", has_reth, 28, request | first | last | payload},
    {0x2B, "UC RDMA Write Only Immediate", has_reth | has_immediate, 32, request | first | last | payload},
    {0x64, "UD Send Only", has_deth, 20, request | first | last | payload},
    {0x65, "UD Send Only Immediate", has_deth | has_immediate, 24, request | first | last | payload},
    {0x81, "CNP", 0, 12, first | last | payload},
    {0xA0, "XRC Send First", has_xrceth, 16, request | first | payload},
    {0xA1, "XRC Send Middle", has_xrceth, 16, request | payload},
    {0xA2, "XRC Send Last", has_xrceth, 16, request | last | payload},
    {0xA3, "XRC Send Last Immediate", has_xrceth | has_immediate, 20, request | last | payload},
    {0xA4, "XRC Send Only", has_xrceth, 16, request | first | last | payload},
    {0xA5, "XRC Send Only Immediate", has_xrceth | has_immediate, 20, request | first | last | payload},
    {0xA6, "XRC RDMA Write First", has_xrceth | has_reth, 32, request | first | payload},
    {0xA7, "XRC RDMA Write Middle", has_xrceth, 16, request | payload},
    {0xA8, "XRC RDMA Write Last", has_xrceth, 16, request | last | payload},
    {0xA9, "XRC RDMA Write Last Immediate", has_xrceth | has_immediate, 20, request | last | payload},
    {0xAA, "XRC RDMA Write Only", has_xrceth | has_reth, 32, request | first | last | payload},
    {0xAB, "XRC RDMA Write Only Immediate", has_xrceth | has_reth | has_immediate, 36,
     request | first | last | payload},
    {0xAC, "XRC RDMA Read Request", has_xrceth | has_reth, 32, request | first | last},
    {0xAD, "XRC RDMA Read Response First", has_aeth, 16, first | payload},
    {0xAE, "XRC RDMA Read Response Middle", 0, 12, payload},
    {0xAF, "XRC RDMA Read Response Last", has_aeth, 16, last | payload},
    {0xB0, "XRC RDMA Read Response Only", has_aeth, 16, first | last | payload},
    {0xB1, "XRC Acknowledge", has_aeth, 16, first | last},
    {0xB2, "XRC Atomic Acknowledge", has_aeth | has_atomic_ack_eth, 24, first | last},
    {0xB3, "XRC Compare Swap", has_xrceth | has_atomic_eth, 44, request | first | last},
    {0xB4, "XRC Fetch Add", has_xrceth | has_atomic_eth, 44, request | first | last},
    {0xB6, "XRC Send Last Invalidate", has_xrceth | has_ieth, 20, request | last | payload},
    {0xB7, "XRC Send Only Invalidate", has_xrceth | has_ieth, 20, request | first | last | payload},
    {0xBD, "XRC Atomic Write", has_xrceth | has_reth, 32, request | first | last | payload},
    {0xF1, "Selective Acknowledge", has_aeth | has_selective_ack, 28, first | last},
    {0xF5, "Selective Ack Offer", has_selective_ack, 24, first | last},
});

unsigned flags_of(const OpcodeTraits& opcode) {
  return (opcode.request ? request : 0) | (opcode.first ? first : 0) | (opcode.last ? last : 0) |
         (opcode.carries_payload ? payload : 0);
}

BOOST_AUTO_TEST_SUITE(opcode)

BOOST_AUTO_TEST_CASE(table_38_for_every_byte) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const Opcode opcode{static_cast<std::uint8_t>(byte)};
    const auto row =
        std::find_if(kTable38.begin(), kTable38.end(), [&](const Row& r) { return r.opcode == byte; });
    BOOST_TEST_CONTEXT("opcode " << byte) {
      BOOST_TEST(traits(opcode).known == (row != kTable38.end()));
      if (row == kTable38.end()) {
        BOOST_TEST(name(opcode) == "unknown");
        BOOST_TEST(transport_header_size(opcode) == 12u);
        continue;
      }
      BOOST_TEST(name(opcode) == row->name);
      BOOST_TEST(unsigned{traits(opcode).headers} == row->headers);
      BOOST_TEST(transport_header_size(opcode) == row->header_bytes);
      BOOST_TEST(flags_of(traits(opcode)) == row->flags);
    }
  }
}

BOOST_AUTO_TEST_CASE(longest_header_chain_fits_its_constant) {
  std::size_t longest = 0;
  for (const Row& row : kTable38) longest = std::max(longest, row.header_bytes);
  BOOST_TEST(longest == kMaxTransportHeaderBytes);
}

BOOST_AUTO_TEST_CASE(service_and_operation_make_the_byte) {
  const Opcode opcode(Service::xrc, Operation::read_response_only);
  BOOST_TEST(int{opcode.value} == 0xB0);
  BOOST_TEST((opcode.service() == Service::xrc));
  BOOST_TEST((opcode.operation() == Operation::read_response_only));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::wire
