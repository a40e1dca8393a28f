// Reliable and unreliable connections; the second end may have a shared receive queue, with tag matching or
// without.
#pragma once

#include <memory>

#include "tests/unit/engine/test_srq.hpp"
#include "tests/unit/engine/test_tags.hpp"
#include "tests/unit/storm/traffic.hpp"

namespace urnic::engine::storm {

enum class Receives : std::uint8_t { own, shared, tagged };

class ConnectedTraffic final : public Traffic {
 public:
  // Takes three doorbells from `doorbell` on, in each of the programs.
  ConnectedTraffic(Chance& chance, const Programs& programs, std::uint32_t doorbell,
                   transport::QpService service, Receives receives);
  ~ConnectedTraffic() override;

  void post(Chance& chance) override;
  void poll() override;
  void disturb(Chance& chance) override;

 private:
  static constexpr std::uint32_t kReceives = 16;

  void connect(Chance& chance);
  void post_receive(Chance& chance);
  void post_tag(Chance& chance);

  Programs programs_;
  transport::QpService service_;
  std::unique_ptr<test::TestSrq> shared_receives_;
  std::unique_ptr<test::TestTags> tags_;
  std::unique_ptr<test::TestQp> one_;
  std::unique_ptr<test::TestQp> other_;
};

}  // namespace urnic::engine::storm
