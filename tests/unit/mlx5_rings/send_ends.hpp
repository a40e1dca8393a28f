#pragma once
// A program that posts sends, and the device's end of the same ring.

#include <boost/test/unit_test.hpp>

#include "device_model/engine/mlx5_rings/send_ring.hpp"
#include "tests/unit/mlx5_rings/work_end.hpp"

namespace urnic::engine::mlx5::test {

struct SendEnds {
  explicit SendEnds(std::uint32_t blocks = 16, transport::QpService service = transport::QpService::rc,
                    bool signal_all = false)
      : program(blocks),
        device({.ring = program.ring.data(),
                .blocks = blocks,
                .producer = &program.doorbells.send,
                .service = service,
                .signal_all = signal_all}) {}

  // The next request, which must be there.
  transport::SendRequest take() {
    device.doorbell();
    transport::SendRequest request;
    BOOST_REQUIRE(device.next(request));
    return request;
  }
  // Moves the place of the next WQE to `block` of the ring.
  void go_to(std::uint32_t block) {
    while (program.counter % program.blocks() != block) {
      program.post(kNop, 0);
      device.retire(take().index);
    }
  }

  SendEnd program;
  SendRing device;
};

}  // namespace urnic::engine::mlx5::test
