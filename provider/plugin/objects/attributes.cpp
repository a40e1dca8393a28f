// The attributes of a device and its port, which the device process reports.
#include <cerrno>
#include <cstring>

#include "device_model/abi/query_messages.hpp"
#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {
namespace {

int as_int(std::uint32_t value) { return static_cast<int>(value); }

void fill(ibv_device_attr& to, const abi::QueryDeviceReply& from) {
  static_assert(sizeof to.fw_ver == sizeof from.firmware);
  std::memcpy(to.fw_ver, from.firmware, sizeof to.fw_ver);
  to.fw_ver[sizeof to.fw_ver - 1] = '\0';
  to.node_guid = from.node_guid;
  to.sys_image_guid = from.system_image_guid;
  to.max_mr_size = from.max_mr_size;
  to.page_size_cap = from.page_size_cap;
  to.vendor_id = from.vendor_id;
  to.vendor_part_id = from.vendor_part_id;
  to.hw_ver = from.hw_version;
  to.max_qp = as_int(from.max_qp);
  to.max_qp_wr = as_int(from.max_qp_wr);
  to.device_cap_flags = from.device_cap_flags;
  to.max_sge = as_int(from.max_sge);
  to.max_sge_rd = as_int(from.max_sge_rd);
  to.max_cq = as_int(from.max_cq);
  to.max_cqe = as_int(from.max_cqe);
  to.max_mr = as_int(from.max_mr);
  to.max_mw = as_int(from.max_mw);
  to.max_pd = as_int(from.max_pd);
  to.max_qp_rd_atom = as_int(from.max_qp_rd_atom);
  to.max_res_rd_atom = as_int(from.max_res_rd_atom);
  to.max_qp_init_rd_atom = as_int(from.max_qp_init_rd_atom);
  to.atomic_cap = static_cast<ibv_atomic_cap>(from.atomic_cap);
  to.max_mcast_grp = as_int(from.max_mcast_grp);
  to.max_mcast_qp_attach = as_int(from.max_mcast_qp_attach);
  to.max_total_mcast_qp_attach = as_int(from.max_total_mcast_qp_attach);
  to.max_raw_ethy_qp = as_int(from.max_raw_ethy_qp);
  to.max_srq = as_int(from.max_srq);
  to.max_srq_wr = as_int(from.max_srq_wr);
  to.max_srq_sge = as_int(from.max_srq_sge);
  to.max_ah = as_int(from.max_ah);
  to.max_pkeys = static_cast<std::uint16_t>(from.max_pkeys);
  to.local_ca_ack_delay = static_cast<std::uint8_t>(from.local_ca_ack_delay);
  to.phys_port_cnt = static_cast<std::uint8_t>(from.phys_port_cnt);
}

void fill_extended(ibv_device_attr_ex& to, const abi::QueryDeviceReply& from) {
  to.device_cap_flags_ex = from.device_cap_flags | IBV_DEVICE_RAW_SCATTER_FCS;
  to.raw_packet_caps = IBV_RAW_PACKET_CAP_SCATTER_FCS;
  to.phys_port_cnt_ex = from.phys_port_cnt;
  to.odp_caps.general_caps = from.odp_general;
  to.odp_caps.per_transport_caps.rc_odp_caps = from.odp_rc;
  to.odp_caps.per_transport_caps.uc_odp_caps = from.odp_uc;
  to.odp_caps.per_transport_caps.ud_odp_caps = from.odp_ud;
  to.xrc_odp_caps = from.odp_xrc;
  to.max_dm_size = from.max_dm_size;
  to.rss_caps.supported_qpts = 1u << IBV_QPT_RAW_PACKET;
  to.rss_caps.max_rwq_indirection_tables = from.max_rss_tables;
  to.rss_caps.max_rwq_indirection_table_size = from.max_rss_table_size;
  to.rss_caps.rx_hash_fields_mask = from.rss_hash_fields;
  to.rss_caps.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ;
  to.max_wq_type_rq = from.max_qp;
  to.tm_caps.max_rndv_hdr_size = from.tm_max_rndv_header;
  to.tm_caps.max_num_tags = from.tm_max_tags;
  to.tm_caps.flags = from.tm_flags;
  to.tm_caps.max_ops = from.tm_max_ops;
  to.tm_caps.max_sge = from.tm_max_sge;
  // Completions are stamped with CLOCK_MONOTONIC: 64 bits of nanoseconds.
  to.completion_timestamp_mask = UINT64_MAX;
  to.hca_core_clock = 1'000'000;  // kHz
  to.cq_mod_caps = {UINT16_MAX, UINT16_MAX};
  to.packet_pacing_caps = {from.rate_min, from.rate_max, from.rate_limited_types};
}

// In units of 100 Mb/s. 0: a width or speed without a name in ibv_query_port(3).
std::uint64_t port_speed(std::uint32_t width, std::uint32_t speed) {
  std::uint64_t lanes = 0;
  switch (width) {
    case 1:
      lanes = 1;
      break;
    case 2:
      lanes = 4;
      break;
    case 4:
      lanes = 8;
      break;
    case 8:
      lanes = 12;
      break;
    case 16:
      lanes = 2;
      break;
  }
  switch (speed) {
    case 1:
      return lanes * 25;
    case 2:
      return lanes * 50;
    case 4:
    case 8:
      return lanes * 100;
    case 16:
      return lanes * 140;
    case 32:
      return lanes * 250;
    case 64:
      return lanes * 500;
    case 128:
      return lanes * 1000;
  }
  return 0;
}

}  // namespace

int query_device(ibv_context* context, const ibv_query_device_ex_input* input, ibv_device_attr_ex* attributes,
                 std::size_t size) {
  if (input != nullptr && input->comp_mask != 0) return EINVAL;
  abi::QueryDeviceReply reply{};
  if (const int error = call(context_of(context), abi::ControlOpcode::query_device, abi::Empty{}, reply)) {
    return error;
  }
  ibv_device_attr_ex all{};
  fill(all.orig_attr, reply);
  fill_extended(all, reply);
  // The caller's struct may be an older, shorter one.
  std::memcpy(attributes, &all, size < sizeof all ? size : sizeof all);
  return 0;
}

int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attributes) {
  abi::QueryPortReply reply{};
  const abi::QueryPortRequest request{port, 0};
  if (const int error = call(context_of(context), abi::ControlOpcode::query_port, request, reply))
    return error;
  // The caller's struct may be an older, shorter one.
  std::memset(attributes, 0, private_abi::kOldestPortAttributes);
  attributes->state = static_cast<ibv_port_state>(reply.state);
  attributes->max_mtu = static_cast<ibv_mtu>(reply.max_mtu);
  attributes->active_mtu = static_cast<ibv_mtu>(reply.active_mtu);
  attributes->gid_tbl_len = as_int(reply.gid_table_length);
  attributes->port_cap_flags = reply.port_capabilities;
  attributes->max_msg_sz = reply.max_message_size;
  attributes->pkey_tbl_len = static_cast<std::uint16_t>(reply.pkey_table_length);
  attributes->max_vl_num = 1;
  attributes->active_width = static_cast<std::uint8_t>(reply.active_width);
  attributes->active_speed = static_cast<std::uint8_t>(reply.active_speed);
  attributes->phys_state = static_cast<std::uint8_t>(reply.physical_state);
  attributes->lid = static_cast<std::uint16_t>(reply.lid);
  attributes->lmc = static_cast<std::uint8_t>(reply.lmc);
  attributes->sm_lid = static_cast<std::uint16_t>(reply.manager_lid);
  attributes->sm_sl = static_cast<std::uint8_t>(reply.manager_sl);
  attributes->subnet_timeout = static_cast<std::uint8_t>(reply.subnet_timeout);
  attributes->bad_pkey_cntr = reply.pkey_violations;
  attributes->qkey_viol_cntr = reply.qkey_violations;
  attributes->link_layer = static_cast<std::uint8_t>(reply.link_layer);
  attributes->flags = static_cast<std::uint8_t>(reply.flags);
  return 0;
}

int query_port_speed(ibv_context* context, std::uint32_t port, std::uint64_t* speed) {
  abi::QueryPortReply reply{};
  const abi::QueryPortRequest request{port, 0};
  if (const int error = call(context_of(context), abi::ControlOpcode::query_port, request, reply))
    return error;
  *speed = port_speed(reply.active_width, reply.active_speed);
  return 0;
}

}  // namespace urnic::provider
