// Unreliable datagrams, to a queue pair and to a group.
#pragma once

#include <array>
#include <cstdint>

#include "tests/unit/storm/traffic.hpp"

namespace urnic::engine::storm {

class DatagramTraffic final : public Traffic {
 public:
  DatagramTraffic(const Programs& programs, std::uint32_t doorbell);
  ~DatagramTraffic() override;

  void post(Chance& chance) override;
  void poll() override;
  void disturb(Chance& chance) override;

 private:
  void bring_up(test::TestQp& queue_pair);

  Programs programs_;
  test::TestQp one_;
  test::TestQp other_;
  std::array<std::uint32_t, 2> handles_{};  // address handles of the first device: other end, group
};

}  // namespace urnic::engine::storm
