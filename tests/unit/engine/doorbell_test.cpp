// In which order doorbells are taken, and how many at once.
#include <boost/test/unit_test.hpp>
#include <memory>
#include <vector>

#include "device_model/engine/doorbells/doorbell_set.hpp"
#include "device_model/engine/doorbells/doorbell_turns.hpp"

namespace urnic::engine::test {
namespace {

struct Counting final : DoorbellTarget {
  std::uint32_t rung = 0;
  void doorbell() override { ++rung; }
};

// A program with `count` doorbells from 0 on.
struct Ringer {
  std::unique_ptr<abi::Doorbells> doorbells = std::make_unique<abi::Doorbells>();
  DoorbellSet set{*doorbells, -1};
  std::vector<Counting> targets;

  explicit Ringer(std::uint32_t count) : targets(count) {
    for (std::uint32_t i = 0; i < count; ++i) set.attach(i, targets[i]);
  }
  void ring_all() {
    for (std::uint32_t i = 0; i < targets.size(); ++i) doorbells->ring(i);
  }
  std::uint32_t rung() const {
    std::uint32_t sum = 0;
    for (const Counting& target : targets) sum += target.rung;
    return sum;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(doorbells)

BOOST_AUTO_TEST_CASE(a_set_gives_one_word_at_a_time_and_forgets_none) {
  Ringer one(1000);
  BOOST_TEST(one.set.collect_word() == 0u);
  one.ring_all();
  std::uint32_t before = 0;
  for (int words = 0; words < 16; ++words) {
    const std::uint32_t cost = one.set.collect_word();
    BOOST_TEST(cost == one.rung() - before + 1);
    BOOST_TEST(cost <= 65u);
    BOOST_TEST(one.set.has_more() == (words < 15));
    before = one.rung();
  }
  for (const Counting& target : one.targets) BOOST_TEST(target.rung == 1u);
  BOOST_TEST(one.set.collect_word() == 0u);
}

BOOST_AUTO_TEST_CASE(what_rang_shows_until_it_is_taken) {
  Ringer one(200);
  Ringer other(1);
  DoorbellTurns turns;
  turns.add(one.set);
  turns.add(other.set);
  BOOST_TEST(!turns.rung());
  other.doorbells->ring(0);
  BOOST_TEST(turns.rung());
  while (turns.look()) continue;
  BOOST_TEST(!turns.rung());
  one.ring_all();
  one.set.collect_word();  // others of its words wait
  BOOST_TEST(turns.rung());
  while (turns.look()) continue;
  BOOST_TEST(!turns.rung());
}

// A QP that rings in each round does not keep those behind it waiting.
BOOST_AUTO_TEST_CASE(the_words_of_a_set_have_their_turns) {
  Ringer one(200);
  for (int i = 0; i < 4; ++i) {
    one.doorbells->ring(1);
    if (i == 0) one.doorbells->ring(70);
    if (i == 0) one.doorbells->ring(199);
    one.set.collect_word();
  }
  BOOST_TEST(one.targets[70].rung == 1u);
  BOOST_TEST(one.targets[199].rung == 1u);
  BOOST_TEST(one.targets[1].rung == 2u);
}

BOOST_AUTO_TEST_CASE(who_rings_for_nothing_has_few_taken_at_once) {
  Ringer one(0);
  for (std::uint32_t i = 0; i < 640; ++i) one.doorbells->ring(i);
  DoorbellTurns turns;
  turns.add(one.set);
  int looks = 0;
  while (turns.look()) ++looks;
  // The first word is taken before it is known that nothing has it.
  constexpr int kParts = 1 + (640 - 64) / DoorbellSet::kForNothing;
  constexpr int kPartsPerLook = DoorbellTurns::kPerLook / DoorbellSet::kCostOfNothing;
  BOOST_TEST(looks == (kParts + kPartsPerLook - 1) / kPartsPerLook);
}

BOOST_AUTO_TEST_CASE(one_that_means_something_ends_that) {
  Ringer one(1);  // number 0 means something
  for (std::uint32_t i = 64; i < 192; ++i) one.doorbells->ring(i);
  BOOST_TEST(one.set.collect_word() == DoorbellSet::kCostOfNothing);
  for (std::uint32_t i = 0; i < 64 / DoorbellSet::kForNothing; ++i)
    BOOST_TEST(one.set.collect_word() == DoorbellSet::kCostOfNothing);
  BOOST_TEST(!one.set.has_more());
  for (std::uint32_t i = 0; i < 128; ++i) one.doorbells->ring(i);
  BOOST_TEST(one.set.collect_word() == DoorbellSet::kForNothing + 1);  // with number 0
  BOOST_TEST(one.targets[0].rung == 1u);
  BOOST_TEST(one.set.collect_word() == DoorbellSet::kCostOfNothing);  // all the rest of the word
  BOOST_TEST(one.set.has_more());
}

BOOST_AUTO_TEST_CASE(a_look_is_bounded_and_whoever_rings_little_is_not_kept_waiting) {
  Ringer storm(12'000);
  Ringer quiet(1);
  DoorbellTurns turns;
  turns.add(storm.set);
  turns.add(quiet.set);
  for (int i = 0; i < 20; ++i) {
    storm.ring_all();
    quiet.ring_all();
    const std::uint32_t before = storm.rung();
    BOOST_TEST(turns.look());
    BOOST_TEST(quiet.rung() == static_cast<std::uint32_t>(i) + 1);
    BOOST_TEST(storm.rung() - before <= DoorbellTurns::kPerLook);
    BOOST_TEST(storm.rung() - before >= DoorbellTurns::kPerLook / 2);
  }
  int looks = 0;
  while (turns.look() && ++looks < 1000) {
  }
  BOOST_TEST(looks < 100);
  for (const Counting& target : storm.targets) BOOST_REQUIRE(target.rung >= 1u);
}

// No set has its turn again before all others that rang.
BOOST_AUTO_TEST_CASE(many_that_ring_much_share_the_looks) {
  std::vector<std::unique_ptr<Ringer>> all;
  DoorbellTurns turns;
  for (int i = 0; i < 10; ++i) {
    all.push_back(std::make_unique<Ringer>(640));
    all.back()->ring_all();
    turns.add(all.back()->set);
  }
  for (int look = 0; look < 5; ++look) BOOST_TEST(turns.look());
  for (const auto& ringer : all) BOOST_TEST(ringer->rung() == 128u);
  turns.remove(all[3]->set);
  while (turns.look()) {
  }
  for (std::size_t i = 0; i < all.size(); ++i) BOOST_TEST(all[i]->rung() == (i == 3 ? 128u : 640u));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
