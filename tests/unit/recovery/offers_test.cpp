// How two urnics on two hosts agree on selective acks: by offers, after a loss (docs/selective-acks.md).
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/recovery/laboratory.hpp"
#include "wire/opcode.hpp"
#include "wire/selective_ack_offer.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::lab;
using namespace std::chrono_literals;

namespace {

bool is_offer(const wire::TransportHeaders& headers) {
  return headers.bth.opcode == wire::kSelectiveAckOffer;
}
bool is_report(const wire::TransportHeaders& headers) {
  return headers.bth.opcode == wire::kSelectiveAcknowledge;
}

class Seen final : public Observer {
 public:
  void sent(std::size_t from, const wire::TransportHeaders& headers, std::uint32_t, Nanoseconds) override {
    offers[from] += is_offer(headers);
    reports[from] += is_report(headers);
  }
  std::array<std::uint64_t, 2> offers{};
  std::array<std::uint64_t, 2> reports{};
};

LaboratorySettings lossy() {
  LaboratorySettings settings = symmetric(RecoveryMode::sack, {});
  settings.links[0].impairments.loss = 0.01;
  settings.peer = Peer::other_host;
  return settings;
}

// Side 0 sends to side 1 on another host over a link that loses 1 % of that direction.
struct Bench {
  Bench() : Bench(lossy()) {}
  explicit Bench(const LaboratorySettings& settings) : laboratory(settings) { laboratory.observe(&seen); }

  void transfer(WorkOpcode operation = WorkOpcode::rdma_write, std::uint32_t count = 50) {
    posted += count;
    laboratory.post(0, operation, 1u << 16, count);
    BOOST_CHECK(laboratory.run_until_complete(posted, laboratory.now() + 10s));
    BOOST_CHECK_EQUAL(laboratory.completed(0), posted);
  }
  bool agreed() { return laboratory.queue_pair(0).snapshot().requester.selective_acks; }
  bool stranger() { return laboratory.queue_pair(0).snapshot().requester.peer_is_stranger; }

  Laboratory laboratory;
  Seen seen;
  std::uint64_t posted = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(offers)

BOOST_AUTO_TEST_CASE(nothing_is_offered_while_nothing_is_lost) {
  LaboratorySettings settings = lossy();
  settings.links[0].impairments.loss = 0;
  for (const WorkOpcode operation : {WorkOpcode::rdma_write, WorkOpcode::rdma_read, WorkOpcode::send}) {
    Bench b(settings);
    b.transfer(operation);
    BOOST_TEST(b.seen.offers[0] + b.seen.offers[1] == 0u);
    BOOST_TEST(!b.agreed());
    BOOST_TEST(b.stranger());
  }
}

BOOST_AUTO_TEST_CASE(one_offer_and_its_answer_are_enough) {
  Bench b;
  b.transfer();
  BOOST_TEST(b.agreed());
  BOOST_TEST(!b.stranger());
  BOOST_TEST(b.seen.offers[0] == 1u);
  BOOST_TEST(b.seen.offers[1] == 1u);
  BOOST_TEST(b.seen.reports[1] > 0u);
  BOOST_TEST(b.laboratory.counters(1).selective_ack_offers_sent == 1u);
}

// Its responses are lost, so the requester misses them itself and asks.
BOOST_AUTO_TEST_CASE(a_requester_of_reads_asks) {
  LaboratorySettings settings = lossy();
  std::swap(settings.links[0], settings.links[1]);
  Bench b(settings);
  b.transfer(WorkOpcode::rdma_read);
  BOOST_TEST(b.agreed());
  // A second one leaves if another loss is found before the answer is here.
  BOOST_TEST(b.seen.offers[0] <= 2u);
  BOOST_TEST(b.seen.offers[1] == b.seen.offers[0]);
}

BOOST_AUTO_TEST_CASE(lost_offers_and_lost_answers_are_made_good_at_later_losses) {
  for (const std::size_t loser : {0u, 1u}) {
    LaboratorySettings settings = lossy();
    settings.links[loser].drop = [left = 3](const wire::TransportHeaders& headers, std::uint64_t,
                                            Nanoseconds) mutable { return is_offer(headers) && left-- > 0; };
    Bench b(settings);
    b.transfer(WorkOpcode::rdma_write, 100);
    BOOST_TEST(b.agreed());
    BOOST_TEST(b.seen.offers[1] >= 4u);
    BOOST_TEST(b.seen.reports[1] > 0u);
  }
}

BOOST_AUTO_TEST_CASE(a_stranger_hears_few_of_them) {
  LaboratorySettings settings = lossy();
  settings.links[1].drop = [](const wire::TransportHeaders& headers, std::uint64_t, Nanoseconds) {
    return is_offer(headers);
  };
  Bench b(settings);
  b.transfer(WorkOpcode::rdma_write, 400);
  BOOST_TEST(b.laboratory.counters(1).out_of_sequence > 64u);
  BOOST_TEST(b.seen.offers[1] >= 3u);
  BOOST_TEST(b.seen.offers[1] <= 10u);
  BOOST_TEST(b.seen.reports[1] == 0u);
}

BOOST_AUTO_TEST_CASE(a_peer_that_reads_none_gets_none) {
  LaboratorySettings settings = lossy();
  settings.recovery[0].mode = RecoveryMode::selective;
  Bench b(settings);
  b.transfer();
  BOOST_TEST(b.seen.offers[1] == 1u);
  BOOST_TEST(b.seen.offers[0] == 1u);
  BOOST_TEST(b.seen.reports[1] == 0u);
}

BOOST_AUTO_TEST_CASE(a_change_of_recovery_is_told) {
  Bench b;
  b.transfer();
  b.laboratory.queue_pair(0).set_recovery({.mode = RecoveryMode::gbn});
  b.laboratory.run_until_quiet(b.laboratory.now() + 1s);
  b.transfer();
  const std::uint64_t reports = b.seen.reports[1];
  b.transfer();
  BOOST_TEST(b.seen.reports[1] == reports);
  b.laboratory.queue_pair(0).set_recovery({.mode = RecoveryMode::sack});
  b.transfer();
  BOOST_TEST(b.seen.reports[1] > reports);
  BOOST_TEST(b.agreed());
}

// Every offer after the change is lost once: the reports that come all the same bring the next one.
BOOST_AUTO_TEST_CASE(a_change_of_recovery_is_told_again_if_it_was_missed) {
  bool lose = false;
  LaboratorySettings settings = lossy();
  settings.links[0].drop = [&lose](const wire::TransportHeaders& headers, std::uint64_t, Nanoseconds) {
    return is_offer(headers) && std::exchange(lose, false);
  };
  Bench b(settings);
  b.transfer();
  b.laboratory.queue_pair(0).set_recovery({.mode = RecoveryMode::gbn});
  lose = true;
  b.transfer();
  b.transfer();
  const std::uint64_t reports = b.seen.reports[1];
  b.transfer();
  BOOST_TEST(b.seen.reports[1] == reports);
}

BOOST_AUTO_TEST_CASE(queue_pairs_that_start_anew_agree_anew) {
  Bench b;
  b.transfer();
  const std::uint64_t offers = b.seen.offers[1];
  b.laboratory.reset(0);
  BOOST_TEST(!b.agreed());
  b.laboratory.reset(1);
  b.transfer();
  BOOST_TEST(b.agreed());
  BOOST_TEST(b.seen.offers[1] == offers + 1);
}

BOOST_AUTO_TEST_CASE(an_offer_of_another_manufacturer_is_none) {
  const wire::SelectiveAckOffer offer{.reads = true, .gives = false, .wants_answer = true};
  BOOST_CHECK(wire::offer_in(wire::header_of(offer)) == offer);
  wire::SelectiveAckEth other = wire::header_of(offer);
  other.earlier ^= 1;
  BOOST_CHECK(!wire::offer_in(other));
}

// With a stranger's eyes it is a response to a request of long ago.
BOOST_AUTO_TEST_CASE(its_psn_is_long_before_what_the_peer_has_outstanding) {
  class Psns final : public Observer {
   public:
    void sent(std::size_t from, const wire::TransportHeaders& headers, std::uint32_t, Nanoseconds) override {
      if (is_offer(headers) && from == 1) psn = headers.bth.psn;
      if (!is_offer(headers) && from == 0) newest = headers.bth.psn;
      if (is_offer(headers) && from == 1) at = newest;
    }
    std::optional<wire::Psn> psn;
    wire::Psn newest, at;
  } psns;
  LaboratorySettings settings = lossy();
  settings.first_psn = wire::Psn(0x20);  // wraps
  Laboratory laboratory(settings);
  laboratory.observe(&psns);
  laboratory.post(0, WorkOpcode::rdma_write, 1u << 16, 50);
  BOOST_CHECK(laboratory.run_until_complete(50, 10s));
  BOOST_REQUIRE(psns.psn.has_value());
  const std::int32_t before = distance(*psns.psn, psns.at);
  BOOST_TEST(before >= 1 << 22);
  BOOST_TEST(before < (1 << 22) + 20000);
}

BOOST_AUTO_TEST_SUITE_END()
