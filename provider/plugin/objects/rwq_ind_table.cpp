#include <cerrno>

#include "provider/freestanding/allocation.hpp"
#include "provider/plugin/objects/wq.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {

ibv_rwq_ind_table* create_rwq_ind_table(ibv_context* context, ibv_rwq_ind_table_init_attr* attributes) {
  int error = 0;
  if (attributes->comp_mask != 0) error = EOPNOTSUPP;
  constexpr std::uint32_t kMaxLog = 31;
  if (attributes->log_ind_tbl_size > kMaxLog || 1u << attributes->log_ind_tbl_size > abi::kMaxRssQueues)
    error = EINVAL;
  auto* table = error == 0 ? create_object<IndirectionTable>() : nullptr;
  if (error == 0 && table == nullptr) error = ENOMEM;
  if (error != 0) {
    errno = error;
    return nullptr;
  }
  table->verbs.context = context;
  table->size = 1u << attributes->log_ind_tbl_size;
  for (std::uint32_t i = 0; i < table->size; ++i) {
    table->queues[i] = &wq_of(attributes->ind_tbl[i]);
    ++table->queues[i]->users;
  }
  return &table->verbs;
}

int destroy_rwq_ind_table(ibv_rwq_ind_table* verbs) {
  IndirectionTable& table = indirection_table_of(verbs);
  if (table.users != 0) return EBUSY;
  for (std::uint32_t i = 0; i < table.size; ++i) --table.queues[i]->users;
  destroy_object(&table);
  return 0;
}

}  // namespace urnic::provider
