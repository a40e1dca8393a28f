#include "device_model/capture/reader_patience.hpp"

#include <boost/test/unit_test.hpp>

namespace urnic::capture::test {

BOOST_AUTO_TEST_SUITE(reader_patience)

BOOST_AUTO_TEST_CASE(ends_when_nothing_moved_for_the_limit) {
  ReaderPatience patience(100, 5, 1000);
  BOOST_TEST(!patience.ends(5, 1000));
  BOOST_TEST(!patience.ends(5, 1099));
  BOOST_TEST(patience.ends(5, 1100));
}

BOOST_AUTO_TEST_CASE(every_progress_begins_it_anew) {
  ReaderPatience patience(100, 5, 1000);
  for (std::int64_t i = 1; i <= 50; ++i)
    BOOST_TEST(!patience.ends(5 + static_cast<std::uint64_t>(i), 1000 + 99 * i));
  BOOST_TEST(!patience.ends(55, 1000 + 99 * 50 + 99));
  BOOST_TEST(patience.ends(55, 1000 + 99 * 50 + 100));
}

BOOST_AUTO_TEST_CASE(a_limit_of_nothing_ends_at_once) { BOOST_TEST(ReaderPatience(0, 5, 7).ends(5, 7)); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::capture::test
