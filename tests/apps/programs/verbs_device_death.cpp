// What a program sees when its device dies: IBV_EVENT_DEVICE_FATAL, flushed work, errors, and nothing that
// waits for ever. The test kills the device process once this program has said "waiting".
//
// Usage: verbs_device_death poll|sleep|async [DEVICE DEVICE]. Exit status 0 if it saw what it should.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "tests/apps/programs/async_events.hpp"
#include "tests/apps/programs/requests.hpp"
#include "tests/apps/programs/require.hpp"

namespace urnic::apps {
namespace {

constexpr std::uint64_t kReceives = 10;

void say_waiting() {
  fmt::print("waiting\n");
  std::fflush(stdout);
}

void expect_flushed(const Endpoint& endpoint) {
  for (std::uint64_t i = 0; i < kReceives; ++i) {
    const ibv_wc completion = endpoint.wait_receive();
    require(completion.status == IBV_WC_WR_FLUSH_ERR, "receive {}: {}", i,
            ibv_wc_status_str(completion.status));
    require(completion.wr_id == i, "receive {} instead of {}", completion.wr_id, i);
  }
}

void expect_fatal_event(ibv_context* context) {
  ibv_async_event event{};
  require(ibv_get_async_event(context, &event) == 0, "ibv_get_async_event: {}", std::strerror(errno));
  require(event.event_type == IBV_EVENT_DEVICE_FATAL, "the event is: {}",
          ibv_event_type_str(event.event_type));
  ibv_ack_async_event(&event);
}

// From then on requests fail at once, and giving back succeeds (destructors see to that).
void expect_dead(Pair& pair, const Memory& memory) {
  ibv_sge segment = memory.segment(0, 8);
  ibv_send_wr request = send_request(segment);
  ibv_send_wr* bad = nullptr;
  const int posted = ibv_post_send(pair.left.qp(), &request, &bad);
  if (posted == 0) {
    const ibv_wc completion = pair.left.wait_send();
    require(completion.status == IBV_WC_WR_FLUSH_ERR, "a send: {}", ibv_wc_status_str(completion.status));
  }
  const MrOwner mr(ibv_reg_mr(pair.left_device.pd(), memory.data(), 8, 0));
  require(mr == nullptr && errno == EIO, "memory was registered, or the error is {}", std::strerror(errno));
}

void watch(const std::string& how, const DeviceNames& names) {
  EndpointOptions options;
  options.sleeps = true;
  Pair pair(options, names);
  const Memory memory(pair.left_device.pd(), 4096);
  for (std::uint64_t i = 0; i < kReceives; ++i) pair.left.post_receive(i, {memory.segment(0, 8)});
  require(ibv_req_notify_cq(pair.left.receive_cq(), 0) == 0, "ibv_req_notify_cq failed");
  say_waiting();
  if (how == "sleep") {
    ibv_cq* cq = nullptr;
    void* context = nullptr;
    require(ibv_get_cq_event(pair.left.channel(), &cq, &context) == 0, "ibv_get_cq_event: {}",
            std::strerror(errno));
    ibv_ack_cq_events(cq, 1);
  }
  if (how == "async") expect_fatal_event(pair.left_device.context());
  expect_flushed(pair.left);
  if (how != "async") expect_fatal_event(pair.left_device.context());
  expect_fatal_event(pair.right_device.context());
  expect_dead(pair, memory);
  fmt::print("seen\n");
}

}  // namespace
}  // namespace urnic::apps

int main(int argc, char** argv) {
  const std::string how = argc == 2 || argc == 4 ? argv[1] : "";
  if (how != "poll" && how != "sleep" && how != "async") {
    fmt::print(stderr, "usage: verbs_device_death poll|sleep|async [DEVICE DEVICE]\n");
    return 2;
  }
  try {
    urnic::apps::watch(how, argc == 4 ? urnic::apps::DeviceNames{argv[2], argv[3]}
                                      : urnic::apps::DeviceNames{"urnic0", "urnic1"});
  } catch (const std::exception& error) {
    fmt::print(stderr, "verbs_device_death: {}\n", error.what());
    return 1;
  }
  return 0;
}
