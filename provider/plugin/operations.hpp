// The verbs that this provider implements, as libibverbs calls them (private_abi::ContextOps). Each verb has
// a manual page. An integer result is 0 or an errno, unless the page says otherwise; after a null result,
// errno is set.
#pragma once

#include "provider/private_abi.hpp"

namespace urnic::provider {

// context.cpp
verbs_context* open_context(ibv_device* device, int command_fd, void* private_data);
verbs_context* import_context(ibv_device* device, int command_fd);
void free_context(ibv_context* context);

// import.cpp
ibv_pd* import_pd(ibv_context* context, std::uint32_t handle);
void unimport_pd(ibv_pd* pd);
ibv_mr* import_mr(ibv_pd* pd, std::uint32_t handle);
void unimport_mr(ibv_mr* mr);

// attributes.cpp
int query_device(ibv_context* context, const ibv_query_device_ex_input* input, ibv_device_attr_ex* attributes,
                 std::size_t size);
int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attributes);
int query_port_speed(ibv_context* context, std::uint32_t port, std::uint64_t* speed);

// rt_values.cpp
int query_rt_values(ibv_context* context, ibv_values_ex* values);

// pd.cpp, mr.cpp, mr_ex.cpp, null_mr.cpp, advise_mr.cpp, mw.cpp
ibv_pd* allocate_pd(ibv_context* context);
int deallocate_pd(ibv_pd* pd);
ibv_mr* register_mr(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova, int access);
ibv_mr* register_mr_by_attributes(ibv_pd* pd, const private_abi::MrInitAttributes* attributes);
int reregister_mr(private_abi::Mr* mr, int flags, ibv_pd* pd, void* address, std::size_t length, int access);
int deregister_mr(private_abi::Mr* mr);
ibv_mr* allocate_null_mr(ibv_pd* pd);
int advise_mr(ibv_pd* pd, ibv_advise_mr_advice advice, std::uint32_t flags, ibv_sge* ranges,
              std::uint32_t count);
ibv_mw* allocate_mw(ibv_pd* pd, ibv_mw_type type);
int deallocate_mw(ibv_mw* mw);
int bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind);

// parent_domain.cpp; parent domains are freed by deallocate_pd
ibv_td* allocate_td(ibv_context* context, ibv_td_init_attr* attributes);
int deallocate_td(ibv_td* td);
ibv_pd* allocate_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* attributes);

// dm.cpp
ibv_dm* allocate_dm(ibv_context* context, ibv_alloc_dm_attr* attributes);
int free_dm(ibv_dm* dm);
ibv_dm* import_dm(ibv_context* context, std::uint32_t handle);
void unimport_dm(ibv_dm* dm);
ibv_mr* register_dm_mr(ibv_pd* pd, ibv_dm* dm, std::uint64_t offset, std::size_t length, unsigned int access);

// dma_buf_mr.cpp
ibv_mr* register_dma_buf_mr(ibv_pd* pd, std::uint64_t offset, std::size_t length, std::uint64_t iova,
                            int buffer, int access);

// cq.cpp, cq_ex.cpp, modify_cq.cpp, poll.cpp
ibv_cq* create_cq(ibv_context* context, int entries, ibv_comp_channel* channel, int completion_vector);
ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attributes);
int resize_cq(ibv_cq* cq, int entries);
int modify_cq(ibv_cq* cq, ibv_modify_cq_attr* attributes);
int destroy_cq(ibv_cq* cq);
int poll_cq(ibv_cq* cq, int count, ibv_wc* completions);

// events.cpp
int request_notification(ibv_cq* cq, int solicited_only);
void completion_event_read(ibv_cq* cq);
void async_event_read(ibv_context* context, ibv_async_event* event);

// xrcd.cpp
ibv_xrcd* open_xrcd(ibv_context* context, ibv_xrcd_init_attr* attributes);
int close_xrcd(ibv_xrcd* xrcd);

// srq.cpp, post_srq_receive.cpp
ibv_srq* create_srq(ibv_pd* pd, ibv_srq_init_attr* attributes);
ibv_srq* create_srq_ex(ibv_context* context, ibv_srq_init_attr_ex* attributes);
int get_srq_number(ibv_srq* srq, std::uint32_t* number);
int modify_srq(ibv_srq* srq, ibv_srq_attr* attributes, int mask);
int query_srq(ibv_srq* srq, ibv_srq_attr* attributes);
int destroy_srq(ibv_srq* srq);
int post_srq_receive(ibv_srq* srq, ibv_recv_wr* request, ibv_recv_wr** bad_request);

// tag_matching.cpp
ibv_srq* create_tag_matching_srq(ibv_srq_init_attr_ex* attributes);
int post_srq_operations(ibv_srq* srq, ibv_ops_wr* request, ibv_ops_wr** bad_request);

// qp.cpp
ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attributes);
ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attributes);
ibv_qp* open_qp(ibv_context* context, ibv_qp_open_attr* attributes);
int modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask);
int query_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask, ibv_qp_init_attr* init_attributes);
int destroy_qp(ibv_qp* qp);

// ece.cpp, rate_limit.cpp
int set_ece(ibv_qp* qp, ibv_ece* ece);
int query_ece(ibv_qp* qp, ibv_ece* ece);
int modify_qp_rate_limit(ibv_qp* qp, ibv_qp_rate_limit_attr* attributes);

// ah.cpp, multicast.cpp
ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr* attributes);
int destroy_ah(ibv_ah* ah);
int attach_multicast(ibv_qp* qp, const ibv_gid* group, std::uint16_t lid);
int detach_multicast(ibv_qp* qp, const ibv_gid* group, std::uint16_t lid);

// wq.cpp, rwq_ind_table.cpp; rss_qp.cpp has the QPs that spread frames over work queues
ibv_wq* create_wq(ibv_context* context, ibv_wq_init_attr* attributes);
int modify_wq(ibv_wq* wq, ibv_wq_attr* attributes);
int destroy_wq(ibv_wq* wq);
ibv_rwq_ind_table* create_rwq_ind_table(ibv_context* context, ibv_rwq_ind_table_init_attr* attributes);
int destroy_rwq_ind_table(ibv_rwq_ind_table* table);

// flow.cpp
ibv_flow* create_flow(ibv_qp* qp, ibv_flow_attr* attributes);
int destroy_flow(ibv_flow* flow);

// counters.cpp
ibv_counters* create_counters(ibv_context* context, ibv_counters_init_attr* attributes);
int destroy_counters(ibv_counters* counters);
int attach_counters_to_flow(ibv_counters* counters, ibv_counter_attach_attr* attributes, ibv_flow* flow);
int read_counters(ibv_counters* counters, std::uint64_t* values, std::uint32_t count, std::uint32_t flags);

// post_send.cpp, post_receive.cpp
int post_send(ibv_qp* qp, ibv_send_wr* request, ibv_send_wr** bad_request);
int post_receive(ibv_qp* qp, ibv_recv_wr* request, ibv_recv_wr** bad_request);

}  // namespace urnic::provider
