#include "device_model/control/mlx5/command_table.hpp"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "device_model/abi/uverbs_messages.hpp"
#include "device_model/control/mlx5/handlers.hpp"

namespace urnic::control::mlx5 {
namespace {

constexpr std::uint32_t extended(std::uint32_t number) { return number | IB_USER_VERBS_CMD_FLAG_EXTENDED; }

constexpr CommandRow method(std::uint32_t object, std::uint32_t number, int (*run)(Command&)) {
  return {abi::uverbs_method(object, number), 0, 0, run};
}

// The size of a structure from its beginning to the end of a member.
#define URNIC_UP_TO(type, member) (offsetof(type, member) + sizeof(type::member))

// The sizes are those that Linux checks (drivers/infiniband/core/uverbs_cmd.c): the whole structure, or of an
// extended command its part that has always been there.
constexpr std::array kCommands{
    CommandRow{IB_USER_VERBS_CMD_GET_CONTEXT, sizeof(ib_uverbs_get_context),
               sizeof(ib_uverbs_get_context_resp), get_context, true},
    CommandRow{IB_USER_VERBS_CMD_QUERY_DEVICE, sizeof(ib_uverbs_query_device),
               sizeof(ib_uverbs_query_device_resp), query_device},
    CommandRow{extended(IB_USER_VERBS_EX_CMD_QUERY_DEVICE), sizeof(ib_uverbs_ex_query_device),
               URNIC_UP_TO(ib_uverbs_ex_query_device_resp, response_length), query_device_extended},
    CommandRow{IB_USER_VERBS_CMD_QUERY_PORT, sizeof(ib_uverbs_query_port), sizeof(ib_uverbs_query_port_resp),
               query_port},
    CommandRow{IB_USER_VERBS_CMD_ALLOC_PD, sizeof(ib_uverbs_alloc_pd), sizeof(ib_uverbs_alloc_pd_resp),
               allocate_pd},
    CommandRow{IB_USER_VERBS_CMD_DEALLOC_PD, sizeof(ib_uverbs_dealloc_pd), 0, deallocate_pd},
    CommandRow{IB_USER_VERBS_CMD_REG_MR, sizeof(ib_uverbs_reg_mr), sizeof(ib_uverbs_reg_mr_resp),
               register_mr},
    CommandRow{IB_USER_VERBS_CMD_REREG_MR, sizeof(ib_uverbs_rereg_mr), sizeof(ib_uverbs_rereg_mr_resp),
               reregister_mr},
    CommandRow{IB_USER_VERBS_CMD_DEREG_MR, sizeof(ib_uverbs_dereg_mr), 0, deregister_mr},
    CommandRow{IB_USER_VERBS_CMD_ALLOC_MW, sizeof(ib_uverbs_alloc_mw), sizeof(ib_uverbs_alloc_mw_resp),
               allocate_mw},
    CommandRow{IB_USER_VERBS_CMD_DEALLOC_MW, sizeof(ib_uverbs_dealloc_mw), 0, deallocate_mw},
    CommandRow{IB_USER_VERBS_CMD_OPEN_XRCD, sizeof(ib_uverbs_open_xrcd), sizeof(ib_uverbs_open_xrcd_resp),
               open_xrcd},
    CommandRow{IB_USER_VERBS_CMD_CLOSE_XRCD, sizeof(ib_uverbs_close_xrcd), 0, close_xrcd},
    CommandRow{IB_USER_VERBS_CMD_CREATE_AH, sizeof(ib_uverbs_create_ah), sizeof(ib_uverbs_create_ah_resp),
               create_ah},
    CommandRow{IB_USER_VERBS_CMD_DESTROY_AH, sizeof(ib_uverbs_destroy_ah), 0, destroy_ah},

    CommandRow{IB_USER_VERBS_CMD_CREATE_CQ, sizeof(ib_uverbs_create_cq), sizeof(ib_uverbs_create_cq_resp),
               create_cq},
    CommandRow{extended(IB_USER_VERBS_EX_CMD_CREATE_CQ), URNIC_UP_TO(ib_uverbs_ex_create_cq, reserved),
               URNIC_UP_TO(ib_uverbs_ex_create_cq_resp, response_length), create_cq_extended},
    CommandRow{IB_USER_VERBS_CMD_RESIZE_CQ, sizeof(ib_uverbs_resize_cq), sizeof(ib_uverbs_resize_cq_resp),
               resize_cq},
    CommandRow{extended(IB_USER_VERBS_EX_CMD_MODIFY_CQ), sizeof(ib_uverbs_ex_modify_cq), 0, modify_cq},
    CommandRow{IB_USER_VERBS_CMD_DESTROY_CQ, sizeof(ib_uverbs_destroy_cq), sizeof(ib_uverbs_destroy_cq_resp),
               destroy_cq},

    CommandRow{IB_USER_VERBS_CMD_CREATE_QP, sizeof(ib_uverbs_create_qp), sizeof(ib_uverbs_create_qp_resp),
               create_qp},
    CommandRow{extended(IB_USER_VERBS_EX_CMD_CREATE_QP), URNIC_UP_TO(ib_uverbs_ex_create_qp, comp_mask),
               URNIC_UP_TO(ib_uverbs_ex_create_qp_resp, response_length), create_qp_extended},
    CommandRow{IB_USER_VERBS_CMD_OPEN_QP, sizeof(ib_uverbs_open_qp), sizeof(ib_uverbs_create_qp_resp),
               open_qp},
    CommandRow{IB_USER_VERBS_CMD_QUERY_QP, sizeof(ib_uverbs_query_qp), sizeof(ib_uverbs_query_qp_resp),
               query_qp},
    CommandRow{IB_USER_VERBS_CMD_MODIFY_QP, sizeof(ib_uverbs_modify_qp), 0, modify_qp},
    CommandRow{extended(IB_USER_VERBS_EX_CMD_MODIFY_QP), URNIC_UP_TO(ib_uverbs_ex_modify_qp, base), 0,
               modify_qp_extended},
    CommandRow{IB_USER_VERBS_CMD_DESTROY_QP, sizeof(ib_uverbs_destroy_qp), sizeof(ib_uverbs_destroy_qp_resp),
               destroy_qp},
    CommandRow{IB_USER_VERBS_CMD_ATTACH_MCAST, sizeof(ib_uverbs_attach_mcast), 0, attach_multicast},
    CommandRow{IB_USER_VERBS_CMD_DETACH_MCAST, sizeof(ib_uverbs_detach_mcast), 0, detach_multicast},

    CommandRow{IB_USER_VERBS_CMD_CREATE_SRQ, sizeof(ib_uverbs_create_srq), sizeof(ib_uverbs_create_srq_resp),
               create_srq},
    CommandRow{IB_USER_VERBS_CMD_CREATE_XSRQ, sizeof(ib_uverbs_create_xsrq),
               sizeof(ib_uverbs_create_srq_resp), create_xsrq},
    CommandRow{IB_USER_VERBS_CMD_MODIFY_SRQ, sizeof(ib_uverbs_modify_srq), 0, modify_srq},
    CommandRow{IB_USER_VERBS_CMD_QUERY_SRQ, sizeof(ib_uverbs_query_srq), sizeof(ib_uverbs_query_srq_resp),
               query_srq},
    CommandRow{IB_USER_VERBS_CMD_DESTROY_SRQ, sizeof(ib_uverbs_destroy_srq),
               sizeof(ib_uverbs_destroy_srq_resp), destroy_srq},

    CommandRow{extended(IB_USER_VERBS_EX_CMD_CREATE_FLOW), URNIC_UP_TO(ib_uverbs_create_flow, flow_attr),
               sizeof(ib_uverbs_create_flow_resp), create_flow},
    CommandRow{extended(IB_USER_VERBS_EX_CMD_DESTROY_FLOW), sizeof(ib_uverbs_destroy_flow), 0, destroy_flow},
    CommandRow{extended(IB_USER_VERBS_EX_CMD_CREATE_WQ), URNIC_UP_TO(ib_uverbs_ex_create_wq, max_sge),
               URNIC_UP_TO(ib_uverbs_ex_create_wq_resp, wqn), create_wq},
    CommandRow{extended(IB_USER_VERBS_EX_CMD_MODIFY_WQ), URNIC_UP_TO(ib_uverbs_ex_modify_wq, curr_wq_state),
               0, modify_wq},
    CommandRow{extended(IB_USER_VERBS_EX_CMD_DESTROY_WQ), URNIC_UP_TO(ib_uverbs_ex_destroy_wq, wq_handle),
               URNIC_UP_TO(ib_uverbs_ex_destroy_wq_resp, reserved), destroy_wq},
    CommandRow{extended(IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL),
               URNIC_UP_TO(ib_uverbs_ex_create_rwq_ind_table, log_ind_tbl_size),
               URNIC_UP_TO(ib_uverbs_ex_create_rwq_ind_table_resp, ind_tbl_num), create_indirection_table},
    CommandRow{extended(IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL),
               URNIC_UP_TO(ib_uverbs_ex_destroy_rwq_ind_table, ind_tbl_handle), 0, destroy_indirection_table},

    // Methods of ioctl(2). Their handlers look at the sizes.
    method(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, query_context),
    method(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC, allocate_uar),
    method(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY, free_uar),
    method(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC, allocate_dm),
    method(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE, free_dm),
    method(UVERBS_OBJECT_DM, MLX5_IB_METHOD_DM_QUERY, query_dm),
    method(UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG, register_dm_mr),
    method(UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, query_mr),
    method(UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY, query_pd),
    method(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE, create_counters),
    method(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY, destroy_counters),
    method(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ, read_counters),
};

#undef URNIC_UP_TO

}  // namespace

const CommandRow* find_command(std::uint32_t number) {
  const auto* const found = std::find_if(kCommands.begin(), kCommands.end(),
                                         [number](const CommandRow& row) { return row.number == number; });
  return found == kCommands.end() ? nullptr : found;
}

int not_supported(Command&) { return EOPNOTSUPP; }

}  // namespace urnic::control::mlx5
