// The fixture of most tests: the fake device opened through libibverbs, and a QP ready to send.
#pragma once

#include <infiniband/verbs.h>

#include <span>
#include <vector>

#include "tests/unit/provider/fake_device.hpp"

namespace urnic::test {

// The one device of the test program: libibverbs reads its environment and its devices once. A test that
// kills the device must replace it.
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

  // Changes the QP's state and no other attribute.
  void modify(ibv_qp_state state);
  // Posts one request. Results as of ibv_post_send; `bad` may be null.
  int post_send(ibv_send_wr& request, ibv_send_wr** bad = nullptr);
  int post_receive(ibv_recv_wr& request, ibv_recv_wr** bad = nullptr);
  int post_receive(std::span<ibv_sge> segments);
  // Posts `count` bare sends or receives with wr_ids from `first` on.
  void post_sends(int count, std::uint64_t first);
  void post_receives(int count, std::uint64_t first);
  // Polls all completions that are there now.
  std::vector<ibv_wc> poll();
};

}  // namespace urnic::test
