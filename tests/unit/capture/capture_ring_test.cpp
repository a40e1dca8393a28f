#include "device_model/capture/capture_ring.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <system_error>
#include <thread>

#include "tests/unit/capture/numbered_frames.hpp"

namespace urnic::capture::test {

namespace {

constexpr std::size_t kRing = 8192;

bool readable(int descriptor) {
  pollfd entry{descriptor, POLLIN, 0};
  return poll(&entry, 1, 0) == 1;
}

// Fills a ring of 8192 bytes with frames of 1008 bytes (records of 1024).
void fill(CaptureWriter& writer) {
  const auto bytes = plain_bytes(1008);
  for (int i = 0; i < 8; ++i) writer.observe({bytes, {}, {}});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(capture_ring)

BOOST_AUTO_TEST_CASE(frames_come_out_as_they_went_in) {
  CaptureWriter writer(1 << 14);
  CaptureReader reader = reader_of(writer);
  CapturedFrame captured;
  BOOST_TEST(!reader.next(captured));
  // Enough to pass the ring's end many times, with every alignment of a record to it.
  for (std::uint64_t n = 0; n < 3000; ++n) {
    const NumberedFrame frame(n);
    writer.observe(frame.frame());
    BOOST_REQUIRE(reader.next(captured));
    BOOST_REQUIRE(frame.matches(captured));
    reader.release();
    BOOST_REQUIRE(!reader.next(captured));
  }
  BOOST_TEST(writer.dropped() == 0);
  BOOST_TEST(reader.dropped() == 0);
}

// Wherever the cut falls: in the headers, in the payload, in the trailer or behind it.
BOOST_AUTO_TEST_CASE(a_cut_capture_keeps_the_first_bytes) {
  for (const std::size_t kept : {20u, 54u, 128u, 500u, 4000u}) {
    CaptureWriter writer(1 << 14, 1000, kept);
    CaptureReader reader = reader_of(writer);
    CapturedFrame captured;
    for (std::uint64_t n = 0; n < 600; ++n) {
      const NumberedFrame frame(n);
      writer.observe(frame.frame(), {0, "a comment"});
      BOOST_REQUIRE(reader.next(captured));
      BOOST_REQUIRE(captured.bytes.size() == std::min(kept, frame.size()));
      BOOST_REQUIRE(frame.begins_with(captured));
      BOOST_REQUIRE(captured.comment == "a comment");
      reader.release();
    }
  }
}

BOOST_AUTO_TEST_CASE(marks_come_out_as_they_went_in) {
  CaptureWriter writer(1 << 14);
  CaptureReader reader(duplicate(writer.ring_descriptor()), duplicate(writer.wake_descriptor()), 7);
  CapturedFrame captured;
  for (std::uint64_t n = 0; n < 3000; ++n) {
    const NumberedFrame frame(n);
    const std::string comment(n % (kMaxCommentBytes + 1), static_cast<char>('a' + n % 26));
    writer.observe(frame.frame(), {static_cast<std::uint16_t>(n % 7), comment});
    BOOST_REQUIRE(reader.next(captured));
    BOOST_REQUIRE(frame.matches(captured));
    BOOST_REQUIRE_EQUAL(captured.bytes.size(), frame.size());
    BOOST_REQUIRE_EQUAL(captured.interface, n % 7);
    BOOST_REQUIRE_EQUAL(captured.comment, comment);
    reader.release();
    BOOST_REQUIRE(!reader.next(captured));
  }
}

BOOST_AUTO_TEST_CASE(a_comment_that_is_too_long_is_cut_off) {
  CaptureWriter writer(1 << 14);
  CaptureReader reader = reader_of(writer);
  const auto bytes = plain_bytes(64);
  writer.observe({bytes, {}, {}}, {0, std::string(kMaxCommentBytes + 50, 'x')});
  CapturedFrame captured;
  BOOST_REQUIRE(reader.next(captured));
  BOOST_TEST(captured.comment == std::string(kMaxCommentBytes, 'x'));
  BOOST_TEST(captured.bytes.size() == 64);
}

BOOST_AUTO_TEST_CASE(timestamps_rise_strictly_and_tell_the_time) {
  CaptureWriter writer(1 << 20);
  CaptureReader reader = reader_of(writer);
  timespec before{};
  clock_gettime(CLOCK_REALTIME, &before);
  const auto bytes = plain_bytes(64);
  for (int i = 0; i < 10000; ++i) writer.observe({bytes, {}, {}});
  CapturedFrame captured;
  std::uint64_t last = static_cast<std::uint64_t>(before.tv_sec) * 1'000'000'000 +
                       static_cast<std::uint64_t>(before.tv_nsec) - 1;
  for (int i = 0; i < 10000; ++i) {
    BOOST_REQUIRE(reader.next(captured));
    BOOST_REQUIRE_GT(captured.nanoseconds, last);
    last = captured.nanoseconds;
  }
}

BOOST_AUTO_TEST_CASE(a_ring_holds_exactly_its_size) {
  CaptureWriter writer(kRing, 0);
  fill(writer);
  BOOST_TEST(writer.dropped() == 0);
  const auto bytes = plain_bytes(1);
  writer.observe({bytes, {}, {}});
  BOOST_TEST(writer.dropped() == 1);
}

BOOST_AUTO_TEST_CASE(a_reader_that_hangs_costs_frames_and_not_the_network) {
  CaptureWriter writer(kRing, 1);
  CaptureReader reader = reader_of(writer);
  fill(writer);
  const auto bytes = plain_bytes(1008, 0x11);
  for (int i = 0; i < 5; ++i) writer.observe({bytes, {}, {}});
  BOOST_TEST(writer.dropped() == 5);
  BOOST_TEST(reader.dropped() == 5);
  // Once the reader reads again, the writer takes frames again.
  CapturedFrame captured;
  BOOST_REQUIRE(reader.next(captured));
  reader.release();
  writer.observe({bytes, {}, {}});
  int count = 0;
  while (reader.next(captured)) ++count;
  BOOST_TEST(count == 8);
  BOOST_TEST((captured.bytes[0] == std::byte{0x11}));
  BOOST_TEST(reader.dropped() == 5);
}

BOOST_AUTO_TEST_CASE(a_frame_tells_that_others_before_it_were_dropped) {
  CaptureWriter writer(kRing, 0);
  CaptureReader reader = reader_of(writer);
  const auto bytes = plain_bytes(1008);
  BOOST_TEST(writer.is_empty());
  fill(writer);
  writer.observe({bytes, {}, {}});
  CapturedFrame captured;
  std::string gaps;
  const auto take_all = [&] {
    while (reader.next(captured)) gaps += captured.after_gap ? '1' : '0';
    reader.release();
  };
  take_all();
  BOOST_TEST(writer.is_empty());
  writer.observe({bytes, {}, {}});
  BOOST_TEST(!writer.is_empty());
  writer.observe({bytes, {}, {}});
  writer.skip();
  writer.observe({bytes, {}, {}});
  take_all();
  BOOST_TEST(gaps == "00000000101");
  BOOST_TEST(reader.dropped() == 2);
}

// The writer does not wait for room that cannot come: with this patience the test would not end.
BOOST_AUTO_TEST_CASE(frames_that_no_ring_takes_are_dropped_at_once) {
  constexpr int kVeryPatient = 3'600'000;
  CaptureWriter small(kRing, kVeryPatient);
  const auto longer_than_the_ring = plain_bytes(kRing);
  small.observe({longer_than_the_ring, {}, {}});
  BOOST_TEST(small.dropped() == 1);
  CaptureWriter large(1 << 20, kVeryPatient);
  const auto longer_than_a_frame = plain_bytes(kMaxFrameBytes + 1);
  large.observe({longer_than_a_frame, {}, {}});
  BOOST_TEST(large.dropped() == 1);
  CapturedFrame captured;
  CaptureReader reader = reader_of(large);
  BOOST_TEST(!reader.next(captured));
  const auto longest = plain_bytes(kMaxFrameBytes);
  large.observe({longest, {}, {}});
  BOOST_TEST(reader.next(captured));
}

// The writer waits once, not for each frame: that would take half an hour.
BOOST_AUTO_TEST_CASE(a_stuck_reader_is_waited_for_once) {
  CaptureWriter writer(kRing, 20);
  fill(writer);
  const auto bytes = plain_bytes(1008);
  for (int i = 0; i < 100'000; ++i) writer.observe({bytes, {}, {}});
  BOOST_TEST(writer.dropped() == 100'000);
}

BOOST_AUTO_TEST_CASE(sizes_are_powers_of_two) {
  for (const std::size_t size : {0u, 1u, 4096u, 8191u, 12288u})
    BOOST_CHECK_THROW(CaptureWriter{size}, std::system_error);
}

BOOST_AUTO_TEST_CASE(the_ring_is_sealed) {
  CaptureWriter writer(kRing);
  BOOST_TEST(ftruncate(writer.ring_descriptor(), 4096) != 0);
  BOOST_TEST(ftruncate(writer.ring_descriptor(), 1 << 20) != 0);
  BOOST_TEST((fcntl(writer.ring_descriptor(), F_GET_SEALS) & F_SEAL_SEAL) != 0);
}

BOOST_AUTO_TEST_CASE(the_writer_wakes_only_a_reader_that_waits) {
  CaptureWriter writer(kRing);
  CaptureReader reader = reader_of(writer);
  const auto bytes = plain_bytes(64);
  writer.observe({bytes, {}, {}});
  BOOST_TEST(!readable(writer.wake_descriptor()));

  // A wait returns at once if frames are there (it would otherwise last for ever).
  BOOST_TEST(!reader.wait(-1, -1));
  CapturedFrame captured;
  BOOST_TEST(reader.next(captured));
  BOOST_TEST(!reader.next(captured));
  BOOST_TEST(!reader.wait(-1, 0));
  writer.observe({bytes, {}, {}});
  BOOST_TEST(!readable(writer.wake_descriptor()));
}

// One wait for many frames; the engine makes no system call.
BOOST_AUTO_TEST_CASE(the_writer_does_not_wake_a_reader_that_rests) {
  CaptureWriter writer(kRing);
  CaptureReader reader = reader_of(writer);
  const auto bytes = plain_bytes(64);
  std::uint32_t asked = 0;
  const RingMemory ring = RingMemory::open(duplicate(writer.ring_descriptor()));
  std::thread resting([&] { reader.rest(-1, 50); });
  for (int i = 0; i < 20; ++i) {
    asked |= ring.indices().waiting.load();
    writer.observe({bytes, {}, {}});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  resting.join();
  BOOST_TEST(asked == 0);
  BOOST_TEST(!readable(writer.wake_descriptor()));
}

// A wake that comes too late for its wait does not shorten all later ones.
BOOST_AUTO_TEST_CASE(a_rest_takes_a_late_wake) {
  CaptureWriter writer(kRing);
  CaptureReader reader = reader_of(writer);
  const RingMemory ring = RingMemory::open(duplicate(writer.ring_descriptor()));
  ring.indices().waiting.store(1);
  const auto bytes = plain_bytes(64);
  writer.observe({bytes, {}, {}});
  BOOST_REQUIRE(readable(writer.wake_descriptor()));
  BOOST_TEST(!reader.rest(-1, 0));
  BOOST_TEST(!readable(writer.wake_descriptor()));
}

// The kernel copies frames from the ring to the file: until then the writer must not overwrite them.
BOOST_AUTO_TEST_CASE(frames_stay_in_the_ring_until_they_are_released) {
  CaptureWriter writer(kRing, 0);
  CaptureReader reader = reader_of(writer);
  fill(writer);
  CapturedFrame captured;
  for (int i = 0; i < 8; ++i) BOOST_REQUIRE(reader.next(captured));
  const auto other = plain_bytes(1008, 0x11);
  writer.observe({other, {}, {}});
  BOOST_TEST(writer.dropped() == 1);
  BOOST_TEST((captured.bytes[0] == std::byte{0x5A}));
  reader.release();
  writer.observe({other, {}, {}});
  BOOST_TEST(writer.dropped() == 1);
  BOOST_REQUIRE(reader.next(captured));
  BOOST_TEST((captured.bytes[0] == std::byte{0x11}));
}

BOOST_AUTO_TEST_CASE(waiting_watches_the_other_descriptor) {
  CaptureWriter writer(kRing);
  CaptureReader reader = reader_of(writer);
  int ends[2];
  BOOST_REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  memory::Descriptor mine(ends[0]);
  memory::Descriptor theirs(ends[1]);
  BOOST_TEST(!reader.wait(mine.get(), 0));
  BOOST_REQUIRE(send(theirs.get(), "x", 1, 0) == 1);
  BOOST_TEST(reader.wait(mine.get(), -1));
  char byte;
  BOOST_REQUIRE(recv(mine.get(), &byte, 1, 0) == 1);
  BOOST_TEST(!reader.wait(mine.get(), 0));
  theirs.reset();
  BOOST_TEST(reader.wait(mine.get(), -1));
}

BOOST_AUTO_TEST_CASE(what_a_lost_writer_left_is_read_to_its_end) {
  auto writer = std::make_unique<CaptureWriter>(1 << 16);
  CaptureReader reader = reader_of(*writer);
  for (std::uint64_t n = 0; n < 10; ++n) writer->observe(NumberedFrame(n).frame());
  writer.reset();
  BOOST_TEST(reader.wait(-1, -1));  // the writer is gone
  CapturedFrame captured;
  for (std::uint64_t n = 0; n < 10; ++n) {
    BOOST_REQUIRE(reader.next(captured));
    BOOST_TEST(NumberedFrame(n).matches(captured));
  }
  BOOST_TEST(!reader.next(captured));
}

BOOST_AUTO_TEST_CASE(a_reader_that_stops_gets_what_is_there_and_no_more) {
  CaptureWriter writer(1 << 16);
  CaptureReader reader = reader_of(writer);
  for (std::uint64_t n = 0; n < 3; ++n) writer.observe(NumberedFrame(n).frame());
  reader.stop_here();
  writer.observe(NumberedFrame(3).frame());
  CapturedFrame captured;
  for (std::uint64_t n = 0; n < 3; ++n) {
    BOOST_REQUIRE(reader.next(captured));
    BOOST_TEST(NumberedFrame(n).matches(captured));
  }
  BOOST_TEST(!reader.next(captured));
}

BOOST_AUTO_TEST_CASE(a_second_reader_goes_on_where_the_first_stopped) {
  CaptureWriter writer(1 << 16);
  for (std::uint64_t n = 0; n < 3; ++n) writer.observe(NumberedFrame(n).frame());
  CapturedFrame captured;
  {
    CaptureReader first = reader_of(writer);
    BOOST_REQUIRE(first.next(captured));
    first.release();
    BOOST_REQUIRE(first.next(captured));  // and not released
  }
  CaptureReader second = reader_of(writer);
  BOOST_REQUIRE(second.next(captured));
  BOOST_TEST(NumberedFrame(1).matches(captured));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::capture::test
