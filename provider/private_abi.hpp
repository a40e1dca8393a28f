// The private interface between libibverbs and its providers, rdma-core 33 to 65, declared in our own words:
// distributions ship it in the library but not as a header. Public types come from <infiniband/verbs.h>.
// docs/provider-abi.md says how the interface is used. What is declared here is the same in all these
// releases; provider/plugin/library has what differs. The assertions check every size and offset.
#pragma once

#include <infiniband/verbs.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace urnic::private_abi {

// The public structures hold a pthread_mutex_t, whose size depends on the processor. Assertions on a
// structure with one mutex add this to the size that it has on x86-64.
inline constexpr std::size_t kMutexGrowth = sizeof(pthread_mutex_t) - 40;

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

// A device as the library found it in sysfs. Its size differs between releases; this provider reads nothing
// in it.
struct SysfsDevice;
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

// Callers of libraries before release 49 have an ibv_port_attr of this many bytes; later ones are longer.
inline constexpr std::size_t kOldestPortAttributes = 52;
static_assert(offsetof(ibv_port_attr, port_cap_flags2) + sizeof(ibv_port_attr::port_cap_flags2) <=
              kOldestPortAttributes);

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

// Bits of QpTail::comp_mask.
inline constexpr std::uint32_t kQpHasXrcd = 1;
inline constexpr std::uint32_t kQpIsExtended = 2;  // ibv_qp_to_qp_ex gives the ibv_qp_ex

// What the library reads behind the ibv_qp_ex of its own release.
struct QpTail {
  std::uint32_t comp_mask;
  Xrcd* xrcd;
};
static_assert(sizeof(QpTail) == 16 && offsetof(QpTail, xrcd) == 8);

// ibv_qp_ex begins with the ibv_qp and three words; then come the functions that build work requests, more of
// them in newer releases. The newest known release has the most.
inline constexpr std::size_t kQpBuildersAt = sizeof(ibv_qp) + 24;
inline constexpr std::size_t kMostQpBuilders = 22;
inline constexpr std::size_t kAtomicWriteBuilder = 20;  // its index, from release 44 on
static_assert(offsetof(ibv_qp_ex, wr_atomic_cmp_swp) == kQpBuildersAt);

// Has room for the tail of every release.
struct Qp {
  union {
    std::byte room[kQpBuildersAt + kMostQpBuilders * sizeof(void*) + sizeof(QpTail)];
    ibv_qp qp;
    ibv_qp_ex extended;
  };
};

struct Cq {
  union {
    ibv_cq cq;
    ibv_cq_ex extended;
  };
};
static_assert(sizeof(Cq) == 288 + kMutexGrowth);

struct Srq {
  ibv_srq srq;
  ibv_srq_type type;
  Xrcd* xrcd;
  ibv_cq* cq;
  std::uint32_t srq_number;
};
static_assert(sizeof(Srq) == 160 + kMutexGrowth && offsetof(Srq, srq_number) == 152 + kMutexGrowth);

static_assert(sizeof(ibv_context) == 328 + kMutexGrowth && sizeof(ibv_qp) == 160 + kMutexGrowth);
static_assert(sizeof(ibv_cq) == 128 + kMutexGrowth && sizeof(ibv_cq_ex) == 288 + kMutexGrowth);

// An operation that this provider never sets: a null entry keeps the library's "not supported".
using Unset = void (*)();

// ibv_mr_init_attr and its comp_mask (release 59), which older headers do not declare.
struct MrInitAttributes {
  std::size_t length;
  int access;
  std::uint64_t comp_mask;
  std::uint64_t iova;
  void* address;
  int buffer;  // the descriptor of a dma-buf
  std::uint64_t buffer_offset;
};
inline constexpr std::uint64_t kMrHasIova = 1;
inline constexpr std::uint64_t kMrHasAddress = 2;
inline constexpr std::uint64_t kMrHasBuffer = 4;
inline constexpr std::uint64_t kMrHasBufferOffset = 8;
static_assert(offsetof(MrInitAttributes, comp_mask) == 16 && offsetof(MrInitAttributes, address) == 32);
static_assert(offsetof(MrInitAttributes, buffer) == 40 && offsetof(MrInitAttributes, buffer_offset) == 48);

// The operations of a context in release 65, sorted by name. Those without a signature here are not provided.
// Older releases lack some of them: provider/plugin/library/operation_table.hpp makes their table.
struct ContextOps {
  int (*advise_mr)(ibv_pd*, ibv_advise_mr_advice, std::uint32_t flags, ibv_sge*, std::uint32_t count);
  Unset alloc_buf;
  ibv_dm* (*alloc_dm)(ibv_context*, ibv_alloc_dm_attr*);
  Unset alloc_dmah;
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
  Unset create_comp_cntr;
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
  Unset dealloc_dmah;
  int (*dealloc_mw)(ibv_mw*);
  int (*dealloc_pd)(ibv_pd*);
  int (*dealloc_td)(ibv_td*);
  int (*dereg_mr)(Mr*);
  int (*destroy_ah)(ibv_ah*);
  Unset destroy_comp_cntr;
  int (*destroy_counters)(ibv_counters*);
  int (*destroy_cq)(ibv_cq*);
  int (*destroy_flow)(ibv_flow*);
  Unset destroy_flow_action;
  int (*destroy_qp)(ibv_qp*);
  int (*destroy_rwq_ind_table)(ibv_rwq_ind_table*);
  int (*destroy_srq)(ibv_srq*);
  int (*destroy_wq)(ibv_wq*);
  int (*detach_mcast)(ibv_qp*, const ibv_gid*, std::uint16_t lid);
  Unset dm_export_dmabuf_fd;
  Unset free_buf;
  void (*free_context)(ibv_context*);
  int (*free_dm)(ibv_dm*);
  int (*get_srq_num)(ibv_srq*, std::uint32_t* number);
  ibv_dm* (*import_dm)(ibv_context*, std::uint32_t handle);
  ibv_mr* (*import_mr)(ibv_pd*, std::uint32_t handle);
  ibv_pd* (*import_pd)(ibv_context*, std::uint32_t handle);
  Unset inc_comp_cntr;
  Unset inc_err_comp_cntr;
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
  Unset qp_attach_comp_cntr;
  Unset query_comp_cntr_caps;
  int (*query_device_ex)(ibv_context*, const ibv_query_device_ex_input*, ibv_device_attr_ex*,
                         std::size_t size);
  int (*query_ece)(ibv_qp*, ibv_ece*);
  int (*query_port)(ibv_context*, std::uint8_t port, ibv_port_attr*);
  int (*query_port_speed)(ibv_context*, std::uint32_t port, std::uint64_t* speed);  // in 100 Mb/s
  int (*query_qp)(ibv_qp*, ibv_qp_attr*, int mask, ibv_qp_init_attr*);
  Unset query_qp_data_in_order;
  int (*query_rt_values)(ibv_context*, ibv_values_ex*);
  int (*query_srq)(ibv_srq*, ibv_srq_attr*);
  Unset read_comp_cntr;
  int (*read_counters)(ibv_counters*, std::uint64_t* values, std::uint32_t count, std::uint32_t flags);
  Unset read_err_comp_cntr;
  ibv_mr* (*reg_dm_mr)(ibv_pd*, ibv_dm*, std::uint64_t offset, std::size_t length, unsigned int access);
  ibv_mr* (*reg_dmabuf_mr)(ibv_pd*, std::uint64_t offset, std::size_t length, std::uint64_t iova, int buffer,
                           int access);
  ibv_mr* (*reg_mr)(ibv_pd*, void* address, std::size_t length, std::uint64_t iova, int access);
  ibv_mr* (*reg_mr_ex)(ibv_pd*, const MrInitAttributes*);
  int (*req_notify_cq)(ibv_cq*, int solicited_only);
  int (*rereg_mr)(Mr*, int flags, ibv_pd*, void* address, std::size_t length, int access);
  int (*resize_cq)(ibv_cq*, int entries);
  Unset set_comp_cntr;
  int (*set_ece)(ibv_qp*, ibv_ece*);
  Unset set_err_comp_cntr;
  void (*unimport_dm)(ibv_dm*);
  void (*unimport_mr)(ibv_mr*);
  void (*unimport_pd)(ibv_pd*);
};
inline constexpr std::size_t kOperations = sizeof(ContextOps) / sizeof(void*);
static_assert(kOperations == 93);

// Functions of the library; their names keep their meaning in all releases, and their version nodes change.

// verbs_register_driver_N, N being the number of the private ABI. Called once; `ops` must live for ever.
using RegisterDriver = void(const DeviceOps* ops);

// _verbs_init_and_alloc_context: allocates `size` zeroed bytes and initialises the verbs_context in them at
// `context_offset` (an offset with a pointer's type). Takes ownership of command_fd, also on failure (null,
// errno set).
using AllocateContext = void*(ibv_device*, int command_fd, std::size_t size, verbs_context* context_offset,
                              std::uint32_t driver_id);

// verbs_uninit_context: closes cmd_fd and async_fd and frees what the library allocated. Afterwards the
// provider frees its own struct.
using UninitContext = void(verbs_context*);

// verbs_set_ops: sets the operations that are not null in `ops`, a table as the release has it.
using SetOperations = void(verbs_context*, const void* ops);

}  // namespace urnic::private_abi
