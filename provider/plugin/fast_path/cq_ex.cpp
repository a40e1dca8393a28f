// The extended completion queue: ibv_start_poll and its readers, over the same ring as ibv_poll_cq.
#include <cerrno>

#include "provider/freestanding/clock.hpp"
#include "provider/plugin/fast_path/empty_polls.hpp"
#include "provider/plugin/objects/cq.hpp"
#include "provider/plugin/objects/parent_domain.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {
namespace {

constexpr std::uint64_t kTimestamps =
    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
constexpr std::uint64_t kSupportedFields =
    kTimestamps | IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_TM_INFO;  // neither VLANs nor flow tags

bool step(Cq& cq) {
  if (!next_completion(cq, cq.current)) return false;
  empty_polls().found(1);
  cq.verbs.extended.wr_id = cq.current.wr_id;
  cq.verbs.extended.status = static_cast<ibv_wc_status>(cq.current.status);
  return true;
}

// Keeps the lock if there is a completion.
bool begin(Cq& cq) {
  cq.lock.lock();
  if (step(cq)) return true;
  cq.lock.unlock();
  return false;
}

int start_poll(ibv_cq_ex* verbs, ibv_poll_cq_attr* attributes) {
  if (attributes->comp_mask != 0) return EINVAL;
  Cq& cq = cq_of(verbs);
  return begin(cq) || (rest_after_empty_poll(*cq.context) && begin(cq)) ? 0 : ENOENT;
}

int next_poll(ibv_cq_ex* verbs) { return step(cq_of(verbs)) ? 0 : ENOENT; }

void end_poll(ibv_cq_ex* verbs) {
  Cq& cq = cq_of(verbs);
  cq.ring.publish();
  cq.lock.unlock();
}

const Completion& current(ibv_cq_ex* cq) { return cq_of(cq).current; }

ibv_wc_opcode read_opcode(ibv_cq_ex* cq) { return static_cast<ibv_wc_opcode>(current(cq).opcode); }
std::uint32_t read_vendor_error(ibv_cq_ex* cq) { return vendor_error_of(current(cq)); }
std::uint32_t read_byte_length(ibv_cq_ex* cq) { return current(cq).byte_length; }
__be32 read_immediate(ibv_cq_ex* cq) { return current(cq).immediate_or_rkey; }
std::uint32_t read_qpn(ibv_cq_ex* cq) { return current(cq).qpn; }
std::uint32_t read_source_qpn(ibv_cq_ex* cq) { return current(cq).source_qpn; }
unsigned int read_flags(ibv_cq_ex* cq) { return wc_flags_of(current(cq)); }
std::uint32_t read_source_lid(ibv_cq_ex* cq) { return abi::source_lid_of(local_route_of(current(cq))); }
std::uint8_t read_service_level(ibv_cq_ex* cq) { return service_level_of(current(cq)); }
std::uint8_t read_path_bits(ibv_cq_ex* cq) { return abi::path_bits_of(local_route_of(current(cq))); }

std::uint64_t read_timestamp(ibv_cq_ex* cq) { return current(cq).timestamp; }

// The device's clock is CLOCK_MONOTONIC; adds the present offset of CLOCK_REALTIME.
std::uint64_t read_wall_clock(ibv_cq_ex* cq) {
  const std::int64_t offset = nanoseconds_of(CLOCK_REALTIME) - nanoseconds_of(CLOCK_MONOTONIC);
  return current(cq).timestamp + static_cast<std::uint64_t>(offset);
}

// All 0, except in a completion that reports a match.
void read_tag_info(ibv_cq_ex* cq, ibv_wc_tm_info* info) {
  const Completion& completion = current(cq);
  *info = ibv_wc_tm_info{};
  if (!is_tag_completion(completion)) return;
  info->tag = completion.tag;
  info->priv = completion.tag_user_data;
}

void install_readers(ibv_cq_ex& cq) {
  cq.start_poll = start_poll;
  cq.next_poll = next_poll;
  cq.end_poll = end_poll;
  cq.read_opcode = read_opcode;
  cq.read_vendor_err = read_vendor_error;
  cq.read_byte_len = read_byte_length;
  cq.read_imm_data = read_immediate;
  cq.read_qp_num = read_qpn;
  cq.read_src_qp = read_source_qpn;
  cq.read_wc_flags = read_flags;
  cq.read_slid = read_source_lid;
  cq.read_sl = read_service_level;
  cq.read_dlid_path_bits = read_path_bits;
  cq.read_tm_info = read_tag_info;
  cq.read_completion_ts = read_timestamp;
  cq.read_completion_wallclock_ns = read_wall_clock;
}

ibv_pd* parent_domain_of(const ibv_cq_init_attr_ex& attributes) {
  return (attributes.comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) != 0 ? attributes.parent_domain : nullptr;
}

// IBV_CREATE_CQ_ATTR_ values.
std::uint32_t create_flags(const ibv_cq_init_attr_ex& attributes) {
  return (attributes.comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 ? attributes.flags : 0;
}

// abi::CqFlag values.
std::uint32_t device_flags(const ibv_cq_init_attr_ex& attributes) {
  std::uint32_t flags = 0;
  if ((attributes.wc_flags & kTimestamps) != 0) flags |= abi::cq_timestamps;
  if ((create_flags(attributes) & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN) != 0) flags |= abi::cq_ignore_overrun;
  return flags;
}

// 0 or the errno with which the attributes are refused (docs/rules/creation-flags.md).
int check(const ibv_cq_init_attr_ex& attributes) {
  constexpr std::uint32_t kServedFlags =
      IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
  constexpr std::uint32_t kKnown = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
  if ((attributes.comp_mask & ~kKnown) != 0) return EOPNOTSUPP;
  // A CQ belongs to no protection domain, so only a parent domain makes sense here.
  if (parent_domain_of(attributes) != nullptr && !is_parent_domain(*attributes.parent_domain)) return EINVAL;
  if ((attributes.wc_flags & ~kSupportedFields) != 0) return EOPNOTSUPP;
  return (create_flags(attributes) & ~kServedFlags) != 0 ? EOPNOTSUPP : 0;
}

}  // namespace

ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attributes) {
  if (const int error = check(*attributes)) {
    errno = error;
    return nullptr;
  }
  Cq* cq = create_completion_queue(context, attributes->cqe, attributes->channel, attributes->comp_vector,
                                   device_flags(*attributes));
  if (cq == nullptr) return nullptr;
  // A thread domain does not remove the lock: it promises one posting thread, but another thread may poll.
  if ((create_flags(*attributes) & IBV_CREATE_CQ_ATTR_SINGLE_THREADED) != 0) cq->lock.leave_out();
  cq->parent_domain = parent_domain_of(*attributes);
  if (cq->parent_domain != nullptr) hold(cq->parent_domain);
  install_readers(cq->verbs.extended);
  return &cq->verbs.extended;
}

}  // namespace urnic::provider
