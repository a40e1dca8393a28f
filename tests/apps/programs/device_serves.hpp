// After an attack: whether the device still serves others.
#pragma once

#include <boost/test/unit_test.hpp>

#include "tests/apps/programs/requests.hpp"
#include "tests/apps/programs/transfer.hpp"

namespace urnic::apps {

// A new program is served, and what it transfers is right. Fails the test case otherwise.
inline void expect_device_serves() {
  Pair pair;
  const Memory source(pair.left_device.pd(), 10'000), target(pair.right_device.pd(), 10'000);
  fill(source.bytes(0, 10'000), 1);
  ibv_sge segment = source.segment(0, 10'000);
  pair.left.post(rdma_request(IBV_WR_RDMA_WRITE, segment, target.address(), target.rkey()));
  BOOST_TEST(pair.left.wait_send().status == IBV_WC_SUCCESS);
  const auto wrong = difference(target.bytes(0, 10'000), 1);
  BOOST_TEST(!wrong, wrong.value_or(""));
}

}  // namespace urnic::apps
