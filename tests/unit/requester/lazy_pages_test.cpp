// Address space that is kept for the next queue pair.
#include "device_model/transport/lazy_pages.hpp"

#include <boost/test/unit_test.hpp>
#include <set>
#include <vector>

namespace urnic::transport::test {

namespace {

constexpr std::size_t kBytes = 3 * 65536;  // as no queue pair has

}  // namespace

BOOST_AUTO_TEST_SUITE(lazy_pages)

BOOST_AUTO_TEST_CASE(what_was_given_back_is_given_to_the_next_of_its_size) {
  void* const first = take_lazy_pages(kBytes);
  static_cast<unsigned char*>(first)[kBytes - 1] = 1;
  give_back_lazy_pages(first, kBytes);
  void* const other = take_lazy_pages(kBytes / 2);
  BOOST_TEST(other != first);
  void* const again = take_lazy_pages(kBytes);
  BOOST_TEST(again == first);
  void* const one_more = take_lazy_pages(kBytes);
  BOOST_TEST(one_more != first);
  give_back_lazy_pages(one_more, kBytes);
  give_back_lazy_pages(again, kBytes);
  give_back_lazy_pages(other, kBytes / 2);
}

BOOST_AUTO_TEST_CASE(those_that_are_too_many_to_be_kept_go_back_to_the_kernel) {
  for (int round = 0; round < 2; ++round) {
    std::vector<void*> all(100);
    for (void*& pages : all) {
      pages = take_lazy_pages(kBytes);
      static_cast<unsigned char*>(pages)[kBytes - 1] = 1;
    }
    BOOST_TEST(std::set<void*>(all.begin(), all.end()).size() == all.size());
    for (void* const pages : all) give_back_lazy_pages(pages, kBytes);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::transport::test
