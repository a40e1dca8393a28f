// RSS queue pairs: they have no queues. The device spreads the frames that flows steer to them over work
// queues.
#pragma once

#include "provider/plugin/objects/qp.hpp"

namespace urnic::provider {

// Whether the attributes ask for such a queue pair.
inline bool asks_for_rss(const ibv_qp_init_attr_ex& attributes) {
  return (attributes.comp_mask & (IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH)) != 0;
}

// Arguments, results and errors as those of create_qp_ex and destroy_qp.
ibv_qp* create_rss_qp(ibv_context* context, const ibv_qp_init_attr_ex& attributes);
int destroy_rss_qp(Qp& qp);

}  // namespace urnic::provider
