// create_rss_qp, destroy_rss_qp
#include <algorithm>
#include <bit>
#include <cerrno>

#include "device_model/control/objects/removal.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "device_model/control/uverbs/raw_packet_rights.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"

namespace urnic::control {
namespace {

static_assert(abi::kHashKeyBytes == engine::kToeplitzKeyBytes);

// 0 or an errno.
int find_queues(const Context& context, const abi::CreateRssQpRequest& request, RssQueuePair& qp) {
  if (request.queue_count > abi::kMaxRssQueues || !std::has_single_bit(request.queue_count)) return EINVAL;
  for (const std::uint32_t handle : std::span(request.queues).first(request.queue_count)) {
    const Use<QueuePair>& queue = qp.queues.emplace_back(context.qps.find(handle));
    if (queue == nullptr || queue->service != transport::QpService::raw_packet) return EINVAL;
  }
  return 0;
}

std::unique_ptr<engine::RssTable> make_rss_table(const abi::CreateRssQpRequest& request,
                                                 const RssQueuePair& qp) {
  engine::ToeplitzKey key;
  std::copy(std::begin(request.hash_key), std::end(request.hash_key), key.begin());
  std::vector<engine::QueuePairContext*> queues;
  for (const auto& queue : qp.queues) queues.push_back(queue->shared->hosted.get());
  return std::make_unique<engine::RssTable>(key, request.hash_fields, std::move(queues));
}

}  // namespace

int create_rss_qp(Session& session, const abi::CreateRssQpRequest& request, abi::HandleReply& reply,
                  DescriptorExchange&) {
  if (const int error = check_raw_frames(session, "create an RSS QP")) return error;
  Context& context = *session.context;
  auto qp = std::make_unique<RssQueuePair>();
  qp->pd = context.pds.find(request.pd);
  if (qp->pd == nullptr) return EINVAL;
  if ((request.hash_fields & ~engine::kHashFields) != 0) return EOPNOTSUPP;
  if (const int error = find_queues(context, request, *qp)) return error;
  qp->share = session.device.queue_pairs.take();
  qp->charge = session.account->charge(Resource::queue_pairs, 1, object_bytes::kQueuePair);
  qp->rss_table = make_rss_table(request, *qp);
  reply.handle = context.rss_qps.add(std::move(qp)) | abi::kRssQpHandle;
  return 0;
}

int destroy_rss_qp(Session& session, const abi::HandleRequest& request, abi::Empty&, DescriptorExchange&) {
  return remove_one(session.context->rss_qps, request.handle ^ abi::kRssQpHandle);
}

}  // namespace urnic::control
