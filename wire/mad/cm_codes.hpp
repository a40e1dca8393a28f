// Codes in the CM's messages (IBTA 12.6, 12.11). A received field may have a value without a name.
#pragma once

#include <cstdint>

namespace urnic::wire::mad {

// Attribute ids of the communication management class (IBTA 16.7.3).
enum class CmAttribute : std::uint16_t {
  req = 0x10,
  mra = 0x11,
  rej = 0x12,
  rep = 0x13,
  rtu = 0x14,
  dreq = 0x15,
  drep = 0x16,
  sidr_req = 0x17,
  sidr_rep = 0x18,
  lap = 0x19,
  apr = 0x1A,
};

// Transport service type of a REQ, 2 bits (IBTA 12.7). `extended`: see ExtendedTransport.
enum class TransportService : std::uint8_t { rc = 0, uc = 1, rd = 2, extended = 3 };

// Extended transport type of a REQ, 3 bits (IBTA annex A14).
enum class ExtendedTransport : std::uint8_t { none = 0, xrc = 1 };

// Path packet payload MTU, 4 bits (IBTA 12.7).
enum class MtuCode : std::uint8_t { bytes_256 = 1, bytes_512, bytes_1024, bytes_2048, bytes_4096 };

// What an MRA acknowledges, 2 bits (IBTA 12.6.6).
enum class AcknowledgedMessage : std::uint8_t { req = 0, rep = 1, lap = 2 };

// What a REJ rejects, 2 bits (IBTA 12.6.7). `other`: no message, as when the sender gives up.
enum class RejectedMessage : std::uint8_t { req = 0, rep = 1, other = 2 };

// Why a REJ was sent (IBTA 12.6.7.2). `alternate_` reasons are about the REQ's alternate path.
enum class RejectReason : std::uint16_t {
  no_qp = 1,
  no_eec = 2,
  no_resources = 3,
  timeout = 4,
  unsupported_request = 5,
  invalid_communication_id = 6,
  invalid_communication_instance = 7,
  invalid_service_id = 8,  // nobody listens
  invalid_transport_service = 9,
  stale_connection = 10,
  no_rdc = 11,
  invalid_gid = 12,
  invalid_lid = 13,
  invalid_sl = 14,
  invalid_traffic_class = 15,
  invalid_hop_limit = 16,
  invalid_packet_rate = 17,
  invalid_alternate_gid = 18,
  invalid_alternate_lid = 19,
  invalid_alternate_sl = 20,
  invalid_alternate_traffic_class = 21,
  invalid_alternate_hop_limit = 22,
  invalid_alternate_packet_rate = 23,
  cm_redirect = 24,
  port_redirect = 25,
  invalid_mtu = 26,
  insufficient_responder_resources = 27,
  consumer = 28,  // the program rejects; the private data are the program's
  invalid_rnr_retry_count = 29,
  duplicate_communication_id = 30,
  invalid_class_version = 31,
  invalid_flow_label = 32,
  invalid_alternate_flow_label = 33,
  vendor_option_not_supported = 35,  // the program refuses the REQ's ECE options
};

// What a SIDR_REP says (IBTA 12.11.2).
enum class SidrStatus : std::uint8_t {
  ok = 0,
  unsupported_service = 1,  // nobody listens
  rejected = 2,
  no_qp = 3,
  redirect = 4,
  unsupported_version = 5,
};

// What an APR says (IBTA 12.8.2).
enum class AprStatus : std::uint8_t {
  ok = 0,
  invalid_communication_id = 1,
  unsupported = 2,
  rejected = 3,
  redirect = 4,
  path_is_current = 5,
  invalid_qpn = 6,
  invalid_lid = 7,
  invalid_gid = 8,
  invalid_flow_label = 9,
  invalid_traffic_class = 10,
  invalid_hop_limit = 11,
  invalid_packet_rate = 12,
  invalid_sl = 13,
};

}  // namespace urnic::wire::mad
