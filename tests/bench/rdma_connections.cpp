#include "tests/bench/rdma_connections.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "tests/apps/programs/require.hpp"

namespace urnic::bench {
namespace {

using apps::require;

constexpr int kBacklog = 1024;
constexpr int kPatienceMs = 10000;

void must(int result, const char* what) { require(result == 0, "{}: {}", what, std::strerror(errno)); }

sockaddr_in socket_address(const std::string& text, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  require(inet_pton(AF_INET, text.c_str(), &address.sin_addr) == 1, "{} is no IPv4 address", text);
  return address;
}

sockaddr* generic(sockaddr_in& address) { return reinterpret_cast<sockaddr*>(&address); }

rdma_event_channel* open_channel() {
  rdma_event_channel* const channel = rdma_create_event_channel();
  require(channel != nullptr, "rdma_create_event_channel: {}", std::strerror(errno));
  return channel;
}

struct Event {
  rdma_cm_event_type type;
  rdma_cm_id& id;
};

// Acknowledges the event at once: nothing here needs its private data.
Event next_event(rdma_event_channel& channel) {
  rdma_cm_event* event = nullptr;
  must(rdma_get_cm_event(&channel, &event), "rdma_get_cm_event");
  const Event next{event->event, *event->id};
  must(rdma_ack_cm_event(event), "rdma_ack_cm_event");
  return next;
}

// All queue pairs of a program share one completion queue.
void create_queue_pair(rdma_cm_id& id, apps::CqOwner& cq) {
  if (cq == nullptr) cq.reset(ibv_create_cq(id.verbs, 1, nullptr, nullptr, 0));
  require(cq != nullptr, "ibv_create_cq: {}", std::strerror(errno));
  ibv_qp_init_attr attributes{};
  attributes.send_cq = attributes.recv_cq = cq.get();
  attributes.qp_type = IBV_QPT_RC;
  attributes.cap = {1, 1, 1, 1, 0};
  must(rdma_create_qp(&id, nullptr, &attributes), "rdma_create_qp");
}

rdma_conn_param connection_parameters() {
  rdma_conn_param parameters{};
  parameters.responder_resources = 1;
  parameters.initiator_depth = 1;
  parameters.retry_count = 7;
  parameters.rnr_retry_count = 7;
  return parameters;
}

void destroy(rdma_cm_id& id) {
  if (id.qp != nullptr) rdma_destroy_qp(&id);
  must(rdma_destroy_id(&id), "rdma_destroy_id");
}

void serve(const Event& event, apps::CqOwner& cq) {
  if (event.type == RDMA_CM_EVENT_CONNECT_REQUEST) {
    create_queue_pair(event.id, cq);
    rdma_conn_param parameters = connection_parameters();
    must(rdma_accept(&event.id, &parameters), "rdma_accept");
  } else if (event.type != RDMA_CM_EVENT_ESTABLISHED && event.type != RDMA_CM_EVENT_TIMEWAIT_EXIT) {
    destroy(event.id);
  }
}

}  // namespace

void serve_rdma(const std::string& address, const TellPort& tell) {
  rdma_event_channel* const channel = open_channel();
  rdma_cm_id* listener = nullptr;
  must(rdma_create_id(channel, &listener, nullptr, RDMA_PS_TCP), "rdma_create_id");
  sockaddr_in own = socket_address(address, 0);
  must(rdma_bind_addr(listener, generic(own)), "rdma_bind_addr");
  must(rdma_listen(listener, kBacklog), "rdma_listen");
  tell(ntohs(rdma_get_src_port(listener)));
  apps::CqOwner cq;
  for (;;) serve(next_event(*channel), cq);
}

RdmaClient::RdmaClient(const std::string& address, std::uint16_t port)
    : address_(address), port_(port), channel_(open_channel()) {}

RdmaClient::~RdmaClient() { rdma_destroy_event_channel(channel_); }

RdmaTimes RdmaClient::measure(std::size_t count, std::size_t at_once) {
  ended_ = 0;
  times_us_.clear();
  const auto begin = Clock::now();
  std::size_t started = 0;
  while (ended_ < count) {
    for (; started < std::min(count, ended_ + at_once); ++started) start();
    advance();
  }
  const std::chrono::duration<double> passed = Clock::now() - begin;
  const auto middle = times_us_.begin() + static_cast<std::ptrdiff_t>(times_us_.size() / 2);
  std::nth_element(times_us_.begin(), middle, times_us_.end());
  return {static_cast<double>(count) / passed.count(), *middle};
}

HeldTimes RdmaClient::hold(std::size_t count, std::size_t at_once) {
  ended_ = 0;
  times_us_.clear();
  stay_open_ = true;
  const auto begin = Clock::now();
  std::size_t started = 0;
  while (open_.size() < count) {
    for (; started < std::min(count, open_.size() + at_once); ++started) start();
    advance();
  }
  const auto all_open = Clock::now();
  for (rdma_cm_id* const id : std::exchange(open_, {})) must(rdma_disconnect(id), "rdma_disconnect");
  while (ended_ < count) advance();
  const std::chrono::duration<double> made = all_open - begin;
  const std::chrono::duration<double> taken_down = Clock::now() - all_open;
  stay_open_ = false;
  return {static_cast<double>(count) / made.count(), static_cast<double>(count) / taken_down.count()};
}

void RdmaClient::start() {
  rdma_cm_id* id = nullptr;
  auto connection = std::make_unique<Connection>();
  must(rdma_create_id(channel_, &id, connection.get(), RDMA_PS_TCP), "rdma_create_id");
  connection.release();
  sockaddr_in server = socket_address(address_, port_);
  must(rdma_resolve_addr(id, nullptr, generic(server), kPatienceMs), "rdma_resolve_addr");
}

void RdmaClient::advance() {
  const auto [type, id] = next_event(*channel_);
  rdma_conn_param parameters = connection_parameters();
  switch (type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      return must(rdma_resolve_route(&id, kPatienceMs), "rdma_resolve_route");
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      create_queue_pair(id, cq_);
      return must(rdma_connect(&id, &parameters), "rdma_connect");
    case RDMA_CM_EVENT_ESTABLISHED:
      return establish(id);
    case RDMA_CM_EVENT_DISCONNECTED:
      return end(id);
    case RDMA_CM_EVENT_TIMEWAIT_EXIT:
      return;
    default:
      require(false, "a connection failed: {}", rdma_event_str(type));
  }
}

void RdmaClient::establish(rdma_cm_id& id) {
  const auto& connection = *static_cast<Connection*>(id.context);
  times_us_.push_back(std::chrono::duration<double, std::micro>(Clock::now() - connection.begin).count());
  if (stay_open_) {
    open_.push_back(&id);
  } else {
    must(rdma_disconnect(&id), "rdma_disconnect");
  }
}

void RdmaClient::end(rdma_cm_id& id) {
  const std::unique_ptr<Connection> connection(static_cast<Connection*>(id.context));
  destroy(id);
  ++ended_;
}

}  // namespace urnic::bench
