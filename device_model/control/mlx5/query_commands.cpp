// QUERY_DEVICE, QUERY_PORT: what control/uverbs says of the device, without what a program cannot have by way
// of libmlx5.
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include <cerrno>
#include <cstdio>
#include <limits>

#include "device_model/abi/mlx5/clock.hpp"
#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/mlx5/handlers.hpp"
#include "device_model/control/mlx5/mlx5_limits.hpp"
#include "device_model/control/uverbs/commands.hpp"

namespace urnic::control::mlx5 {
namespace {

// Not those of queues of a ConnectX that are made later than they are named: an SRQ has one size for ever, as
// in mlx5_ib (mlx5_ib_modify_srq).
// Checksums of raw packets are libmlx5's WQEs' and CQEs'; urnic's own have no place for them.
constexpr std::uint32_t kDeviceFlags =
    (limits::kDeviceFlags & ~std::uint32_t{IBV_DEVICE_SRQ_RESIZE}) | IBV_DEVICE_RAW_IP_CSUM;

int ask(Command& command, abi::QueryDeviceReply& known) {
  return control::query_device(command.session, {}, known, command.descriptors);
}

// "22.35.1012" as libmlx5 takes it apart again (mlx5_query_device_ex).
std::uint64_t to_number(const char* firmware) {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned sub_minor = 0;
  std::sscanf(firmware, "%u.%u.%u", &major, &minor, &sub_minor);
  return std::uint64_t{major & 0xFFFF} << 32 | std::uint64_t{minor & 0xFFFF} << 16 | (sub_minor & 0xFFFF);
}

ib_uverbs_query_device_resp basic(const abi::QueryDeviceReply& known) {
  ib_uverbs_query_device_resp response{};
  response.fw_ver = to_number(known.firmware);
  response.node_guid = known.node_guid;
  response.sys_image_guid = known.system_image_guid;
  response.max_mr_size = known.max_mr_size;
  response.page_size_cap = known.page_size_cap;
  response.vendor_id = known.vendor_id;
  response.vendor_part_id = known.vendor_part_id;
  response.hw_ver = known.hw_version;
  response.max_qp = known.max_qp;
  response.max_qp_wr = known.max_qp_wr;
  response.device_cap_flags = kDeviceFlags;
  response.max_sge = known.max_sge;
  response.max_sge_rd = known.max_sge_rd;
  response.max_cq = known.max_cq;
  response.max_cqe = known.max_cqe - 1;  // libmlx5 makes room for one more, and then for a power of two
  response.max_mr = known.max_mr;
  response.max_pd = known.max_pd;
  response.max_qp_rd_atom = known.max_qp_rd_atom;
  response.max_res_rd_atom = known.max_res_rd_atom;
  response.max_qp_init_rd_atom = known.max_qp_init_rd_atom;
  response.atomic_cap = known.atomic_cap;
  response.max_mw = known.max_mw;
  response.max_raw_ethy_qp = known.max_raw_ethy_qp;
  response.max_mcast_grp = known.max_mcast_grp;
  response.max_mcast_qp_attach = known.max_mcast_qp_attach;
  response.max_total_mcast_qp_attach = known.max_total_mcast_qp_attach;
  response.max_ah = known.max_ah;
  response.max_srq = known.max_srq;
  response.max_srq_wr = known.max_srq_wr - 1;  // the same
  response.max_srq_sge = known.max_srq_sge;
  response.max_pkeys = static_cast<__u16>(known.max_pkeys);
  response.local_ca_ack_delay = static_cast<__u8>(known.local_ca_ack_delay);
  response.phys_port_cnt = static_cast<__u8>(known.phys_port_cnt);
  return response;
}

ib_uverbs_odp_caps on_demand(const abi::QueryDeviceReply& known) {
  ib_uverbs_odp_caps caps{};
  caps.general_caps = known.odp_general;
  caps.per_transport_caps.rc_odp_caps = known.odp_rc;
  caps.per_transport_caps.uc_odp_caps = known.odp_uc;
  caps.per_transport_caps.ud_odp_caps = known.odp_ud;
  return caps;
}

mlx5_ib_query_device_resp drivers_part(const abi::QueryDeviceReply& known, std::size_t room) {
  mlx5_ib_query_device_resp response{};
  response.response_length = static_cast<__u32>(std::min(room, sizeof response));
  response.cqe_comp_caps = {kMostCompressedCqes, kCompressedFormats};
  response.rss_caps.rx_hash_fields_mask = known.rss_hash_fields;
  response.rss_caps.rx_hash_function = MLX5_RX_HASH_FUNC_TOEPLITZ;
  response.packet_pacing_caps.qp_rate_limit_min = known.rate_min;
  response.packet_pacing_caps.qp_rate_limit_max = known.rate_max;
  response.packet_pacing_caps.supported_qpts = known.rate_limited_types;
  return response;
}

}  // namespace

int query_device(Command& command) {
  abi::QueryDeviceReply known{};
  if (const int error = ask(command, known)) return error;
  command.core.set(basic(known));
  return 0;
}

// Tag matching has formats of libmlx5's own and is not there.
int query_device_extended(Command& command) {
  const auto request = begin_of<ib_uverbs_ex_query_device>(command.core_input);
  if (request.comp_mask != 0 || request.reserved != 0) return EINVAL;
  if (asks_for_more(command.core_input, sizeof request)) return EOPNOTSUPP;
  abi::QueryDeviceReply known{};
  if (const int error = ask(command, known)) return error;
  ib_uverbs_ex_query_device_resp response{};
  response.base = basic(known);
  response.response_length = static_cast<__u32>(std::min(command.core.room(), sizeof response));
  response.odp_caps = on_demand(known);
  response.xrc_odp_caps = known.odp_xrc;
  response.device_cap_flags_ex = kDeviceFlags;
  response.rss_caps = {1u << IBV_QPT_RAW_PACKET, known.max_rss_tables, known.max_rss_table_size, 0};
  response.max_wq_type_rq = known.max_raw_ethy_qp;
  response.raw_packet_caps = IB_UVERBS_RAW_PACKET_CAP_SCATTER_FCS | IB_UVERBS_RAW_PACKET_CAP_IP_CSUM;
  response.device_cap_flags_ex |= IB_UVERBS_DEVICE_RAW_SCATTER_FCS;
  response.max_dm_size = known.max_dm_size;
  response.timestamp_mask = ~std::uint64_t{0};
  response.hca_core_clock = abi::mlx5::kTicksPerMillisecond;
  response.cq_moderation_caps.max_cq_moderation_count = std::numeric_limits<__u16>::max();
  response.cq_moderation_caps.max_cq_moderation_period = std::numeric_limits<__u16>::max();
  command.core.set(response);
  if (command.driver.room() != 0) command.driver.set(drivers_part(known, command.driver.room()));
  return 0;
}

int query_port(Command& command) {
  const auto request = begin_of<ib_uverbs_query_port>(command.core_input);
  abi::QueryPortReply known{};
  if (const int error =
          control::query_port(command.session, {request.port_num, 0}, known, command.descriptors))
    return error;
  ib_uverbs_query_port_resp response{};
  response.port_cap_flags = known.port_capabilities;
  response.max_msg_sz = std::min(known.max_message_size, kMaxMessageBytes);
  response.gid_tbl_len = known.gid_table_length;
  response.pkey_tbl_len = static_cast<__u16>(known.pkey_table_length);
  response.state = static_cast<__u8>(known.state);
  response.max_mtu = static_cast<__u8>(known.max_mtu);
  response.active_mtu = static_cast<__u8>(known.active_mtu);
  response.max_vl_num = 1;
  response.active_width = static_cast<__u8>(known.active_width);
  response.active_speed = static_cast<__u8>(known.active_speed);
  response.phys_state = static_cast<__u8>(known.physical_state);
  response.link_layer = static_cast<__u8>(known.link_layer);
  response.bad_pkey_cntr = known.pkey_violations;
  response.qkey_viol_cntr = known.qkey_violations;
  response.flags = IBV_QPF_GRH_REQUIRED;  // as Linux says of every RoCE port
  command.core.set(response);
  return 0;
}

}  // namespace urnic::control::mlx5
