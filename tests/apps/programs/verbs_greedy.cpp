// Takes all that it can get of one resource, says how often it was served and with which errno it was
// refused, and keeps it all until it is ended. Programs beside it must not notice.
//
// Usage: verbs_greedy contexts | memory | queue_pairs | completion_queues | keys
#include <fmt/format.h>
#include <infiniband/verbs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>

#include "tests/apps/programs/device.hpp"
#include "tests/apps/programs/require.hpp"

namespace urnic::apps {
namespace {

// More than any limit that a test sets.
constexpr int kEnough = 100'000;
constexpr int kLargeQueue = 1 << 18;  // entries: 16 MiB

struct Place {
  ibv_pd* pd;
  ibv_cq* cq;
  char memory[4096];
};

ibv_qp* create_qp(Place& place) {
  ibv_qp_init_attr attributes{};
  attributes.send_cq = attributes.recv_cq = place.cq;
  attributes.cap = {1, 1, 1, 1, 0};
  attributes.qp_type = IBV_QPT_RC;
  return ibv_create_qp(place.pd, &attributes);
}

int take_all(const std::function<bool()>& take) {
  int taken = 0;
  errno = 0;
  while (taken < kEnough && take()) ++taken;
  return taken;
}

void be_greedy(const std::string& resource) {
  const Device device("urnic0");
  ibv_context* const context = device.context();
  static Place place{device.pd(), ibv_create_cq(context, 1, nullptr, nullptr, 0), {}};
  require(place.cq != nullptr, "the first CQ");
  const std::map<std::string, std::function<bool()>> ways{
      {"contexts", [&] { return ibv_open_device(context->device) != nullptr; }},
      {"memory", [&] { return ibv_create_cq(context, kLargeQueue, nullptr, nullptr, 0) != nullptr; }},
      {"queue_pairs", [&] { return create_qp(place) != nullptr; }},
      {"completion_queues", [&] { return ibv_create_cq(context, 1, nullptr, nullptr, 0) != nullptr; }},
      {"keys", [&] { return ibv_reg_mr(place.pd, place.memory, sizeof place.memory, 0) != nullptr; }},
  };
  const int taken = take_all(ways.at(resource));
  fmt::print("took {} and was refused with {}\n", taken, strerrorname_np(errno));
  std::fflush(stdout);
  pause();
}

}  // namespace
}  // namespace urnic::apps

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  urnic::apps::be_greedy(argv[1]);
  return 0;
}
