#include "provider/kernel/method_attributes.hpp"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

namespace urnic::kernel {

namespace {

using Kind = AttributeKind;

// Device memory.
constexpr AttributeRow kAllocateDm[] = {{UVERBS_ATTR_ALLOC_DM_HANDLE, Kind::new_object},
                                        {UVERBS_ATTR_ALLOC_DM_LENGTH, Kind::input},
                                        {UVERBS_ATTR_ALLOC_DM_ALIGNMENT, Kind::input},
                                        {MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, Kind::output},
                                        {MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, Kind::output},
                                        {MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE, Kind::input}};
constexpr AttributeRow kFreeDm[] = {{UVERBS_ATTR_FREE_DM_HANDLE, Kind::object}};
constexpr AttributeRow kQueryDm[] = {{MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE, Kind::object},
                                     {MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET, Kind::output},
                                     {MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX, Kind::output},
                                     {MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, Kind::output}};
constexpr AttributeRow kRegisterDm[] = {
    {UVERBS_ATTR_REG_DM_MR_HANDLE, Kind::new_object},  {UVERBS_ATTR_REG_DM_MR_OFFSET, Kind::input},
    {UVERBS_ATTR_REG_DM_MR_LENGTH, Kind::input},       {UVERBS_ATTR_REG_DM_MR_PD_HANDLE, Kind::object},
    {UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, Kind::input}, {UVERBS_ATTR_REG_DM_MR_DM_HANDLE, Kind::object},
    {UVERBS_ATTR_REG_DM_MR_RESP_LKEY, Kind::output},   {UVERBS_ATTR_REG_DM_MR_RESP_RKEY, Kind::output}};

constexpr AttributeRow kQueryMr[] = {{UVERBS_ATTR_QUERY_MR_HANDLE, Kind::object},
                                     {UVERBS_ATTR_QUERY_MR_RESP_LKEY, Kind::output},
                                     {UVERBS_ATTR_QUERY_MR_RESP_RKEY, Kind::output},
                                     {UVERBS_ATTR_QUERY_MR_RESP_LENGTH, Kind::output},
                                     {UVERBS_ATTR_QUERY_MR_RESP_IOVA, Kind::output}};
constexpr AttributeRow kQueryPd[] = {{MLX5_IB_ATTR_QUERY_PD_HANDLE, Kind::object},
                                     {MLX5_IB_ATTR_QUERY_PD_RESP_PDN, Kind::output}};

// Counters of steering rules.
constexpr AttributeRow kCreateCounters[] = {{UVERBS_ATTR_CREATE_COUNTERS_HANDLE, Kind::new_object}};
constexpr AttributeRow kDestroyCounters[] = {{UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, Kind::object}};
constexpr AttributeRow kReadCounters[] = {{UVERBS_ATTR_READ_COUNTERS_HANDLE, Kind::object},
                                          {UVERBS_ATTR_READ_COUNTERS_BUFF, Kind::output},
                                          {UVERBS_ATTR_READ_COUNTERS_FLAGS, Kind::input}};

// Of an imported context, which has no doorbell pages from its opening.
constexpr AttributeRow kQueryContext[] = {{UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, Kind::output},
                                          {UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, Kind::output},
                                          {MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, Kind::output}};
constexpr AttributeRow kAllocateUar[] = {{MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, Kind::new_object},
                                         {MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, Kind::input},
                                         {MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, Kind::output},
                                         {MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, Kind::output},
                                         {MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, Kind::output}};
constexpr AttributeRow kFreeUar[] = {{MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, Kind::object}};

template <size_t kCount>
constexpr MethodRow row(uint16_t object, uint16_t method, const AttributeRow (&attributes)[kCount]) {
  return {object, method, attributes, kCount};
}

constexpr MethodRow kMethods[] = {
    row(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC, kAllocateDm),
    row(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE, kFreeDm),
    row(UVERBS_OBJECT_DM, MLX5_IB_METHOD_DM_QUERY, kQueryDm),
    row(UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG, kRegisterDm),
    row(UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, kQueryMr),
    row(UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY, kQueryPd),
    row(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, kQueryContext),
    row(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC, kAllocateUar),
    row(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY, kFreeUar),
    row(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE, kCreateCounters),
    row(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY, kDestroyCounters),
    row(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ, kReadCounters),
};

}  // namespace

const AttributeRow* MethodRow::find(uint16_t id) const {
  for (size_t i = 0; i < count; ++i)
    if (attributes[i].id == id) return &attributes[i];
  return nullptr;
}

const MethodRow* find_method(uint16_t object, uint16_t method) {
  for (const MethodRow& each : kMethods)
    if (each.object == object && each.method == method) return &each;
  return nullptr;
}

}  // namespace urnic::kernel
