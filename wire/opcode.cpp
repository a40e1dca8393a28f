#include "wire/opcode.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace urnic::wire {
namespace {

constexpr std::size_t kOperations = 24;
using NameBuffer = std::array<char, 40>;

// One row of table 38, without what the service adds to it.
struct OperationRow {
  std::string_view name;
  std::uint8_t headers;
  bool request;
  bool first;
  bool last;
  bool carries_payload;
};

// Indexed by Operation.
constexpr std::array<OperationRow, kOperations> kOperationRows{{
    // name, headers, request, first, last, carries_payload
    {"Send First", 0, true, true, false, true},
    {"Send Middle", 0, true, false, false, true},
    {"Send Last", 0, true, false, true, true},
    {"Send Last Immediate", has_immediate, true, false, true, true},
    {"Send Only", 0, true, true, true, true},
    {"Send Only Immediate", has_immediate, true, true, true, true},
    {"RDMA Write First", has_reth, true, true, false, true},
    {"RDMA Write Middle", 0, true, false, false, true},
    {"RDMA Write Last", 0, true, false, true, true},
    {"RDMA Write Last Immediate", has_immediate, true, false, true, true},
    {"RDMA Write Only", has_reth, true, true, true, true},
    {"RDMA Write Only Immediate", has_reth | has_immediate, true, true, true, true},
    {"RDMA Read Request", has_reth, true, true, true, false},
    {"RDMA Read Response First", has_aeth, false, true, false, true},
    {"RDMA Read Response Middle", 0, false, false, false, true},
    {"RDMA Read Response Last", has_aeth, false, false, true, true},
    {"RDMA Read Response Only", has_aeth, false, true, true, true},
    {"Acknowledge", has_aeth, false, true, true, false},
    {"Atomic Acknowledge", has_aeth | has_atomic_ack_eth, false, true, true, false},
    {"Compare Swap", has_atomic_eth, true, true, true, false},
    {"Fetch Add", has_atomic_eth, true, true, true, false},
    {"", 0, false, false, false, false},
    {"Send Last Invalidate", has_ieth, true, false, true, true},
    {"Send Only Invalidate", has_ieth, true, true, true, true},
}};

constexpr bool service_has(Service service, std::size_t operation) {
  if (kOperationRows[operation].name.empty()) return false;
  switch (service) {
    case Service::rc:
    case Service::xrc:
      return true;
    case Service::uc:
      return operation <= static_cast<std::size_t>(Operation::write_only_immediate);
    case Service::ud:
      return operation == static_cast<std::size_t>(Operation::send_only) ||
             operation == static_cast<std::size_t>(Operation::send_only_immediate);
    case Service::rd:
    case Service::cnp:
      return false;
  }
  return false;
}

constexpr std::string_view service_name(Service service) {
  switch (service) {
    case Service::rc:
      return "RC ";
    case Service::uc:
      return "UC ";
    case Service::ud:
      return "UD ";
    case Service::xrc:
      return "XRC ";
    case Service::rd:
    case Service::cnp:
      return "";
  }
  return "";
}

struct OpcodeTable {
  std::array<OpcodeTraits, 256> traits{};
  std::array<NameBuffer, 256> names{};
};

constexpr void set_name(NameBuffer& buffer, std::string_view prefix, std::string_view name) {
  std::size_t at = 0;
  for (char letter : prefix) buffer[at++] = letter;
  for (char letter : name) buffer[at++] = letter;
}

constexpr OpcodeTraits make_traits(Service service, const OperationRow& row) {
  std::uint8_t headers = row.headers;
  if (service == Service::ud) headers |= has_deth;
  // Every request of XRC names its target's SRQ, responses do not (IBTA A14.3).
  if (service == Service::xrc && row.request) headers |= has_xrceth;
  return {.known = true,
          .headers = headers,
          .request = row.request,
          .first = row.first,
          .last = row.last,
          .carries_payload = row.carries_payload};
}

constexpr OpcodeTable make_table() {
  OpcodeTable table;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const auto service = static_cast<Service>(byte & 0xE0);
    const std::size_t operation = byte & 0x1F;
    if (operation < kOperations && service_has(service, operation)) {
      table.traits[byte] = make_traits(service, kOperationRows[operation]);
      set_name(table.names[byte], service_name(service), kOperationRows[operation].name);
    } else {
      set_name(table.names[byte], "", "unknown");
    }
  }
  // A CNP answers no request and its 16 reserved bytes stand where others have a payload (IBTA A17.9.3).
  table.traits[kCongestionNotification.value] = {
      .known = true, .headers = 0, .request = false, .first = true, .last = true, .carries_payload = true};
  table.names[kCongestionNotification.value] = {};
  set_name(table.names[kCongestionNotification.value], "", "CNP");
  return table;
}

constexpr OpcodeTable kTable = make_table();

}  // namespace

const OpcodeTraits& traits(Opcode opcode) { return kTable.traits[opcode.value]; }

const char* name(Opcode opcode) { return kTable.names[opcode.value].data(); }

}  // namespace urnic::wire
