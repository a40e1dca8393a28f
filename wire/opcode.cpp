#include "wire/opcode.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace urnic::wire {
namespace {

constexpr std::size_t kOperations = 30;
using NameBuffer = std::array<char, 40>;

// One row of table 38, without the headers that the service adds.
struct OperationRow {
  std::string_view name;
  std::uint16_t headers;
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
    {"", 0, false, false, false, false},
    {"", 0, false, false, false, false},
    {"", 0, false, false, false, false},
    {"", 0, false, false, false, false},
    {"", 0, false, false, false, false},
    {"Atomic Write", has_reth, true, true, true, true},
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
    case Service::manufacturer:
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
    case Service::manufacturer:
      return "";
  }
  return "";
}

constexpr void set_name(NameBuffer& buffer, std::string_view prefix, std::string_view name) {
  std::size_t at = 0;
  for (char letter : prefix) buffer[at++] = letter;
  for (char letter : name) buffer[at++] = letter;
}

constexpr OpcodeTraits make_traits(Service service, const OperationRow& row) {
  std::uint16_t headers = row.headers;
  if (service == Service::ud) headers |= has_deth;
  // Every XRC request names the target's SRQ; responses do not (IBTA A14.3).
  if (service == Service::xrc && row.request) headers |= has_xrceth;
  return {.known = true,
          .headers = headers,
          .request = row.request,
          .first = row.first,
          .last = row.last,
          .carries_payload = row.carries_payload};
}

constexpr bool is_known(std::size_t byte) {
  const std::size_t operation = byte & 0x1F;
  return operation < kOperations && service_has(static_cast<Service>(byte & 0xE0), operation);
}

constexpr std::array<OpcodeTraits, 256> make_all_traits() {
  std::array<OpcodeTraits, 256> all{};
  for (std::size_t byte = 0; byte < all.size(); ++byte) {
    if (is_known(byte))
      all[byte] = make_traits(static_cast<Service>(byte & 0xE0), kOperationRows[byte & 0x1F]);
  }
  // A CNP answers no request. Its 16 reserved bytes stand where other packets have a payload (IBTA A17.9.3).
  all[kCongestionNotification.value] = {
      .known = true, .headers = 0, .request = false, .first = true, .last = true, .carries_payload = true};
  all[kSelectiveAcknowledge.value] = {.known = true,
                                      .headers = has_aeth | has_selective_ack,
                                      .request = false,
                                      .first = true,
                                      .last = true,
                                      .carries_payload = false};
  all[kSelectiveAckOffer.value] = {.known = true,
                                   .headers = has_selective_ack,
                                   .request = false,
                                   .first = true,
                                   .last = true,
                                   .carries_payload = false};
  return all;
}

constexpr std::array<NameBuffer, 256> make_names() {
  std::array<NameBuffer, 256> names{};
  for (std::size_t byte = 0; byte < names.size(); ++byte) {
    if (byte == kCongestionNotification.value) {
      set_name(names[byte], "", "CNP");
    } else if (byte == kSelectiveAcknowledge.value) {
      set_name(names[byte], "", "Selective Acknowledge");
    } else if (byte == kSelectiveAckOffer.value) {
      set_name(names[byte], "", "Selective Ack Offer");
    } else if (is_known(byte)) {
      set_name(names[byte], service_name(static_cast<Service>(byte & 0xE0)),
               kOperationRows[byte & 0x1F].name);
    } else {
      set_name(names[byte], "", "unknown");
    }
  }
  return names;
}

constexpr std::array<NameBuffer, 256> kNames = make_names();

}  // namespace

constexpr std::array<OpcodeTraits, 256> kOpcodeTraits = make_all_traits();

const char* name(Opcode opcode) { return kNames[opcode.value].data(); }

}  // namespace urnic::wire
