// Where each field of the CM's messages lies: bytes count from the end of the MAD header (IBTA 12.6, 12.8,
// 12.11). What has no field here is reserved. For cm_messages.cpp, and for who names the fields.
#pragma once

#include "wire/mad/cm_messages.hpp"
#include "wire/mad/fields.hpp"

namespace urnic::wire::mad {

inline constexpr std::size_t kCmDataBytes = kMadBytes - kMadHeaderBytes;

// A path of a REQ, 44 bytes from `base` on. A LAP has its fields in another order.
template <class Visitor, Either<PathParameters> Path>
constexpr void visit_path(Visitor& field, Path& path, std::size_t base) {
  field(bits(0, 16) + base, path.local_lid);
  field(bits(2, 16) + base, path.remote_lid);
  field(bits(4, 128) + base, path.local_gid);
  field(bits(20, 128) + base, path.remote_gid);
  field(bits(36, 20) + base, path.flow_label);
  field(bits(39, 2, 6) + base, path.packet_rate);
  field(bits(40, 8) + base, path.traffic_class);
  field(bits(41, 8) + base, path.hop_limit);
  field(bits(42, 4) + base, path.service_level);
  field(bits(42, 4, 1) + base, path.subnet_local);
  field(bits(43, 5) + base, path.local_ack_timeout);
}

template <class Visitor, Either<Req> Message>
constexpr void visit_fields(Visitor& field, Message& req) {
  field(bits(0, 32), req.local_id);
  field(bits(5, 24), req.ece.vendor_id);
  field(bits(8, 64), req.service);
  field(bits(16, 64), req.local_ca_guid);
  field(bits(28, 32), req.local_qkey);
  field(bits(32, 24), req.local_qpn);
  field(bits(35, 8), req.responder_resources);
  field(bits(36, 24), req.local_eecn);
  field(bits(39, 8), req.initiator_depth);
  field(bits(40, 24), req.remote_eecn);
  field(bits(43, 5), req.remote_cm_response_timeout);
  field(bits(43, 5, 2), req.transport_service);
  field(bits(43, 7, 1), req.end_to_end_flow_control);
  field(bits(44, 24), req.starting_psn);
  field(bits(47, 5), req.local_cm_response_timeout);
  field(bits(47, 5, 3), req.retry_count);
  field(bits(48, 16), req.pkey);
  field(bits(50, 4), req.path_mtu);
  field(bits(50, 4, 1), req.rdc_exists);
  field(bits(50, 5, 3), req.rnr_retry_count);
  field(bits(51, 4), req.max_cm_retries);
  field(bits(51, 4, 1), req.srq);
  field(bits(51, 5, 3), req.extended_transport);
  visit_path(field, req.primary, 52);
  visit_path(field, req.alternate, 96);
  field(bits(139, 5, 1), req.sap_supported);
  field(bits(140, 92 * 8), req.private_data);
}

template <class Visitor, Either<Mra> Message>
constexpr void visit_fields(Visitor& field, Message& mra) {
  field(bits(0, 32), mra.local_id);
  field(bits(4, 32), mra.remote_id);
  field(bits(8, 2), mra.acknowledged);
  field(bits(9, 5), mra.service_timeout);
  field(bits(10, 222 * 8), mra.private_data);
}

template <class Visitor, Either<Rej> Message>
constexpr void visit_fields(Visitor& field, Message& rej) {
  field(bits(0, 32), rej.local_id);
  field(bits(4, 32), rej.remote_id);
  field(bits(8, 2), rej.rejected);
  field(bits(9, 7), rej.information.length);
  field(bits(10, 16), rej.reason);
  field(bits(12, 72 * 8), rej.information.bytes);
  field(bits(84, 148 * 8), rej.private_data);
}

template <class Visitor, Either<Rep> Message>
constexpr void visit_fields(Visitor& field, Message& rep) {
  field(bits(0, 32), rep.local_id);
  field(bits(4, 32), rep.remote_id);
  field(bits(8, 32), rep.local_qkey);
  field(bits(12, 24), rep.local_qpn);
  field.part(bits(15, 8), rep.ece.vendor_id, 16);
  field(bits(16, 24), rep.local_eecn);
  field.part(bits(19, 8), rep.ece.vendor_id, 8);
  field(bits(20, 24), rep.starting_psn);
  field.part(bits(23, 8), rep.ece.vendor_id, 0);
  field(bits(24, 8), rep.responder_resources);
  field(bits(25, 8), rep.initiator_depth);
  field(bits(26, 5), rep.target_ack_delay);
  field(bits(26, 5, 2), rep.failover_accepted);
  field(bits(26, 7, 1), rep.end_to_end_flow_control);
  field(bits(27, 3), rep.rnr_retry_count);
  field(bits(27, 3, 1), rep.srq);
  field(bits(28, 64), rep.local_ca_guid);
  field(bits(36, 196 * 8), rep.private_data);
}

template <class Visitor, Either<Rtu> Message>
constexpr void visit_fields(Visitor& field, Message& rtu) {
  field(bits(0, 32), rtu.local_id);
  field(bits(4, 32), rtu.remote_id);
  field(bits(8, 224 * 8), rtu.private_data);
}

template <class Visitor, Either<Dreq> Message>
constexpr void visit_fields(Visitor& field, Message& dreq) {
  field(bits(0, 32), dreq.local_id);
  field(bits(4, 32), dreq.remote_id);
  field(bits(8, 24), dreq.remote_qpn);
  field(bits(12, 220 * 8), dreq.private_data);
}

template <class Visitor, Either<Drep> Message>
constexpr void visit_fields(Visitor& field, Message& drep) {
  field(bits(0, 32), drep.local_id);
  field(bits(4, 32), drep.remote_id);
  field(bits(8, 224 * 8), drep.private_data);
}

template <class Visitor, Either<SidrReq> Message>
constexpr void visit_fields(Visitor& field, Message& request) {
  field(bits(0, 32), request.request_id);
  field(bits(4, 16), request.pkey);
  field(bits(8, 64), request.service);
  field(bits(16, 216 * 8), request.private_data);
}

template <class Visitor, Either<SidrRep> Message>
constexpr void visit_fields(Visitor& field, Message& reply) {
  field(bits(0, 32), reply.request_id);
  field(bits(4, 8), reply.status);
  field(bits(5, 8), reply.information.length);
  field.part(bits(6, 16), reply.ece.vendor_id, 8);
  field(bits(8, 24), reply.qpn);
  field.part(bits(11, 8), reply.ece.vendor_id, 0);
  field(bits(12, 64), reply.service);
  field(bits(20, 32), reply.qkey);
  field(bits(24, 72 * 8), reply.information.bytes);
  field(bits(96, 136 * 8), reply.private_data);
}

template <class Visitor, Either<Lap> Message>
constexpr void visit_fields(Visitor& field, Message& lap) {
  field(bits(0, 32), lap.local_id);
  field(bits(4, 32), lap.remote_id);
  field(bits(12, 24), lap.remote_qpn);
  field(bits(15, 5), lap.remote_cm_response_timeout);
  field(bits(20, 16), lap.alternate.local_lid);
  field(bits(22, 16), lap.alternate.remote_lid);
  field(bits(24, 128), lap.alternate.local_gid);
  field(bits(40, 128), lap.alternate.remote_gid);
  field(bits(56, 20), lap.alternate.flow_label);
  field(bits(59, 8), lap.alternate.traffic_class);
  field(bits(60, 8), lap.alternate.hop_limit);
  field(bits(61, 2, 6), lap.alternate.packet_rate);
  field(bits(62, 4), lap.alternate.service_level);
  field(bits(62, 4, 1), lap.alternate.subnet_local);
  field(bits(63, 5), lap.alternate.local_ack_timeout);
  field(bits(64, 168 * 8), lap.private_data);
}

template <class Visitor, Either<Apr> Message>
constexpr void visit_fields(Visitor& field, Message& apr) {
  field(bits(0, 32), apr.local_id);
  field(bits(4, 32), apr.remote_id);
  field(bits(8, 8), apr.information.length);
  field(bits(9, 8), apr.status);
  field(bits(12, 72 * 8), apr.information.bytes);
  field(bits(84, 148 * 8), apr.private_data);
}

}  // namespace urnic::wire::mad
