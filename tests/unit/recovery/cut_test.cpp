// A link that is cut: for longer than the retries last the connection ends as the specification says, and a
// reset queue pair works again; for less, nothing is lost.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/recovery/experiment.hpp"
#include "tests/unit/recovery/names.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::lab;

namespace {

constexpr std::uint32_t kMessagesAroundTheCut = 200;
constexpr Nanoseconds kCut = std::chrono::microseconds(40);
constexpr Nanoseconds kEnough = std::chrono::seconds(10);

LaboratorySettings with_cut(RecoveryMode mode, Nanoseconds back) {
  LaboratorySettings settings = symmetric(mode, {});
  settings.retry_count = 3;
  for (LinkSettings& link : settings.links) {
    link.drop = [back](const wire::TransportHeaders&, std::uint64_t, Nanoseconds now) {
      return now >= kCut && now < back;
    };
  }
  return settings;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cut)

BOOST_AUTO_TEST_CASE(a_short_cut_loses_nothing) {
  for (const RecoveryMode mode : kModes) {
    for (const WorkOpcode operation : kOperations) {
      BOOST_TEST_CONTEXT(name(mode) << ' ' << name(operation)) {
        // Three of the four timeouts of 1.05 ms.
        Laboratory laboratory(with_cut(mode, kCut + std::chrono::microseconds(3000)));
        laboratory.post(0, operation, 8192, kMessagesAroundTheCut);
        BOOST_CHECK(laboratory.run_until_complete(kMessagesAroundTheCut, kEnough));
        BOOST_CHECK_EQUAL(laboratory.completed(0), kMessagesAroundTheCut);
        BOOST_CHECK_EQUAL(laboratory.received(1), operation == WorkOpcode::send ? kMessagesAroundTheCut : 0u);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_long_cut_ends_the_connection_and_a_reset_brings_it_back) {
  class Statuses final : public Observer {
   public:
    void completed(std::size_t at, const Completion& completion, Nanoseconds) override {
      if (at == 0 && !completion.receive) all.push_back(completion.status);
    }
    std::vector<WorkStatus> all;
  };
  for (const RecoveryMode mode : kModes) {
    for (const WorkOpcode operation : kOperations) {
      BOOST_TEST_CONTEXT(name(mode) << ' ' << name(operation)) {
        const Nanoseconds back = kCut + std::chrono::milliseconds(20);
        Laboratory laboratory(with_cut(mode, back));
        Statuses statuses;
        laboratory.observe(&statuses);
        laboratory.post(0, operation, 8192, kMessagesAroundTheCut);
        BOOST_CHECK(laboratory.run_until_complete(kMessagesAroundTheCut, kEnough));
        // Successes, one retry_exceeded, and flushed all the rest.
        BOOST_REQUIRE_EQUAL(statuses.all.size(), kMessagesAroundTheCut);
        std::size_t i = 0;
        while (i < kMessagesAroundTheCut && statuses.all[i] == WorkStatus::success) ++i;
        BOOST_REQUIRE_LT(i, kMessagesAroundTheCut);
        BOOST_CHECK(statuses.all[i] == WorkStatus::retry_exceeded);
        for (++i; i < kMessagesAroundTheCut; ++i) BOOST_REQUIRE(statuses.all[i] == WorkStatus::flushed);
        BOOST_CHECK(laboratory.queue_pair(0).state() == QpState::error);

        laboratory.wait_until(back);
        for (std::size_t side = 0; side < 2; ++side) laboratory.reset(side);
        const std::uint64_t before = laboratory.completed(0);
        laboratory.post(0, operation, 8192, kMessagesAroundTheCut);
        BOOST_CHECK(laboratory.run_until_complete(2 * kMessagesAroundTheCut, kEnough));
        BOOST_CHECK_EQUAL(laboratory.completed(0), before + kMessagesAroundTheCut);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
