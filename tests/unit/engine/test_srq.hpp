// A shared receive queue whose program is the test.
#pragma once

#include <cstdint>

#include "device_model/in_process/shared_receives_end.hpp"
#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {

// A shared receive queue that is the engine's as long as it exists.
class TestSrq : public in_process::SharedReceivesEnd {
 public:
  TestSrq(Program& program, std::uint32_t count) : TestSrq(program, count, program.pd) {}
  // In an XRC domain, completing to `cq`; or, with null, in none.
  TestSrq(Program& program, std::uint32_t count, transport::PdId pd, XrcDomain* domain = nullptr,
          CompletionQueue* cq = nullptr);
  ~TestSrq();

  void arm(std::uint32_t limit);
  // As the control thread does it.
  void grow(std::uint32_t count);

 private:
  Program& program_;
};

}  // namespace urnic::engine::test
