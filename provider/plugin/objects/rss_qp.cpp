#include "provider/plugin/objects/rss_qp.hpp"

#include <cerrno>
#include <cstring>

#include "provider/freestanding/allocation.hpp"
#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/objects/wq.hpp"

namespace urnic::provider {
namespace {

// 0 or the errno with which the attributes are refused. Attributes of queues are ignored: an RSS QP has none.
int check(const ibv_qp_init_attr_ex& attributes) {
  constexpr std::uint32_t kNeeded =
      IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH;
  if ((attributes.comp_mask & ~(kNeeded | IBV_QP_INIT_ATTR_CREATE_FLAGS)) != 0) return EOPNOTSUPP;
  const bool has_flags = (attributes.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0;
  if (has_flags && attributes.create_flags != 0) return EOPNOTSUPP;
  if (attributes.qp_type != IBV_QPT_RAW_PACKET) return EOPNOTSUPP;
  const bool complete = (attributes.comp_mask & kNeeded) == kNeeded && attributes.pd != nullptr &&
                        attributes.rwq_ind_tbl != nullptr;
  if (!complete) return EINVAL;
  const ibv_rx_hash_conf& hash = attributes.rx_hash_conf;
  if (hash.rx_hash_function != IBV_RX_HASH_FUNC_TOEPLITZ) return EOPNOTSUPP;
  return hash.rx_hash_key_len == abi::kHashKeyBytes && hash.rx_hash_key != nullptr ? 0 : EINVAL;
}

abi::CreateRssQpRequest request_for(const ibv_qp_init_attr_ex& attributes, const IndirectionTable& table) {
  abi::CreateRssQpRequest request{};
  request.pd = attributes.pd->handle;
  request.hash_fields = attributes.rx_hash_conf.rx_hash_fields_mask;
  std::memcpy(request.hash_key, attributes.rx_hash_conf.rx_hash_key, sizeof request.hash_key);
  request.queue_count = table.size;
  for (std::uint32_t i = 0; i < table.size; ++i) request.queues[i] = table.queues[i]->verbs.handle;
  return request;
}

}  // namespace

ibv_qp* create_rss_qp(ibv_context* context, const ibv_qp_init_attr_ex& attributes) {
  int error = check(attributes);
  Qp* qp = error == 0 ? create_object<Qp>() : nullptr;
  if (error == 0 && qp == nullptr) error = ENOMEM;
  abi::HandleReply reply{};
  if (error == 0) {
    qp->context = &context_of(context);
    qp->rss_table = &indirection_table_of(attributes.rwq_ind_tbl);
    error =
        call(*qp->context, abi::ControlOpcode::create_rss_qp, request_for(attributes, *qp->rss_table), reply);
  }
  if (error != 0) {
    destroy_object(qp);
    errno = error;
    return nullptr;
  }
  ibv_qp& verbs = qp->verbs.qp;
  verbs.context = context;
  verbs.qp_context = attributes.qp_context;
  verbs.pd = attributes.pd;
  verbs.handle = reply.handle;
  verbs.state = IBV_QPS_RESET;
  verbs.qp_type = attributes.qp_type;
  pthread_mutex_init(&verbs.mutex, nullptr);
  pthread_cond_init(&verbs.cond, nullptr);
  ++qp->rss_table->users;
  hold(verbs.pd);
  return &verbs;
}

int destroy_rss_qp(Qp& qp) {
  const int error = release(*qp.context, abi::ControlOpcode::destroy_rss_qp, qp.verbs.qp.handle);
  if (error != 0) return error;
  --qp.rss_table->users;
  let_go(qp.verbs.qp.pd);
  destroy_object(&qp);
  return 0;
}

}  // namespace urnic::provider
