#include "provider/plugin/objects/tag_completions.hpp"

#include <cerrno>
#include <cstring>

#include "provider/freestanding/allocation.hpp"
#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {
namespace {

// 0 or the errno with which the attributes are refused.
int check_tag_matching(const ibv_srq_init_attr_ex& attributes) {
  constexpr std::uint32_t kNeeded = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM;
  constexpr std::uint32_t kKnown = kNeeded | IBV_SRQ_INIT_ATTR_TYPE;
  if ((attributes.comp_mask & ~kKnown) != 0) return EOPNOTSUPP;
  if ((attributes.comp_mask & kNeeded) != kNeeded) return EINVAL;
  return attributes.pd == nullptr || attributes.cq == nullptr ? EINVAL : 0;
}

// Whether the ranges have room for the ring that the reply describes: a wrong reply must not cause a stray
// write.
bool is_consistent(const abi::CreateTagMatchingReply& reply, std::uint32_t max_operations) {
  const std::uint32_t slots = reply.operation_slots;
  return slots >= max_operations && (slots & (slots - 1)) == 0 &&
         reply.operations.length >= std::uint64_t{slots} * sizeof(abi::TagOperation) &&
         reply.indices.length >= sizeof(abi::TagMatchingIndices) &&
         reply.doorbell < abi::kDoorbellsPerContext;
}

// 0 or an errno.
int create_on_device(Srq& srq, TagMatching& tags, const ibv_srq_init_attr_ex& attributes) {
  const ibv_tm_cap& wanted = attributes.tm_cap;
  const abi::CreateTagMatchingRequest request{srq.verbs.srq.handle, attributes.cq->handle,
                                              wanted.max_num_tags, wanted.max_ops};
  abi::CreateTagMatchingReply reply{};
  ControlSession session(*srq.context);
  if (const int error = session.call(abi::ControlOpcode::create_tag_matching, request, reply)) return error;
  auto* operations = static_cast<abi::TagOperation*>(session.find(reply.operations));
  auto* indices = static_cast<abi::TagMatchingIndices*>(session.find(reply.indices));
  if (operations == nullptr || indices == nullptr || !is_consistent(reply, wanted.max_ops)) return EIO;
  tags.doorbell = reply.doorbell;
  return tags.slots.attach(operations, indices, reply.operation_slots, wanted.max_ops, wanted.max_num_tags)
             ? 0
             : ENOMEM;
}

// 0 or an errno.
int write_buffer(TagSlots& slots, abi::TagOperation& operation, ibv_ops_wr& request) {
  const auto& add = request.tm.add;
  if (add.num_sge < 0 || static_cast<std::uint32_t>(add.num_sge) > abi::kMaxTagSge) return EINVAL;
  std::uint32_t entry;
  if (!slots.take_entry(add.recv_wr_id, entry)) return ENOMEM;
  operation.entry = entry;
  operation.tag = add.tag;
  operation.mask = add.mask;
  for (int i = 0; i < add.num_sge; ++i) {
    const ibv_sge& segment = add.sg_list[i];
    if (segment.length == 0) continue;
    operation.sges[operation.sge_count++] = {segment.addr, segment.length, segment.lkey};
  }
  request.tm.handle = slots.handle_of(entry);
  return 0;
}

// 0 or an errno.
int post_operation(TagSlots& slots, ibv_ops_wr& request) {
  constexpr int kKnownFlags = IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC;
  if ((request.flags & ~kKnownFlags) != 0) return EINVAL;
  abi::TagOperation* operation = slots.next_operation();
  if (operation == nullptr) return ENOMEM;
  operation->opcode = static_cast<std::uint8_t>(request.opcode);
  operation->flags = static_cast<std::uint8_t>(request.flags);
  operation->sge_count = 0;
  operation->unexpected_count = request.tm.unexpected_cnt;
  operation->removed = 0;
  switch (request.opcode) {
    case IBV_WR_TAG_ADD:
      if (const int error = write_buffer(slots, *operation, request)) return error;
      break;
    case IBV_WR_TAG_DEL:
      if (!slots.entry_of(request.tm.handle, operation->entry)) return EINVAL;
      break;
    case IBV_WR_TAG_SYNC:
      break;
    default:
      return EINVAL;
  }
  slots.post(request.wr_id, (request.flags & IBV_OPS_SIGNALED) != 0);
  return 0;
}

}  // namespace

ibv_srq* create_tag_matching_srq(ibv_srq_init_attr_ex* attributes) {
  int error = check_tag_matching(*attributes);
  if (error != 0) {
    errno = error;
    return nullptr;
  }
  ibv_srq_init_attr basic{attributes->srq_context, attributes->attr};
  ibv_srq* verbs = create_srq(attributes->pd, &basic);
  if (verbs == nullptr) return nullptr;
  Srq& srq = srq_of(verbs);
  auto* tags = create_object<TagMatching>();
  error = tags != nullptr ? create_on_device(srq, *tags, *attributes) : ENOMEM;
  if (error != 0) {
    free_tag_matching(tags);
    destroy_srq(verbs);
    errno = error;
    return nullptr;
  }
  srq.tags = tags;
  srq.verbs.type = IBV_SRQT_TM;
  srq.verbs.cq = attributes->cq;
  attributes->attr = basic.attr;
  return verbs;
}

int post_srq_operations(ibv_srq* verbs, ibv_ops_wr* request, ibv_ops_wr** bad_request) {
  Srq& srq = srq_of(verbs);
  int error = is_dead(*srq.context) ? EIO : 0;
  if (srq.tags == nullptr) error = EINVAL;
  if (error != 0) {
    *bad_request = request;
    return error;
  }
  {
    Lock lock(srq.receive.lock);
    for (; request != nullptr && error == 0; request = request->next) {
      error = post_operation(srq.tags->slots, *request);
      if (error != 0) *bad_request = request;
    }
    srq.tags->slots.publish();
  }
  ring_doorbell(*srq.context, srq.tags->doorbell);
  return error;
}

void settle_tag_completion(Srq& srq, const abi::Cqe& cqe, Completion& completion) {
  abi::TagInfo info;
  std::memcpy(&info, cqe.inline_data + abi::kTagInfoOffset, sizeof info);
  completion.tag = info.tag;
  completion.tag_user_data = info.user_data;
  completion.tag_flags = cqe.tag_flags;
  if (srq.tags == nullptr) return;
  TagSlots& slots = srq.tags->slots;
  if (cqe.opcode <= abi::kLastTagOperation) {
    const bool removed = cqe.opcode == IBV_WC_TM_DEL && cqe.status == IBV_WC_SUCCESS;
    completion.wr_id = slots.operation_done(cqe.wqe_index, removed);
  } else if ((cqe.tag_flags & abi::tag_in_entry) != 0) {
    completion.wr_id = slots.entry_wr_id(cqe.wqe_index);
    if ((cqe.tag_flags & abi::tag_entry_done) != 0) slots.free_entry(cqe.wqe_index);
  } else {
    completion.wr_id = srq.receive.wr_id(cqe.wqe_index);
    srq.receive.give_back(cqe.wqe_index);
  }
}

void free_tag_matching(TagMatching* tags) {
  if (tags == nullptr) return;
  tags->slots.release();
  destroy_object(tags);
}

}  // namespace urnic::provider
