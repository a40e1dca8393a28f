// Ring contents that no honest peer writes, at both ends.
#include <fcntl.h>
#include <sys/mman.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <random>
#include <stdexcept>
#include <system_error>

#include "tests/unit/capture/numbered_frames.hpp"

namespace urnic::capture::test {

namespace {

constexpr std::size_t kHostileRing = 8192;

// A ring whose memory the test changes as a hostile peer would.
struct Fixture {
  CaptureWriter writer{kHostileRing, 0};
  RingMemory ring = RingMemory::open(duplicate(writer.ring_descriptor()));
  CaptureReader reader = reader_of(writer);
  CapturedFrame captured;

  void place(std::uint64_t position, std::uint16_t length, std::uint16_t comment = 0,
             std::uint16_t interface = 0) {
    const RecordHeader header{length, length, comment, interface, 1};
    std::memcpy(ring.at(position), &header, sizeof header);
  }
  void set_head(std::uint64_t head) { ring.indices().head.store(head); }
};

// A file of `size` bytes with a ring's magic and this capacity, unless that is 0.
memory::Descriptor memfd(std::size_t size, int seals, std::uint64_t capacity) {
  memory::Descriptor file(memfd_create("test", MFD_ALLOW_SEALING));
  const std::uint64_t head[] = {kRingMagic, capacity};
  BOOST_REQUIRE(capacity == 0 || pwrite(file.get(), head, sizeof head, 0) == sizeof head);
  BOOST_REQUIRE(ftruncate(file.get(), static_cast<off_t>(size)) == 0);
  BOOST_REQUIRE(fcntl(file.get(), F_ADD_SEALS, seals) == 0);
  return file;
}

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(hostile_reader_side, Fixture)

BOOST_AUTO_TEST_CASE(a_head_beyond_the_ring) {
  set_head(kHostileRing + 8);
  BOOST_CHECK_THROW(reader.next(captured), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(a_head_that_goes_back) {
  writer.observe(NumberedFrame(1).frame());
  BOOST_REQUIRE(reader.next(captured));
  set_head(0);
  BOOST_CHECK_THROW(reader.next(captured), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(a_head_inside_a_record_header) {
  set_head(8);
  BOOST_CHECK_THROW(reader.next(captured), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(a_record_beyond_the_head) {
  place(0, 100);
  set_head(record_bytes(100) - 8);
  BOOST_CHECK_THROW(reader.next(captured), std::runtime_error);
  BOOST_TEST(captured.bytes.empty());
}

BOOST_AUTO_TEST_CASE(a_comment_beyond_the_head) {
  place(0, 96, 16);
  set_head(record_bytes(96));
  BOOST_CHECK_THROW(reader.next(captured), std::runtime_error);
  BOOST_TEST(captured.comment.empty());
}

BOOST_AUTO_TEST_CASE(lengths_that_no_comment_has) {
  for (const std::size_t length : {kMaxCommentBytes + 1, std::size_t{0x7FFF}, std::size_t{0xFFFF}}) {
    CaptureReader fresh = reader_of(writer);
    place(0, 64, static_cast<std::uint16_t>(length));
    set_head(kHostileRing);
    BOOST_CHECK_THROW(fresh.next(captured), std::runtime_error);
  }
}

BOOST_AUTO_TEST_CASE(interfaces_that_the_capture_does_not_have) {
  for (const unsigned interface : {3u, 4u, 0xFFFFu}) {
    CaptureReader fresh(duplicate(writer.ring_descriptor()), duplicate(writer.wake_descriptor()), 3);
    place(0, 64, 0, static_cast<std::uint16_t>(interface));
    set_head(record_bytes(64));
    BOOST_CHECK_THROW(fresh.next(captured), std::runtime_error);
    place(0, 64, 0, 2);
    CaptureReader last(duplicate(writer.ring_descriptor()), duplicate(writer.wake_descriptor()), 3);
    BOOST_TEST(last.next(captured));
    ring.indices().tail.store(0);
  }
}

// Comments are printed on terminals: no escape sequences and no second line.
BOOST_AUTO_TEST_CASE(a_comment_steers_no_terminal) {
  const auto bytes = plain_bytes(64);
  writer.observe({bytes, {}, {}}, {0, "rule\x1b[2J\n\x7f\x9f \xc3\xa4"});
  BOOST_REQUIRE(reader.next(captured));
  BOOST_TEST(captured.comment == "rule [2J    \xc3\xa4");
}

BOOST_AUTO_TEST_CASE(lengths_that_no_frame_has) {
  // In a ring large enough for such a record.
  CaptureWriter large_writer{1 << 17, 0};
  const RingMemory large = RingMemory::open(duplicate(large_writer.ring_descriptor()));
  large.indices().head.store(large.capacity());
  for (const std::size_t length : {kMaxFrameBytes + 1, std::size_t{0x7FFF}, std::size_t{0xFFFF}}) {
    const auto wrong = static_cast<std::uint16_t>(length);
    for (const std::uint16_t kept : {std::uint16_t{64}, wrong}) {
      CaptureReader fresh = reader_of(large_writer);
      const RecordHeader header{kept, wrong, 0, 0, 1};
      std::memcpy(large.at(0), &header, sizeof header);
      BOOST_CHECK_THROW(fresh.next(captured), std::runtime_error);
    }
  }
}

BOOST_AUTO_TEST_CASE(more_of_a_frame_than_it_had) {
  const RecordHeader header{65, 64, 0, 0, 1};
  std::memcpy(ring.at(0), &header, sizeof header);
  set_head(record_bytes(65));
  BOOST_CHECK_THROW(reader.next(captured), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(a_damaged_ring_stays_damaged) {
  set_head(8);
  BOOST_CHECK_THROW(reader.next(captured), std::runtime_error);
  set_head(0);
  BOOST_CHECK_THROW(reader.next(captured), std::runtime_error);
}

// A frame's bytes stay in the ring until they are written, and the reader decides nothing by them. It copies
// all else once.
BOOST_AUTO_TEST_CASE(what_is_said_of_a_frame_cannot_change_after_it_was_taken) {
  const auto bytes = plain_bytes(64, 0x11);
  writer.observe({bytes, {}, {}}, {0, "harmless"});
  BOOST_REQUIRE(reader.next(captured));
  place(0, 0xFFFF, 0xFFFF, 0xFFFF);
  std::memcpy(ring.at(sizeof(RecordHeader) + 64), "\x1b[2J....", 8);
  BOOST_TEST(captured.bytes.size() == 64);
  BOOST_TEST(captured.interface == 0);
  BOOST_TEST(captured.comment == "harmless");
  writer.observe({bytes, {}, {}}, {0, "the next one"});
  BOOST_REQUIRE(reader.next(captured));
  BOOST_TEST(captured.comment == "the next one");
}

// Whatever the ring holds, the reader returns frames of legal size or refuses. With a sanitizer this finds
// reads outside of the mapping.
BOOST_AUTO_TEST_CASE(random_contents) {
  std::mt19937_64 random(42);
  std::uint64_t accepted = 0;
  for (int round = 0; round < 2000; ++round) {
    for (std::size_t at = 0; at < kHostileRing; at += 8) {
      std::uint64_t word = random();
      if (random() % 2 == 0) word &= 0xFF'0000'0FFF;  // small lengths, so that some records are accepted
      std::memcpy(ring.at(at), &word, sizeof word);
    }
    ring.indices().tail.store(random());
    CaptureReader fresh = reader_of(writer);
    set_head(ring.indices().tail.load() + random() % (kHostileRing + 64));
    try {
      while (fresh.next(captured)) {
        BOOST_REQUIRE_LE(captured.bytes.size(), kMaxFrameBytes);
        BOOST_REQUIRE_LE(captured.comment.size(), kMaxCommentBytes);
        BOOST_REQUIRE_EQUAL(captured.interface, 0);
        ++accepted;
      }
    } catch (const std::runtime_error&) {
    }
  }
  BOOST_TEST(accepted > 0);
}

BOOST_AUTO_TEST_CASE(descriptors_that_are_no_rings) {
  const auto open = [](memory::Descriptor file) {
    return CaptureReader(std::move(file), memory::Descriptor());
  };
  constexpr std::size_t kSize = kRingDataOffset + kHostileRing;
  BOOST_CHECK_THROW(open(memory::Descriptor()), std::system_error);
  BOOST_CHECK_NO_THROW(open(memfd(kSize, kSeals, kHostileRing)));
  BOOST_CHECK_THROW(open(memfd(kSize, 0, kHostileRing)), std::runtime_error);            // could be shrunk
  BOOST_CHECK_THROW(open(memfd(kSize, F_SEAL_GROW, kHostileRing)), std::runtime_error);  // likewise
  BOOST_CHECK_THROW(open(memfd(kSize, kSeals, 0)), std::runtime_error);                  // no magic
  BOOST_CHECK_THROW(open(memfd(0, kSeals, 0)), std::runtime_error);                      // nothing
  BOOST_CHECK_THROW(open(memfd(kRingDataOffset + 4096, kSeals, 4096)), std::runtime_error);
  BOOST_CHECK_THROW(open(memfd(kSize + 8, kSeals, kHostileRing + 8)), std::runtime_error);  // no power of two
  int ends[2];
  BOOST_REQUIRE(pipe(ends) == 0);
  memory::Descriptor other_end(ends[1]);
  BOOST_CHECK_THROW(open(memory::Descriptor(ends[0])), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(a_capacity_that_is_not_the_files) {
  ring.indices().capacity = kHostileRing * 2;
  BOOST_CHECK_THROW(reader_of(writer), std::runtime_error);
}

BOOST_AUTO_TEST_SUITE_END()

// The engine's side: a lying reader loses its own frames and harms nobody else.
BOOST_FIXTURE_TEST_SUITE(hostile_writer_side, Fixture)

BOOST_AUTO_TEST_CASE(a_tail_outside_of_what_was_written_gives_no_room) {
  for (const std::uint64_t tail : {std::uint64_t{8}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    const std::uint64_t dropped = writer.dropped();
    ring.indices().tail.store(tail);
    const std::uint64_t head = ring.indices().head.load();
    if (head - tail <= kHostileRing) continue;  // a legal tail by chance
    writer.observe(NumberedFrame(1).frame());
    BOOST_TEST(writer.dropped() == dropped + 1);
    BOOST_TEST(ring.indices().head.load() == head);
  }
}

BOOST_AUTO_TEST_CASE(the_writer_does_not_believe_its_own_indices_in_the_ring) {
  writer.observe(NumberedFrame(1).frame());
  const std::uint64_t head = ring.indices().head.load();
  ring.indices().head.store(12345);
  ring.indices().capacity = 1 << 30;
  ring.indices().dropped.store(99);
  writer.observe(NumberedFrame(2).frame());
  BOOST_TEST(ring.indices().head.load() == head + record_bytes(NumberedFrame(2).size()));
  BOOST_TEST(writer.dropped() == 0);
}

BOOST_AUTO_TEST_CASE(a_reader_that_never_takes_its_wakes_does_not_block_the_engine) {
  const auto bytes = plain_bytes(64);
  for (int i = 0; i < 100'000; ++i) {
    ring.indices().waiting.store(1);
    writer.observe({bytes, {}, {}});
    ring.indices().tail.store(ring.indices().head.load());
  }
  BOOST_TEST(writer.dropped() == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::capture::test
