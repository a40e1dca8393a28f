// Which frames of a stream a sample has.
#include "device_model/control/admin/frame_sampler.hpp"

#include <boost/test/unit_test.hpp>

namespace urnic::control::test {
namespace {

// How many of `frames` are taken while the reader takes none; from number `event` on something has happened.
unsigned taken(FrameSampler& sampler, unsigned frames, unsigned event) {
  unsigned count = 0;
  for (unsigned frame = 0; frame < frames; ++frame)
    count += sampler.takes(frame == 0, frame == event) ? 1 : 0;
  return count;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(frame_sampler)

BOOST_AUTO_TEST_CASE(some_in_a_row_are_taken_between_two_looks) {
  FrameSampler sampler;
  for (int look = 0; look < 3; ++look) BOOST_TEST(taken(sampler, 1000, 1000) == FrameSampler::kInARow);
  BOOST_TEST(taken(sampler, 10, 10) == 10u);
}

BOOST_AUTO_TEST_CASE(what_follows_an_event_is_taken_too_however_late_it_is) {
  FrameSampler sampler;
  BOOST_TEST(taken(sampler, 100'000, 99'000) == FrameSampler::kInARow + FrameSampler::kBehindEvent);
  BOOST_TEST(taken(sampler, 100'000, 99'999) == FrameSampler::kInARow + 1);
  BOOST_TEST(taken(sampler, 1000, 0) == FrameSampler::kBehindEvent);
  BOOST_TEST(taken(sampler, 1000, 1000) == FrameSampler::kInARow);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
