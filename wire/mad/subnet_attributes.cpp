#include "wire/mad/subnet_attributes.hpp"

#include "wire/mad/fields.hpp"

namespace urnic::wire::mad {

// IBTA 14.2.5.3
template <class Visitor, Either<NodeInfo> Message>
constexpr void visit_fields(Visitor& field, Message& info) {
  field(bits(0, 8), info.base_version);
  field(bits(1, 8), info.class_version);
  field(bits(2, 8), info.type);
  field(bits(3, 8), info.ports);
  field(bits(4, 64), info.system_guid);
  field(bits(12, 64), info.node_guid);
  field(bits(20, 64), info.port_guid);
  field(bits(28, 16), info.partition_capacity);
  field(bits(30, 16), info.device_id);
  field(bits(32, 32), info.revision);
  field(bits(36, 8), info.local_port);
  field(bits(37, 24), info.vendor_id);
}

// IBTA 14.2.5.4
template <class Visitor, Either<SwitchInfo> Message>
constexpr void visit_fields(Visitor& field, Message& info) {
  field(bits(0, 16), info.linear_capacity);
  field(bits(2, 16), info.random_capacity);
  field(bits(4, 16), info.multicast_capacity);
  field(bits(6, 16), info.linear_top);
  field(bits(8, 8), info.default_port);
  field(bits(9, 8), info.default_multicast_primary_port);
  field(bits(10, 8), info.default_multicast_not_primary_port);
  field(bits(11, 5), info.life_time);
  field(bits(11, 5, 1), info.port_state_change);
  field(bits(11, 6, 2), info.optimised_sl_to_vl);
  field(bits(12, 16), info.lids_per_port);
  field(bits(14, 16), info.partition_enforcement_capacity);
  field(bits(16, 0, 1), info.enforces_inbound);
  field(bits(16, 1, 1), info.enforces_outbound);
  field(bits(16, 2, 1), info.filters_raw_inbound);
  field(bits(16, 3, 1), info.filters_raw_outbound);
  field(bits(16, 4, 1), info.has_enhanced_port0);
  field(bits(18, 16), info.multicast_top);
}

// IBTA 14.2.5.6
template <class Visitor, Either<PortInfo> Message>
constexpr void visit_fields(Visitor& field, Message& info) {
  field(bits(0, 64), info.m_key);
  field(bits(8, 64), info.subnet_prefix);
  field(bits(16, 16), info.lid);
  field(bits(18, 16), info.manager_lid);
  field(bits(20, 32), info.capability_mask);
  field(bits(24, 16), info.diagnostic_code);
  field(bits(26, 16), info.m_key_lease);
  field(bits(28, 8), info.local_port);
  field(bits(29, 8), info.width_enabled);
  field(bits(30, 8), info.width_supported);
  field(bits(31, 8), info.width_active);
  field(bits(32, 4), info.speed_supported);
  field(bits(32, 4, 4), info.state);
  field(bits(33, 4), info.physical_state);
  field(bits(33, 4, 4), info.down_default);
  field(bits(34, 2), info.m_key_protection);
  field(bits(34, 5, 3), info.lmc);
  field(bits(35, 4), info.speed_active);
  field(bits(35, 4, 4), info.speed_enabled);
  field(bits(36, 4), info.neighbor_mtu);
  field(bits(36, 4, 4), info.manager_sl);
  field(bits(37, 4), info.vl_capacity);
  field(bits(37, 4, 4), info.init_type);
  field(bits(38, 8), info.vl_high_limit);
  field(bits(39, 8), info.vl_arbitration_high_capacity);
  field(bits(40, 8), info.vl_arbitration_low_capacity);
  field(bits(41, 4), info.init_reply);
  field(bits(41, 4, 4), info.mtu_capacity);
  field(bits(42, 3), info.vl_stall_count);
  field(bits(42, 3, 5), info.head_of_queue_life);
  field(bits(43, 4), info.operational_vls);
  field(bits(43, 4, 1), info.enforces_inbound);
  field(bits(43, 5, 1), info.enforces_outbound);
  field(bits(43, 6, 1), info.filters_raw_inbound);
  field(bits(43, 7, 1), info.filters_raw_outbound);
  field(bits(44, 16), info.m_key_violations);
  field(bits(46, 16), info.pkey_violations);
  field(bits(48, 16), info.qkey_violations);
  field(bits(50, 8), info.guid_capacity);
  field(bits(51, 0, 1), info.client_reregister);
  field(bits(51, 1, 1), info.suppresses_multicast_pkey_traps);
  field(bits(51, 3, 5), info.subnet_timeout);
  field(bits(52, 3, 5), info.response_time);
  field(bits(53, 4), info.local_physical_errors);
  field(bits(53, 4, 4), info.overrun_errors);
  field(bits(54, 16), info.most_credits_hint);
  field(bits(57, 24), info.link_round_trip);
  field(bits(60, 16), info.capability_mask2);
  field(bits(62, 4), info.extended_speed_active);
  field(bits(62, 4, 4), info.extended_speed_supported);
  field(bits(63, 3, 5), info.extended_speed_enabled);
}

// IBTA 14.2.5.13
template <class Visitor, Either<SmInfo> Message>
constexpr void visit_fields(Visitor& field, Message& info) {
  field(bits(0, 64), info.guid);
  field(bits(8, 64), info.sm_key);
  field(bits(16, 32), info.activity);
  field(bits(20, 4), info.priority);
  field(bits(20, 4, 4), info.state);
}

template <class Visitor, Either<Notice> Message>
constexpr void visit_fields(Visitor& field, Message& notice) {
  field(bits(0, 0, 1), notice.is_generic);
  field(bits(0, 1, 7), notice.type);
  field(bits(1, 24), notice.producer);
  field(bits(4, 16), notice.trap);
  field(bits(6, 16), notice.issuer);
  field(bits(8, 0, 1), notice.toggle);
  field(bits(8, 1, 15), notice.count);
  field(bits(10, sizeof(notice.details) * 8), notice.details);
}

template <class Attribute>
Attribute decode_data(const SmpData& data) {
  static_assert(is_sound<Attribute, kSmpDataBytes>());
  Attribute attribute;
  const FieldReader reader(data);
  visit_fields(reader, attribute);
  return attribute;
}

template <class Attribute>
SmpData encode_data(const Attribute& attribute) {
  SmpData data{};
  const FieldWriter writer(data);
  visit_fields(writer, attribute);
  return data;
}

template NodeInfo decode_data(const SmpData&);
template SwitchInfo decode_data(const SmpData&);
template PortInfo decode_data(const SmpData&);
template SmInfo decode_data(const SmpData&);
template Notice decode_data(const SmpData&);
template SmpData encode_data(const NodeInfo&);
template SmpData encode_data(const SwitchInfo&);
template SmpData encode_data(const PortInfo&);
template SmpData encode_data(const SmInfo&);
template SmpData encode_data(const Notice&);

}  // namespace urnic::wire::mad
