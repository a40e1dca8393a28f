// Whole frames that a program makes, to a queue pair with a steering rule for them, and to no device.
#pragma once

#include <cstdint>

#include "tests/unit/storm/traffic.hpp"

namespace urnic::engine::storm {

class RawTraffic final : public Traffic {
 public:
  RawTraffic(const Programs& programs, std::uint32_t doorbell);
  ~RawTraffic() override;

  void post(Chance& chance) override;
  void poll() override;
  void disturb(Chance& chance) override;

 private:
  void bring_up(test::TestQp& queue_pair);
  void send(Chance& chance);

  Programs programs_;
  test::TestQp one_;
  test::TestQp other_;
  std::uint32_t rule_ = 0;
};

}  // namespace urnic::engine::storm
