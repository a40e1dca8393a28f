#include "device_model/engine/loop/short_slice.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <thread>

using namespace urnic::engine;

namespace {

// The calling thread's slice in nanoseconds. 0 before Linux 6.12, which has one slice for all threads.
std::uint64_t slice() {
  struct {
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime, deadline, period;
  } attributes{};
  BOOST_REQUIRE_EQUAL(syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0U), 0);
  return attributes.runtime;
}

std::uint64_t slice_of_new_thread() {
  std::uint64_t found = 0;
  std::thread([&] { found = slice(); }).join();
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(short_slice)

BOOST_AUTO_TEST_CASE(the_caller_has_short_slices_and_threads_that_it_starts_have_ordinary_ones) {
  std::thread([] {
    const std::uint64_t ordinary = slice();
    ask_for_slices(Slices::small);
    if (ordinary == 0) {
      BOOST_TEST_MESSAGE("not tested: this kernel has one slice for all threads");
      return;
    }
    BOOST_TEST(slice() == 100'000U);
    BOOST_TEST(slice_of_new_thread() == ordinary);
    ask_for_slices(Slices::ordinary);
    BOOST_TEST(slice() == ordinary);
  }).join();
}

BOOST_AUTO_TEST_SUITE_END()
