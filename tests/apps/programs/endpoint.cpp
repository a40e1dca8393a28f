#include "tests/apps/programs/endpoint.hpp"

#include <cerrno>

#include "tests/apps/programs/require.hpp"

namespace urnic::apps {
namespace {

constexpr std::uint8_t kPort = 1;

CqOwner create_cq(const Device& device, int entries, ibv_comp_channel* channel) {
  CqOwner cq(ibv_create_cq(device.context(), entries, nullptr, channel, 0));
  require(cq != nullptr, "no completion queue of {} entries: {}", entries, std::strerror(errno));
  return cq;
}

ChannelOwner create_channel(const Device& device, bool wanted) {
  if (!wanted) return nullptr;
  ChannelOwner channel(ibv_create_comp_channel(device.context()));
  require(channel != nullptr, "no completion channel: {}", std::strerror(errno));
  return channel;
}

}  // namespace

Endpoint::Endpoint(const Device& device, const EndpointOptions& options)
    : device_(&device),
      options_(options),
      channel_(create_channel(device, options.sleeps)),
      own_send_cq_(create_cq(device, options.cq_entries, channel_.get())),
      own_receive_cq_(create_cq(device, options.cq_entries, channel_.get())),
      send_cq_(own_send_cq_.get()),
      receive_cq_(own_receive_cq_.get()) {
  create_qp();
}

Endpoint::Endpoint(const Device& device, const EndpointOptions& options, ibv_cq* send_cq, ibv_cq* receive_cq)
    : device_(&device), options_(options), send_cq_(send_cq), receive_cq_(receive_cq) {
  create_qp();
}

void Endpoint::create_qp() {
  ibv_qp_init_attr attributes{};
  attributes.send_cq = send_cq_;
  attributes.recv_cq = receive_cq_;
  attributes.srq = options_.srq;
  attributes.cap = options_.capacity;
  attributes.qp_type = IBV_QPT_RC;
  attributes.sq_sig_all = options_.signal_all ? 1 : 0;
  qp_.reset(ibv_create_qp(options_.pd != nullptr ? options_.pd : device_->pd(), &attributes));
  require(qp_ != nullptr, "{}: no QP: {}", device_->name(), std::strerror(errno));
  capacity_ = attributes.cap;
}

QpAddress Endpoint::address() const { return {device_->gid(), qp_->qp_num, options_.first_psn}; }

int Endpoint::to_init() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = kPort;
  attributes.qp_access_flags = static_cast<unsigned>(options_.access);
  return ibv_modify_qp(qp(), &attributes,
                       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

int Endpoint::to_rtr(const QpAddress& peer) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = options_.mtu;
  attributes.dest_qp_num = peer.number;
  attributes.rq_psn = peer.first_psn;
  attributes.max_dest_rd_atomic = options_.max_rd_atomic;
  attributes.min_rnr_timer = options_.min_rnr_timer;
  attributes.ah_attr.is_global = 1;
  attributes.ah_attr.port_num = kPort;
  attributes.ah_attr.grh.dgid = peer.gid;
  attributes.ah_attr.grh.sgid_index = kGidIndex;
  attributes.ah_attr.grh.hop_limit = 64;
  return ibv_modify_qp(qp(), &attributes,
                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                           IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

int Endpoint::to_rts() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = options_.first_psn;
  attributes.timeout = options_.timeout;
  attributes.retry_cnt = options_.retry_count;
  attributes.rnr_retry = options_.rnr_retry;
  attributes.max_rd_atomic = options_.max_rd_atomic;
  return ibv_modify_qp(qp(), &attributes,
                       IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_MAX_QP_RD_ATOMIC);
}

int Endpoint::to_state(ibv_qp_state state) {
  ibv_qp_attr attributes{};
  attributes.qp_state = state;
  return ibv_modify_qp(qp(), &attributes, IBV_QP_STATE);
}

void Endpoint::connect(const QpAddress& peer) {
  int error = to_init();
  require(error == 0, "{}: RESET to INIT: {}", device_->name(), std::strerror(error));
  error = to_rtr(peer);
  require(error == 0, "{}: INIT to RTR: {}", device_->name(), std::strerror(error));
  error = to_rts();
  require(error == 0, "{}: RTR to RTS: {}", device_->name(), std::strerror(error));
}

ibv_qp_state Endpoint::state() const {
  ibv_qp_attr attributes{};
  ibv_qp_init_attr initial{};
  require(ibv_query_qp(qp(), &attributes, IBV_QP_STATE, &initial) == 0, "ibv_query_qp failed");
  return attributes.qp_state;
}

void Endpoint::post(ibv_send_wr request) {
  ibv_send_wr* bad = nullptr;
  const int error = ibv_post_send(qp(), &request, &bad);
  require(error == 0, "{}: ibv_post_send: {}", device_->name(), std::strerror(error));
}

void Endpoint::post_receive(std::uint64_t id, std::vector<ibv_sge> segments) {
  ibv_recv_wr request{};
  request.wr_id = id;
  request.sg_list = segments.data();
  request.num_sge = static_cast<int>(segments.size());
  ibv_recv_wr* bad = nullptr;
  const int error = ibv_post_recv(qp(), &request, &bad);
  require(error == 0, "{}: ibv_post_recv: {}", device_->name(), std::strerror(error));
}

ibv_wc Endpoint::wait_send() const { return wait_completion(send_cq_); }
ibv_send_wr signaled_request(ibv_wr_opcode opcode, ibv_sge& segment) {
  ibv_send_wr request{};
  request.sg_list = &segment;
  request.num_sge = 1;
  request.opcode = opcode;
  request.send_flags = IBV_SEND_SIGNALED;
  return request;
}

ibv_wc Endpoint::wait_receive() const { return wait_completion(receive_cq_); }

std::optional<ibv_wc> poll_for(ibv_cq* cq, std::chrono::milliseconds time) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  ibv_wc completion{};
  do {
    for (int i = 0; i < 64; ++i) {
      const int count = ibv_poll_cq(cq, 1, &completion);
      require(count >= 0, "ibv_poll_cq returned {}", count);
      if (count == 1) return completion;
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return std::nullopt;
}

ibv_wc wait_completion(ibv_cq* cq) {
  const auto completion = poll_for(cq, kPatience);
  require(completion.has_value(), "no completion came within {} seconds", kPatience.count());
  return *completion;
}

Pair::Pair(const EndpointOptions& options, const DeviceNames& names) : Pair(options, options, names) {}

Pair::Pair(const EndpointOptions& left_options, const EndpointOptions& right_options,
           const DeviceNames& names)
    : left_device(names.first),
      right_device(names.second),
      left(left_device, left_options),
      right(right_device, right_options) {
  left.connect(right.address());
  right.connect(left.address());
}

}  // namespace urnic::apps
