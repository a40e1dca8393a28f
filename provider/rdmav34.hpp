// The private interface between libibverbs and its providers (symbol version IBVERBS_PRIVATE_34, rdma-core 39
// to 56), declared in our own words: distributions ship it in the library but not as a header. Public types
// come from <infiniband/verbs.h>. docs/provider-abi.md says how the interface is used. The assertions below
// check every size and offset, so that a build against another rdma-core fails here and not in a running
// program.
#pragma once

#include <infiniband/verbs.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>

#ifndef URNIC_RDMA_CORE_RELEASE
#error "URNIC_RDMA_CORE_RELEASE must be the rdma-core release built for (the 44 of libibverbs 1.14.44.0)"
#endif
#if URNIC_RDMA_CORE_RELEASE < 39 || URNIC_RDMA_CORE_RELEASE > 56
#error "provider/rdmav34.hpp describes rdma-core 39 to 56; this release has another private interface"
#endif

namespace urnic::rdmav34 {

inline constexpr int kRdmaCoreRelease = URNIC_RDMA_CORE_RELEASE;

struct ListNode {
  ListNode* next;
  ListNode* previous;
};

enum class MatchKind : std::uint8_t { end = 0, pci = 1, modalias = 2, driver_id = 3 };

// One line of the table by which the library finds the provider of a device; the table ends with
// MatchKind::end.
struct MatchEntry {
  void* driver_data;
  union {
    const char* modalias;  // an fnmatch pattern
    std::uint64_t driver_id;
  };
  std::uint16_t vendor;
  std::uint16_t device;
  MatchKind kind;
};
static_assert(sizeof(MatchEntry) == 24);
static_assert(offsetof(MatchEntry, modalias) == 8 && offsetof(MatchEntry, vendor) == 16);
static_assert(offsetof(MatchEntry, device) == 18 && offsetof(MatchEntry, kind) == 20);

// A device as the library found it in sysfs. Owned by the library, and freed before uninit_device is called.
struct SysfsDevice {
  ListNode entry;
  void* provider_data;
  const MatchEntry* match;
  std::uint32_t flags;
  char sysfs_name[64];
  dev_t character_device;
  char device_name[64];
  char device_path[256];
  char modalias[512];
  std::uint64_t node_guid;
  std::uint32_t driver_id;
  ibv_node_type node_type;
  int device_index;
  std::uint32_t port_count;
  std::uint32_t abi_version;
  timespec created;
};
static_assert(sizeof(SysfsDevice) == 992);
static_assert(offsetof(SysfsDevice, provider_data) == 16 && offsetof(SysfsDevice, match) == 24);
static_assert(offsetof(SysfsDevice, flags) == 32 && offsetof(SysfsDevice, sysfs_name) == 36);
static_assert(offsetof(SysfsDevice, character_device) == 104 && offsetof(SysfsDevice, device_name) == 112);
static_assert(offsetof(SysfsDevice, device_path) == 176 && offsetof(SysfsDevice, modalias) == 432);
static_assert(offsetof(SysfsDevice, node_guid) == 944 && offsetof(SysfsDevice, driver_id) == 952);
static_assert(offsetof(SysfsDevice, node_type) == 956 && offsetof(SysfsDevice, device_index) == 960);
static_assert(offsetof(SysfsDevice, port_count) == 964 && offsetof(SysfsDevice, abi_version) == 968);
static_assert(offsetof(SysfsDevice, created) == 976);

struct Device;

// The record that a provider registers: how the library recognises and opens the provider's devices.
struct DeviceOps {
  const char* name;
  std::uint32_t min_abi_version;  // of the device's abi_version file in sysfs
  std::uint32_t max_abi_version;
  const MatchEntry* match_table;
  const DeviceOps** static_providers;
  bool (*match_device)(SysfsDevice*);
  // Takes ownership of command_fd, also on failure (null, errno set).
  verbs_context* (*alloc_context)(ibv_device*, int command_fd, void* private_data);
  verbs_context* (*import_context)(ibv_device*, int command_fd);  // null: importing answers EOPNOTSUPP
  Device* (*alloc_device)(SysfsDevice*);
  void (*uninit_device)(Device*);
};
static_assert(sizeof(DeviceOps) == 72);
static_assert(offsetof(DeviceOps, min_abi_version) == 8 && offsetof(DeviceOps, max_abi_version) == 12);
static_assert(offsetof(DeviceOps, match_table) == 16 && offsetof(DeviceOps, static_providers) == 24);
static_assert(offsetof(DeviceOps, match_device) == 32 && offsetof(DeviceOps, alloc_context) == 40);
static_assert(offsetof(DeviceOps, import_context) == 48 && offsetof(DeviceOps, alloc_device) == 56);
static_assert(offsetof(DeviceOps, uninit_device) == 64);

// Bit of Device::core_support: the library passes optional access bits to reg_mr (else it removes them).
inline constexpr std::uint64_t kOptionalMrAccess = 1;

// Allocated zeroed by alloc_device; the library fills it in.
struct Device {
  ibv_device device;
  const DeviceOps* ops;
  int reference_count;
  ListNode entry;
  SysfsDevice* sysfs;
  std::uint64_t core_support;
};
static_assert(sizeof(Device) == 712);
static_assert(offsetof(Device, ops) == 664 && offsetof(Device, reference_count) == 672);
static_assert(offsetof(Device, entry) == 680 && offsetof(Device, sysfs) == 696);
static_assert(offsetof(Device, core_support) == 704);

// Tells the library what to do with a region. It marks the memory of plain regions only for fork, and
// ibv_rereg_mr changes plain regions only.
enum class MrType : std::uint32_t { plain = 0, null = 1, imported = 2, dma_buf = 3 };

struct Mr {
  ibv_mr mr;
  MrType type;
  int access;
};
static_assert(sizeof(Mr) == 56 && offsetof(Mr, type) == 48 && offsetof(Mr, access) == 52);

// Bit of Xrcd::comp_mask.
inline constexpr std::uint32_t kXrcdHasHandle = 1;

struct Xrcd {
  ibv_xrcd xrcd;
  std::uint32_t comp_mask;
  std::uint32_t handle;
};
static_assert(sizeof(Xrcd) == 16);

// Bits of Qp::comp_mask.
inline constexpr std::uint32_t kQpHasXrcd = 1;
inline constexpr std::uint32_t kQpIsExtended = 2;  // ibv_qp_to_qp_ex gives the ibv_qp_ex

struct Qp {
  union {
    ibv_qp qp;
    ibv_qp_ex extended;
  };
  std::uint32_t comp_mask;
  Xrcd* xrcd;
};

struct Cq {
  union {
    ibv_cq cq;
    ibv_cq_ex extended;
  };
};
static_assert(sizeof(Cq) == 288);

struct Srq {
  ibv_srq srq;
  ibv_srq_type type;
  Xrcd* xrcd;
  ibv_cq* cq;
  std::uint32_t srq_number;
};
static_assert(sizeof(Srq) == 160);

// ibv_qp_ex grew within this private ABI number, and Qp::comp_mask moved with it.
#if URNIC_RDMA_CORE_RELEASE <= 43
static_assert(sizeof(ibv_qp_ex) == 344 && sizeof(Qp) == 360 && offsetof(Qp, comp_mask) == 344);
#elif URNIC_RDMA_CORE_RELEASE == 44
static_assert(sizeof(ibv_qp_ex) == 352 && sizeof(Qp) == 368 && offsetof(Qp, comp_mask) == 352);
static_assert(offsetof(Qp, xrcd) == 360);
#else
static_assert(sizeof(ibv_qp_ex) == 360 && sizeof(Qp) == 376 && offsetof(Qp, comp_mask) == 360);
#endif
static_assert(sizeof(verbs_context) == 648 && offsetof(verbs_context, context) == 320);
static_assert(sizeof(ibv_context) == 328 && sizeof(ibv_qp) == 160);
static_assert(sizeof(ibv_cq) == 128 && sizeof(ibv_cq_ex) == 288);

// An operation that this provider never sets: a null entry keeps the library's "not supported".
using Unset = void (*)();

// The operations of a context, sorted by name. Those without a signature here are not provided.
struct ContextOps {
  int (*advise_mr)(ibv_pd*, ibv_advise_mr_advice, std::uint32_t flags, ibv_sge*, std::uint32_t count);
  ibv_dm* (*alloc_dm)(ibv_context*, ibv_alloc_dm_attr*);
  ibv_mw* (*alloc_mw)(ibv_pd*, ibv_mw_type);
  ibv_mr* (*alloc_null_mr)(ibv_pd*);
  ibv_pd* (*alloc_parent_domain)(ibv_context*, ibv_parent_domain_init_attr*);
  ibv_pd* (*alloc_pd)(ibv_context*);
  ibv_td* (*alloc_td)(ibv_context*, ibv_td_init_attr*);
  void (*async_event)(ibv_context*, ibv_async_event*);  // after each event that the program has read
  int (*attach_counters_point_flow)(ibv_counters*, ibv_counter_attach_attr*, ibv_flow*);
  int (*attach_mcast)(ibv_qp*, const ibv_gid*, std::uint16_t lid);
  int (*bind_mw)(ibv_qp*, ibv_mw*, ibv_mw_bind*);
  int (*close_xrcd)(ibv_xrcd*);
  void (*cq_event)(ibv_cq*);  // after each event that the program has read
  ibv_ah* (*create_ah)(ibv_pd*, ibv_ah_attr*);
  ibv_counters* (*create_counters)(ibv_context*, ibv_counters_init_attr*);
  ibv_cq* (*create_cq)(ibv_context*, int entries, ibv_comp_channel*, int completion_vector);
  ibv_cq_ex* (*create_cq_ex)(ibv_context*, ibv_cq_init_attr_ex*);
  ibv_flow* (*create_flow)(ibv_qp*, ibv_flow_attr*);
  Unset create_flow_action_esp;
  ibv_qp* (*create_qp)(ibv_pd*, ibv_qp_init_attr*);
  ibv_qp* (*create_qp_ex)(ibv_context*, ibv_qp_init_attr_ex*);
  ibv_rwq_ind_table* (*create_rwq_ind_table)(ibv_context*, ibv_rwq_ind_table_init_attr*);
  ibv_srq* (*create_srq)(ibv_pd*, ibv_srq_init_attr*);
  ibv_srq* (*create_srq_ex)(ibv_context*, ibv_srq_init_attr_ex*);
  ibv_wq* (*create_wq)(ibv_context*, ibv_wq_init_attr*);
  int (*dealloc_mw)(ibv_mw*);
  int (*dealloc_pd)(ibv_pd*);
  int (*dealloc_td)(ibv_td*);
  int (*dereg_mr)(Mr*);
  int (*destroy_ah)(ibv_ah*);
  int (*destroy_counters)(ibv_counters*);
  int (*destroy_cq)(ibv_cq*);
  int (*destroy_flow)(ibv_flow*);
  Unset destroy_flow_action;
  int (*destroy_qp)(ibv_qp*);
  int (*destroy_rwq_ind_table)(ibv_rwq_ind_table*);
  int (*destroy_srq)(ibv_srq*);
  int (*destroy_wq)(ibv_wq*);
  int (*detach_mcast)(ibv_qp*, const ibv_gid*, std::uint16_t lid);
  void (*free_context)(ibv_context*);
  int (*free_dm)(ibv_dm*);
  int (*get_srq_num)(ibv_srq*, std::uint32_t* number);
  ibv_dm* (*import_dm)(ibv_context*, std::uint32_t handle);
  ibv_mr* (*import_mr)(ibv_pd*, std::uint32_t handle);
  ibv_pd* (*import_pd)(ibv_context*, std::uint32_t handle);
  int (*modify_cq)(ibv_cq*, ibv_modify_cq_attr*);
  Unset modify_flow_action_esp;
  int (*modify_qp)(ibv_qp*, ibv_qp_attr*, int mask);
  int (*modify_qp_rate_limit)(ibv_qp*, ibv_qp_rate_limit_attr*);
  int (*modify_srq)(ibv_srq*, ibv_srq_attr*, int mask);
  int (*modify_wq)(ibv_wq*, ibv_wq_attr*);
  ibv_qp* (*open_qp)(ibv_context*, ibv_qp_open_attr*);
  ibv_xrcd* (*open_xrcd)(ibv_context*, ibv_xrcd_init_attr*);
  int (*poll_cq)(ibv_cq*, int count, ibv_wc*);
  int (*post_recv)(ibv_qp*, ibv_recv_wr*, ibv_recv_wr** bad);
  int (*post_send)(ibv_qp*, ibv_send_wr*, ibv_send_wr** bad);
  int (*post_srq_ops)(ibv_srq*, ibv_ops_wr*, ibv_ops_wr** bad);
  int (*post_srq_recv)(ibv_srq*, ibv_recv_wr*, ibv_recv_wr** bad);
  int (*query_device_ex)(ibv_context*, const ibv_query_device_ex_input*, ibv_device_attr_ex*,
                         std::size_t size);
  int (*query_ece)(ibv_qp*, ibv_ece*);
  int (*query_port)(ibv_context*, std::uint8_t port, ibv_port_attr*);
  int (*query_qp)(ibv_qp*, ibv_qp_attr*, int mask, ibv_qp_init_attr*);
  Unset query_qp_data_in_order;
  int (*query_rt_values)(ibv_context*, ibv_values_ex*);
  int (*query_srq)(ibv_srq*, ibv_srq_attr*);
  int (*read_counters)(ibv_counters*, std::uint64_t* values, std::uint32_t count, std::uint32_t flags);
  ibv_mr* (*reg_dm_mr)(ibv_pd*, ibv_dm*, std::uint64_t offset, std::size_t length, unsigned int access);
  ibv_mr* (*reg_dmabuf_mr)(ibv_pd*, std::uint64_t offset, std::size_t length, std::uint64_t iova, int buffer,
                           int access);
  ibv_mr* (*reg_mr)(ibv_pd*, void* address, std::size_t length, std::uint64_t iova, int access);
  int (*req_notify_cq)(ibv_cq*, int solicited_only);
  int (*rereg_mr)(Mr*, int flags, ibv_pd*, void* address, std::size_t length, int access);
  int (*resize_cq)(ibv_cq*, int entries);
  int (*set_ece)(ibv_qp*, ibv_ece*);
  void (*unimport_dm)(ibv_dm*);
  void (*unimport_mr)(ibv_mr*);
  void (*unimport_pd)(ibv_pd*);
};
// Spot checks by index find an entry that is missing or added; the size alone would not show where.
static_assert(sizeof(ContextOps) == 76 * sizeof(void*));
static_assert(offsetof(ContextOps, bind_mw) == 10 * 8 && offsetof(ContextOps, create_cq) == 15 * 8);
static_assert(offsetof(ContextOps, create_qp) == 19 * 8 && offsetof(ContextOps, dealloc_mw) == 25 * 8);
static_assert(offsetof(ContextOps, dereg_mr) == 28 * 8 && offsetof(ContextOps, destroy_cq) == 31 * 8);
static_assert(offsetof(ContextOps, destroy_qp) == 34 * 8 && offsetof(ContextOps, free_context) == 39 * 8);
static_assert(offsetof(ContextOps, modify_qp) == 47 * 8 && offsetof(ContextOps, poll_cq) == 53 * 8);
static_assert(offsetof(ContextOps, query_device_ex) == 58 * 8 && offsetof(ContextOps, query_port) == 60 * 8);
static_assert(offsetof(ContextOps, reg_mr) == 68 * 8 && offsetof(ContextOps, resize_cq) == 71 * 8);
static_assert(offsetof(ContextOps, close_xrcd) == 11 * 8 && offsetof(ContextOps, create_srq_ex) == 23 * 8);
static_assert(offsetof(ContextOps, get_srq_num) == 41 * 8 && offsetof(ContextOps, open_xrcd) == 52 * 8);
static_assert(offsetof(ContextOps, unimport_pd) == 75 * 8);

extern "C" {

// Called once when the provider is loaded; `ops` must live for ever.
void verbs_register_driver_34(const DeviceOps* ops);

// Allocates `size` zeroed bytes and initialises the verbs_context in them at `context_offset` (an offset with
// a pointer's type). Takes ownership of command_fd, also on failure (null, errno set).
void* _verbs_init_and_alloc_context(ibv_device*, int command_fd, std::size_t size,
                                    verbs_context* context_offset, std::uint32_t driver_id);

// Closes cmd_fd and async_fd and frees what the library allocated. Afterwards the provider frees its own
// struct.
void verbs_uninit_context(verbs_context*);

// Sets the operations that are not null in `ops`.
void verbs_set_ops(verbs_context*, const ContextOps* ops);
}

}  // namespace urnic::rdmav34
