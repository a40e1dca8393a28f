// PSNs that wrap around in the middle of a window make no difference at all.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <vector>

#include "tests/unit/recovery/laboratory.hpp"
#include "tests/unit/recovery/names.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::lab;

namespace {

// What happened at every place of a run, PSNs counted from the first.
class Log final : public Observer {
 public:
  explicit Log(wire::Psn first) : first_(first) {}
  void sent(std::size_t from, const wire::TransportHeaders& headers, std::uint32_t,
            Nanoseconds now) override {
    const wire::Psn psn = headers.bth.psn;
    entries.push_back({from, distance(first_, psn), now});
    low_seen = low_seen || psn.value() < 64;
    high_seen = high_seen || psn.value() > wire::Psn::kMask - 64;
  }

  struct Entry {
    std::size_t from;
    std::int32_t psn;
    Nanoseconds now;
    bool operator==(const Entry&) const = default;
  };
  std::vector<Entry> entries;
  bool low_seen = false;
  bool high_seen = false;

 private:
  wire::Psn first_;
};

Log run(RecoveryMode mode, WorkOpcode operation, wire::Psn first) {
  LinkSettings link;
  link.impairments.loss = 0.02;
  link.impairments.duplicate = 0.01;
  link.impairments.reorder = 0.02;
  link.impairments.reorder_packets = 20;
  link.impairments.reorder_hold = std::chrono::microseconds(3);
  LaboratorySettings settings = symmetric(mode, link);
  settings.first_psn = first;
  settings.window_packets = 1024;
  settings.seed = 3;
  Laboratory laboratory(settings);
  Log log(first);
  laboratory.observe(&log);
  laboratory.post(0, operation, 40'000, 40);
  BOOST_CHECK(laboratory.run_until_complete(40, std::chrono::seconds(10)));
  BOOST_CHECK_EQUAL(laboratory.completed(0), 40u);
  return log;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(wrap_around)

BOOST_AUTO_TEST_CASE(a_window_across_the_end_of_the_numbers_is_like_any_other) {
  for (const RecoveryMode mode : kModes) {
    for (const WorkOpcode operation : kOperations) {
      BOOST_TEST_CONTEXT(name(mode) << ' ' << name(operation)) {
        const Log low = run(mode, operation, wire::Psn(1000));
        // 1,600 packets: the wrap is in the middle, with hundreds under way on both sides of it.
        const Log across = run(mode, operation, wire::Psn(wire::Psn::kMask - 700));
        BOOST_CHECK(across.low_seen && across.high_seen);
        BOOST_CHECK(low.entries == across.entries);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
