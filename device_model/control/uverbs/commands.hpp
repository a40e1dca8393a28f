// The requests of the control protocol, one function each. Each returns 0 or the errno for the reply, and may
// throw std::bad_alloc or std::system_error, which become an errno. `session.context` is set, except for
// commands that open or join a context. A long request does a portion of its work and returns kNotYet: it is
// called again with the same message, after other programs' requests.
#pragma once

#include "device_model/abi/query_messages.hpp"
#include "device_model/abi/steering_messages.hpp"
#include "device_model/abi/tag_matching_ring.hpp"
#include "device_model/control/uverbs/session.hpp"

namespace urnic::control {

inline constexpr int kNotYet = -1;

int open_context(Session&, const abi::OpenContextRequest&, abi::OpenContextReply&, DescriptorExchange&);
int join_context(Session&, const abi::JoinContextRequest&, abi::JoinContextReply&, DescriptorExchange&);
int add_completion_channel(Session&, const abi::AddCompletionChannelRequest&, abi::Empty&,
                           DescriptorExchange&);

int open_shared_context(Session&, const abi::OpenSharedContextRequest&, abi::OpenContextReply&,
                        DescriptorExchange&);
int announce_exec(Session&, const abi::AnnounceExecRequest&, abi::Empty&, DescriptorExchange&);
int tell_token(Session&, const abi::Empty&, abi::Empty&, DescriptorExchange&);
int async_channel(Session&, const abi::Empty&, abi::Empty&, DescriptorExchange&);
int import_pd(Session&, const abi::HandleRequest&, abi::HandleReply&, DescriptorExchange&);
int import_mr(Session&, const abi::HandleRequest&, abi::ImportMrReply&, DescriptorExchange&);

int query_device(Session&, const abi::Empty&, abi::QueryDeviceReply&, DescriptorExchange&);
int query_port(Session&, const abi::QueryPortRequest&, abi::QueryPortReply&, DescriptorExchange&);

int allocate_pd(Session&, const abi::Empty&, abi::HandleReply&, DescriptorExchange&);
int allocate_reserved_pd(Session&, const abi::HandleRequest&, abi::Empty&, DescriptorExchange&);
int deallocate_pd(Session&, const abi::HandleRequest&, abi::HandleReply&, DescriptorExchange&);
// The handle that the connection's program may use in allocate_reserved_pd; 0: the device has no room for
// more.
std::uint32_t reserve_pd(Session& session);

int register_mr(Session&, const abi::RegisterMrRequest&, abi::RegisterMrReply&, DescriptorExchange&);
int deregister_mr(Session&, const abi::HandleRequest&, abi::DeregisterMrReply&, DescriptorExchange&);
int reregister_mr(Session&, const abi::ReregisterMrRequest&, abi::RegisterMrReply&, DescriptorExchange&);
int allocate_null_mr(Session&, const abi::HandleRequest&, abi::RegisterMrReply&, DescriptorExchange&);
int advise_mr(Session&, const abi::AdviseMrRequest&, abi::AdviseMrReply&, DescriptorExchange&);
int allocate_dm(Session&, const abi::AllocateDmRequest&, abi::DmReply&, DescriptorExchange&);
int free_dm(Session&, const abi::HandleRequest&, abi::Empty&, DescriptorExchange&);
int import_dm(Session&, const abi::HandleRequest&, abi::DmReply&, DescriptorExchange&);
int register_dm_mr(Session&, const abi::RegisterDmMrRequest&, abi::RegisterMrReply&, DescriptorExchange&);
int register_dma_buf_mr(Session&, const abi::RegisterDmaBufMrRequest&, abi::RegisterMrReply&,
                        DescriptorExchange&);
int place_received(Session&, const abi::PlaceReceivedRequest&, abi::Empty&, DescriptorExchange&);
int allocate_mw(Session&, const abi::AllocateMwRequest&, abi::AllocateMwReply&, DescriptorExchange&);
int deallocate_mw(Session&, const abi::HandleRequest&, abi::Empty&, DescriptorExchange&);

int create_cq(Session&, const abi::CreateCqRequest&, abi::CreateCqReply&, DescriptorExchange&);
int destroy_cq(Session&, const abi::HandleRequest&, abi::DestroyReply&, DescriptorExchange&);
int resize_cq(Session&, const abi::ResizeCqRequest&, abi::ResizeCqReply&, DescriptorExchange&);
int modify_cq(Session&, const abi::ModifyCqRequest&, abi::Empty&, DescriptorExchange&);

int create_srq(Session&, const abi::CreateSrqRequest&, abi::CreateSrqReply&, DescriptorExchange&);
int modify_srq(Session&, const abi::ModifySrqRequest&, abi::ModifySrqReply&, DescriptorExchange&);
int query_srq(Session&, const abi::HandleRequest&, abi::QuerySrqReply&, DescriptorExchange&);
int destroy_srq(Session&, const abi::HandleRequest&, abi::DestroyReply&, DescriptorExchange&);

int create_tag_matching(Session&, const abi::CreateTagMatchingRequest&, abi::CreateTagMatchingReply&,
                        DescriptorExchange&);
int open_xrcd(Session&, const abi::OpenXrcdRequest&, abi::HandleReply&, DescriptorExchange&);
int close_xrcd(Session&, const abi::HandleRequest&, abi::Empty&, DescriptorExchange&);
int create_xrc_srq(Session&, const abi::CreateXrcSrqRequest&, abi::CreateSrqReply&, DescriptorExchange&);
int open_qp(Session&, const abi::OpenQpRequest&, abi::HandleReply&, DescriptorExchange&);

int create_qp(Session&, const abi::CreateQpRequest&, abi::CreateQpReply&, DescriptorExchange&);
int modify_qp(Session&, const abi::ModifyQpRequest&, abi::Empty&, DescriptorExchange&);
int modify_qp_unanswered(Session&, const abi::ModifyQpRequest&, abi::Empty&, DescriptorExchange&);
int set_ece(Session&, const abi::SetEceRequest&, abi::Empty&, DescriptorExchange&);
int query_ece(Session&, const abi::HandleRequest&, abi::QueryEceReply&, DescriptorExchange&);
// The options that the QP offers its peer.
std::uint32_t ece_options(const Session& session, const QueuePair& qp);
int limit_rate(Session&, const abi::LimitRateRequest&, abi::Empty&, DescriptorExchange&);
int query_qp(Session&, const abi::HandleRequest&, abi::QueryQpReply&, DescriptorExchange&);
int destroy_qp(Session&, const abi::HandleRequest&, abi::DestroyReply&, DescriptorExchange&);

int create_flow(Session&, const abi::CreateFlowRequest&, abi::HandleReply&, DescriptorExchange&);
int destroy_flow(Session&, const abi::HandleRequest&, abi::Empty&, DescriptorExchange&);
int create_counters(Session&, const abi::Empty&, abi::HandleReply&, DescriptorExchange&);
int destroy_counters(Session&, const abi::HandleRequest&, abi::Empty&, DescriptorExchange&);
int read_counters(Session&, const abi::HandleRequest&, abi::ReadCountersReply&, DescriptorExchange&);
int create_rss_qp(Session&, const abi::CreateRssQpRequest&, abi::HandleReply&, DescriptorExchange&);
int destroy_rss_qp(Session&, const abi::HandleRequest&, abi::Empty&, DescriptorExchange&);

int create_ah(Session&, const abi::CreateAhRequest&, abi::CreateAhReply&, DescriptorExchange&);
int destroy_ah(Session&, const abi::HandleRequest&, abi::Empty&, DescriptorExchange&);
int attach_multicast(Session&, const abi::MulticastRequest&, abi::Empty&, DescriptorExchange&);
int detach_multicast(Session&, const abi::MulticastRequest&, abi::Empty&, DescriptorExchange&);

}  // namespace urnic::control
