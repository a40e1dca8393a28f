// Work that the control thread does a little of at a time.
#include "device_model/control/loop/work_in_portions.hpp"

#include <boost/test/unit_test.hpp>
#include <optional>
#include <string>

namespace urnic::control::test {
namespace {

using Work = WorkInPortions::Work;

BOOST_AUTO_TEST_SUITE(work_in_portions)

BOOST_AUTO_TEST_CASE(each_work_has_its_turn_until_it_is_done) {
  WorkInPortions works;
  std::string done;
  const auto three_of = [&](char name) {
    return [&done, name, left = 3]() mutable { return done += name, --left > 0; };
  };
  const Work a(works, three_of('a'));
  const Work b(works, three_of('b'));
  for (int i = 0; i < 6; ++i) {
    BOOST_TEST(!works.empty());
    works.run_one();
  }
  BOOST_TEST(done == "ababab");
  BOOST_TEST(works.empty());
  works.run_one();
}

BOOST_AUTO_TEST_CASE(work_ends_with_its_owner) {
  WorkInPortions works;
  int portions = 0;
  {
    Work work(works, [&] { return ++portions < 100; });
    const Work moved = std::move(work);
    works.run_one();
  }
  BOOST_TEST(works.empty());
  BOOST_TEST(portions == 1);
}

BOOST_AUTO_TEST_CASE(a_portion_may_end_its_own_work_and_begin_another) {
  WorkInPortions works;
  std::optional<Work> first;
  std::optional<Work> second;
  int portions = 0;
  first.emplace(works, [&] {
    first.reset();
    second.emplace(works, [&] { return ++portions < 2; });
    return false;
  });
  for (int i = 0; i < 3; ++i) works.run_one();
  BOOST_TEST(portions == 2);
  BOOST_TEST(works.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::control::test
