#define BOOST_TEST_DYN_LINK
#include "provider/plugin/library_release.hpp"

#include <boost/test/unit_test.hpp>

using urnic::provider::release_in_file_name;

BOOST_AUTO_TEST_SUITE(library_release)

BOOST_AUTO_TEST_CASE(is_the_third_number_of_the_file_name) {
  BOOST_TEST(release_in_file_name("/usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.44.0") == 44);
  BOOST_TEST(release_in_file_name("libibverbs.so.1.14.56.1") == 56);
  BOOST_TEST(release_in_file_name("/opt/libibverbs.so.1.14.50/libibverbs.so.1.14.39.0") == 39);
}

BOOST_AUTO_TEST_CASE(is_unknown_without_one) {
  BOOST_TEST(release_in_file_name("/usr/lib/libibverbs.so.1") == 0);
  BOOST_TEST(release_in_file_name("/usr/lib/libibverbs-6f3a.so.1.14.44.0") == 0);
  BOOST_TEST(release_in_file_name("unknown") == 0);
}

BOOST_AUTO_TEST_CASE(the_installed_library_is_the_one_built_for) {
  BOOST_CHECK(urnic::provider::library_release_matches());
}

BOOST_AUTO_TEST_SUITE_END()
