// Bodies of the control protocol (control.hpp) about what a device and its port can do.
#pragma once

#include <cstdint>

namespace urnic::abi {

// The device's limits and identity; members as in ibv_device_attr.
struct QueryDeviceReply {
  char firmware[64];
  std::uint64_t node_guid;  // as 8 bytes in wire order
  std::uint64_t system_image_guid;
  std::uint64_t max_mr_size;
  std::uint64_t page_size_cap;
  std::uint32_t vendor_id;
  std::uint32_t vendor_part_id;
  std::uint32_t hw_version;
  std::uint32_t max_qp;
  std::uint32_t max_qp_wr;
  std::uint32_t device_cap_flags;
  std::uint32_t max_sge;
  std::uint32_t max_sge_rd;
  std::uint32_t max_inline_data;
  std::uint32_t max_cq;
  std::uint32_t max_cqe;
  std::uint32_t max_mr;
  std::uint32_t max_mw;
  std::uint32_t max_pd;
  std::uint32_t max_qp_rd_atom;
  std::uint32_t max_res_rd_atom;
  std::uint32_t max_qp_init_rd_atom;
  std::uint32_t max_ah;
  std::uint32_t max_pkeys;
  std::uint32_t local_ca_ack_delay;
  std::uint32_t phys_port_cnt;
  std::uint32_t atomic_cap;  // value of ibv_atomic_cap
  std::uint32_t max_mcast_grp;
  std::uint32_t max_mcast_qp_attach;
  std::uint32_t max_total_mcast_qp_attach;
  std::uint32_t max_srq;
  std::uint32_t max_srq_wr;
  std::uint32_t max_srq_sge;
  // Members of ibv_odp_caps and ibv_device_attr_ex. The on-demand paging capabilities are those of the asking
  // process: they depend on how the device reaches its memory.
  std::uint32_t odp_general;
  std::uint32_t odp_rc;
  std::uint32_t odp_uc;
  std::uint32_t odp_ud;
  std::uint32_t odp_xrc;
  std::uint64_t max_dm_size;
  // Members of ibv_packet_pacing_caps.
  std::uint32_t rate_min;  // kbit/s
  std::uint32_t rate_max;
  std::uint32_t rate_limited_types;  // bits of ibv_qp_type
  std::uint32_t max_raw_ethy_qp;
  // Members of ibv_rss_caps.
  std::uint64_t rss_hash_fields;
  std::uint32_t max_rss_tables;
  std::uint32_t max_rss_table_size;
  // Members of ibv_tm_caps.
  std::uint32_t tm_max_rndv_header;
  std::uint32_t tm_max_tags;
  std::uint32_t tm_flags;
  std::uint32_t tm_max_ops;
  std::uint32_t tm_max_sge;
};

struct QueryPortRequest {
  std::uint32_t port;
  std::uint32_t reserved;
};
// Members as in ibv_port_attr.
struct QueryPortReply {
  std::uint32_t state;
  std::uint32_t physical_state;
  std::uint32_t max_mtu;     // ibv_mtu value
  std::uint32_t active_mtu;  // ibv_mtu value
  std::uint32_t gid_table_length;
  std::uint32_t pkey_table_length;
  std::uint32_t port_capabilities;
  std::uint32_t max_message_size;
  std::uint32_t active_speed;
  std::uint32_t active_width;
  std::uint32_t link_layer;
  std::uint32_t lid;  // of an InfiniBand port, as the other members below
  std::uint32_t lmc;
  std::uint32_t manager_lid;
  std::uint32_t manager_sl;
  std::uint32_t subnet_timeout;
  std::uint32_t pkey_violations;
  std::uint32_t qkey_violations;
  std::uint32_t flags;
};

}  // namespace urnic::abi
