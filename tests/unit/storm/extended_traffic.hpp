// Extended reliable connections: an initiator, a target, and two SRQs of its domain.
#pragma once

#include <array>
#include <memory>

#include "device_model/engine/receives/xrc_domain_members.hpp"
#include "tests/unit/engine/test_srq.hpp"
#include "tests/unit/storm/traffic.hpp"

namespace urnic::engine::storm {

class ExtendedTraffic final : public Traffic {
 public:
  ExtendedTraffic(Chance& chance, const Programs& programs, std::uint32_t doorbell);

  void post(Chance& chance) override;
  void poll() override;
  void disturb(Chance& chance) override;

 private:
  static constexpr std::uint32_t kReceives = 8;

  void connect(Chance& chance);

  Programs programs_;
  XrcDomain domain_;
  test::TestCq receive_cq_;
  std::array<std::unique_ptr<test::TestSrq>, 2> queues_;
  test::TestQp initiator_;
  test::TestQp target_;
};

}  // namespace urnic::engine::storm
