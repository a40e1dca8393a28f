// The functions behind the commands, by kind of object. Each returns 0 or an errno, or kNotYet
// (control/uverbs/commands.hpp), and may throw std::bad_alloc or std::system_error, as those of
// control/uverbs, which most of them call.
#pragma once

#include "device_model/control/mlx5/command.hpp"

namespace urnic::control::mlx5 {

int get_context(Command&);
int query_device(Command&);
int query_device_extended(Command&);
int query_port(Command&);

int allocate_pd(Command&);
int deallocate_pd(Command&);
int register_mr(Command&);
int reregister_mr(Command&);
int deregister_mr(Command&);
int allocate_mw(Command&);
int deallocate_mw(Command&);

int open_xrcd(Command&);
int close_xrcd(Command&);

int create_ah(Command&);
int destroy_ah(Command&);

int create_cq(Command&);
int create_cq_extended(Command&);
int resize_cq(Command&);
int destroy_cq(Command&);
int modify_cq(Command&);

int create_qp(Command&);
int create_qp_extended(Command&);
int open_qp(Command&);
int query_qp(Command&);
int modify_qp(Command&);
int modify_qp_extended(Command&);
int destroy_qp(Command&);
int attach_multicast(Command&);
int detach_multicast(Command&);

int create_srq(Command&);
int create_xsrq(Command&);
int modify_srq(Command&);
int query_srq(Command&);
int destroy_srq(Command&);

int create_wq(Command&);
int modify_wq(Command&);
int destroy_wq(Command&);
int create_indirection_table(Command&);
int destroy_indirection_table(Command&);
// CREATE_QP with an indirection table, and DESTROY_QP of what it has made.
int create_rss_qp(Command&);
int destroy_rss_qp(Command&, std::uint32_t handle);

int create_flow(Command&);
int destroy_flow(Command&);

// Methods of ioctl(2): MethodAttributes.
int query_context(Command&);
int allocate_uar(Command&);
int free_uar(Command&);
int allocate_dm(Command&);
int free_dm(Command&);
int query_dm(Command&);
int register_dm_mr(Command&);
int query_mr(Command&);
int query_pd(Command&);
int create_counters(Command&);
int destroy_counters(Command&);
int read_counters(Command&);

// Those that the device knows of and does not do: EOPNOTSUPP.
int not_supported(Command&);

}  // namespace urnic::control::mlx5
