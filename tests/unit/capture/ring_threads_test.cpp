// Both ends at the same time. With ThreadSanitizer this also shows that a record is never read while it is
// written.
#include <boost/test/unit_test.hpp>
#include <thread>
#include <vector>

#include "tests/unit/capture/numbered_frames.hpp"

namespace urnic::capture::test {

BOOST_AUTO_TEST_SUITE(ring_threads)

// In a small ring both ends wait for each other all the time. Nothing is lost, since the writer is patient.
BOOST_AUTO_TEST_CASE(a_patient_writer_loses_nothing) {
  constexpr std::uint64_t kFrames = 20'000;
  CaptureWriter writer(1 << 14, 600'000);
  CaptureReader reader = reader_of(writer);
  std::thread producer([&] {
    for (std::uint64_t n = 0; n < kFrames; ++n) writer.observe(NumberedFrame(n).frame());
  });
  // Frames are checked as late as is allowed, before their release.
  std::uint64_t last = 0;
  std::uint64_t mismatches = 0;
  std::uint64_t looked_at = 0;
  std::vector<CapturedFrame> held;
  const auto look = [&] {
    for (const CapturedFrame& captured : held) {
      if (!NumberedFrame(looked_at++).matches(captured) || captured.nanoseconds <= last) ++mismatches;
      last = captured.nanoseconds;
    }
    held.clear();
    reader.release();
  };
  CapturedFrame captured;
  for (std::uint64_t n = 0; n < kFrames; ++n) {
    while (!reader.next(captured)) {
      look();
      reader.wait(-1, -1);
    }
    held.push_back(captured);
  }
  look();
  producer.join();
  BOOST_TEST(mismatches == 0);
  BOOST_TEST(writer.dropped() == 0);
}

// One frame at a time, each answered before the next: a lost wake stops this test.
BOOST_AUTO_TEST_CASE(no_wake_is_lost) {
  constexpr std::uint64_t kFrames = 20'000;
  CaptureWriter writer(1 << 14);
  CaptureReader reader = reader_of(writer);
  std::atomic<std::uint64_t> seen{0};
  std::thread producer([&] {
    const auto bytes = plain_bytes(64);
    for (std::uint64_t n = 0; n < kFrames; ++n) {
      while (seen.load() != n) std::this_thread::yield();
      writer.observe({bytes, {}, {}});
    }
  });
  CapturedFrame captured;
  for (std::uint64_t n = 0; n < kFrames; ++n) {
    while (!reader.next(captured)) reader.wait(-1, -1);
    reader.release();
    seen.store(n + 1);
  }
  producer.join();
  BOOST_TEST(!reader.next(captured));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::capture::test
