// What most tests need: the fake device opened through libibverbs, and a QP ready to send.
#pragma once

#include <infiniband/verbs.h>

#include <span>
#include <vector>

#include "tests/unit/provider/fake_device.hpp"

namespace urnic::test {

// The device of the whole test program: libibverbs reads its environment and its devices once. A test that
// kills it replaces it.
FakeDevice& fake_device();
void replace_fake_device();

struct OpenDevice {
  ibv_context* context;

  OpenDevice();
  ~OpenDevice();
};

struct Rig : OpenDevice {
  FakeDevice& device;
  ibv_comp_channel* channel;
  ibv_pd* pd;
  ibv_cq* cq;
  ibv_qp* qp;
  FakeQp* fake;

  explicit Rig(bool extended = false);
  ~Rig();

  // Moves the QP to a state, and nothing but its state.
  void modify(ibv_qp_state state);
  // Posts one request; returns what ibv_post_send returns and, where not null, the bad request's place.
  int post_send(ibv_send_wr& request, ibv_send_wr** bad = nullptr);
  int post_receive(ibv_recv_wr& request, ibv_recv_wr** bad = nullptr);
  int post_receive(std::span<ibv_sge> segments);
  // Posts `count` bare sends or receives with wr_ids from `first` on.
  void post_sends(int count, std::uint64_t first);
  void post_receives(int count, std::uint64_t first);
  // Everything that can be polled now.
  std::vector<ibv_wc> poll();
};

}  // namespace urnic::test
