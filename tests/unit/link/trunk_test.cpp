// The ring between two engines' switches.
#include "device_model/link/trunk.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>
#include <thread>

#include "tests/unit/link/sample_frames.hpp"

namespace urnic::link::test {

namespace {

using transport::Nanoseconds;
using transport::Time;

// Keeps what lies in its own bytes, as long as it is told to.
class Keeper final : public transport::PayloadKeeper {
 public:
  std::vector<std::byte> bytes = std::vector<std::byte>(1 << 20);
  bool may_keep = true;
  std::uint32_t kept = 0;

  std::optional<Place> keep(std::span<const std::byte> payload) override {
    const bool inside = payload.data() >= bytes.data() && payload.data() < bytes.data() + bytes.size();
    if (!inside || !may_keep) return {};
    ++kept;
    return 7;
  }
  void release(Place) override { --kept; }
};

// A frame that is nothing but bytes which tell which one it is.
struct Numbered {
  std::array<std::byte, 60> headers;
  std::array<std::byte, 5> trailer;
  wire::Frame frame;

  Numbered(std::uint64_t number, std::span<std::byte> payload) {
    headers.fill(static_cast<std::byte>(number));
    trailer.fill(static_cast<std::byte>(number * 3));
    std::fill(payload.begin(), payload.end(), static_cast<std::byte>(number * 5));
    frame = {headers, payload, trailer};
  }
};

bool all(std::span<const std::byte> bytes, std::uint64_t value) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [&](std::byte b) { return b == static_cast<std::byte>(value); });
}

bool is_whole(const wire::Frame& frame, std::uint64_t number, std::size_t payload) {
  return frame.headers.size() == 60 && all(frame.headers, number) && frame.payload.size() == payload &&
         all(frame.payload, number * 5) && frame.trailer.size() == 5 && all(frame.trailer, number * 3);
}

struct Bench {
  Keeper keeper;
  Trunk trunk{&keeper};

  bool put(std::uint64_t number, std::span<std::byte> payload) {
    const Numbered numbered(number, payload);
    FrameInFlight flight(numbered.frame, {{3, 4, number}, wire::Qpn{5}, wire::Psn(6)}, nullptr, nullptr);
    flight.remarks.add("number ").add(number);
    return trunk.put(flight, 1, 2, Onward::through_link, Time(Nanoseconds(number)));
  }
  bool put(std::uint64_t number, std::size_t length = 0) {
    return put(number, std::span(keeper.bytes).first(length));
  }
  void release() {
    trunk.release();
    trunk.settle();
    trunk.settle();
    trunk.reclaim();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(trunks, Bench)

BOOST_AUTO_TEST_CASE(a_frame_arrives_with_all_that_goes_with_it_once_it_is_published) {
  BOOST_TEST(!trunk.publish());
  BOOST_TEST(put(9, 100));
  BOOST_TEST(trunk.take() == nullptr);
  BOOST_TEST(trunk.publish());
  const Trunk::Passenger* const passenger = trunk.take();
  BOOST_REQUIRE(passenger != nullptr);
  BOOST_TEST(is_whole(passenger->frame, 9, 100));
  BOOST_TEST(passenger->origin.identity.count == 9);
  BOOST_TEST(passenger->origin.queue_pair.value == 5);
  BOOST_TEST(passenger->from == 1);
  BOOST_TEST(passenger->to == 2);
  BOOST_TEST(passenger->remarks.view() == "number 9");
  BOOST_TEST(trunk.take() == nullptr);
}

BOOST_AUTO_TEST_CASE(frames_keep_their_order_around_the_ring) {
  std::uint64_t put_in = 0;
  std::uint64_t taken = 0;
  for (const std::uint32_t burst : {1u, 100u, Trunk::kFrames, 700u, 700u, 700u, Trunk::kFrames, 3u}) {
    for (std::uint32_t i = 0; i < burst; ++i) BOOST_REQUIRE(put(put_in++, 10));
    trunk.publish();
    while (const auto* passenger = trunk.take()) BOOST_REQUIRE(is_whole(passenger->frame, taken++, 10));
    BOOST_TEST(taken == put_in);
    release();
  }
}

BOOST_AUTO_TEST_CASE(a_full_one_takes_no_more_until_the_reader_has_done_with_some) {
  for (std::uint32_t i = 0; i < Trunk::kFrames; ++i) BOOST_REQUIRE(put(i));
  BOOST_TEST(!put(1));
  trunk.publish();
  trunk.take();
  BOOST_TEST(!put(1));
  release();
  BOOST_TEST(put(1));
  BOOST_TEST(!put(1));
}

BOOST_AUTO_TEST_CASE(there_is_room_while_a_round_fits) {
  for (std::uint32_t i = 0; i < Trunk::kFrames - Trunk::kFramesPerRound; ++i) BOOST_REQUIRE(put(i));
  BOOST_TEST(trunk.has_room());
  BOOST_REQUIRE(put(1));
  BOOST_TEST(!trunk.has_room());
  trunk.publish();
  trunk.take();
  release();
  BOOST_TEST(trunk.has_room());
}

BOOST_AUTO_TEST_CASE(payload_is_lent_until_it_is_released) {
  BOOST_REQUIRE(put(1, 4096));
  BOOST_TEST(keeper.kept == 1);
  trunk.publish();
  const auto* passenger = trunk.take();
  BOOST_REQUIRE(passenger != nullptr);
  BOOST_TEST(passenger->frame.payload.data() == keeper.bytes.data());
  trunk.reclaim();
  BOOST_TEST(keeper.kept == 1);
  trunk.release();
  trunk.reclaim();
  BOOST_TEST(keeper.kept == 0);
}

BOOST_AUTO_TEST_CASE(there_is_no_room_while_much_is_lent) {
  const std::size_t packets = Trunk::kMostLentBytes / 4096;
  for (std::size_t i = 0; i < packets; ++i) {
    BOOST_TEST(trunk.has_room());
    BOOST_REQUIRE(put(i, 4096));
  }
  BOOST_TEST(!trunk.has_room());
  trunk.publish();
  trunk.take();
  release();
  BOOST_TEST(trunk.has_room());
}

BOOST_AUTO_TEST_CASE(what_cannot_be_lent_is_copied) {
  std::vector<std::byte> elsewhere(4096);
  BOOST_REQUIRE(put(1, elsewhere));
  keeper.may_keep = false;
  BOOST_REQUIRE(put(2, 4096));
  std::fill(elsewhere.begin(), elsewhere.end(), std::byte{});
  std::fill(keeper.bytes.begin(), keeper.bytes.end(), std::byte{});
  trunk.publish();
  for (const std::uint64_t number : {1, 2}) {
    const auto* passenger = trunk.take();
    BOOST_REQUIRE(passenger != nullptr);
    BOOST_TEST(is_whole(passenger->frame, number, 4096));
  }
}

// As a link that has changed a frame hands it on.
BOOST_AUTO_TEST_CASE(a_frame_in_one_piece_is_copied) {
  std::vector<std::byte> bytes(4200, std::byte{8});
  const FrameInFlight flight({bytes, {}, {}}, {}, nullptr, nullptr);
  BOOST_REQUIRE(trunk.put(flight, 0, 1, Onward::to_device, {}));
  std::fill(bytes.begin(), bytes.end(), std::byte{});
  trunk.publish();
  const auto* passenger = trunk.take();
  BOOST_REQUIRE(passenger != nullptr);
  BOOST_TEST(passenger->frame.headers.size() == 4200);
  BOOST_TEST(all(passenger->frame.headers, 8));
  BOOST_TEST((passenger->onward == Onward::to_device));
}

// The answer to a frame is sent in the reader's round that follows, at the latest.
BOOST_AUTO_TEST_CASE(the_oldest_frame_is_one_that_may_still_be_answered) {
  BOOST_TEST(!trunk.oldest_unsettled());
  put(10);
  put(20);
  BOOST_REQUIRE(trunk.oldest_unsettled());
  BOOST_TEST(trunk.oldest_unsettled()->time_since_epoch().count() == 10);
  trunk.publish();
  trunk.take();
  BOOST_REQUIRE(trunk.oldest_untaken());
  BOOST_TEST(trunk.oldest_untaken()->time_since_epoch().count() == 20);
  trunk.release();
  trunk.settle();
  trunk.reclaim();
  BOOST_TEST(trunk.oldest_unsettled()->time_since_epoch().count() == 10);
  trunk.take();
  trunk.release();
  trunk.settle();
  trunk.reclaim();
  BOOST_TEST(trunk.oldest_unsettled()->time_since_epoch().count() == 20);
  BOOST_TEST(!trunk.oldest_untaken());
  trunk.settle();
  trunk.reclaim();
  BOOST_TEST(!trunk.oldest_unsettled());
}

BOOST_AUTO_TEST_SUITE_END()

// For ThreadSanitizer, too: what is lent is written anew as soon as it has come back.
BOOST_AUTO_TEST_SUITE(trunk_threads)

BOOST_AUTO_TEST_CASE(two_threads_pass_frames_around_the_ring_many_times) {
  constexpr std::uint64_t kMany = 20 * Trunk::kFrames;
  constexpr std::size_t kPlaces = 32;
  constexpr std::size_t kLength = 600;
  Bench bench;
  std::uint64_t wrong = 0;
  std::thread reader([&] {
    for (std::uint64_t number = 0; number < kMany;) {
      const auto* passenger = bench.trunk.take();
      if (passenger == nullptr) {
        std::this_thread::yield();
        continue;
      }
      wrong += !is_whole(passenger->frame, number, number % 3 == 0 ? 0 : kLength);
      if (++number % 7 == 0 || number == kMany) {
        bench.trunk.release();
        bench.trunk.settle();
      }
    }
    bench.trunk.settle();
  });
  for (std::uint64_t number = 0; number < kMany;) {
    bench.trunk.reclaim();
    if (bench.keeper.kept >= kPlaces / 2) {
      bench.trunk.publish();
      std::this_thread::yield();
      continue;
    }
    const auto place = std::span(bench.keeper.bytes).subspan(number % kPlaces * kLength, kLength);
    if (!bench.put(number, number % 3 == 0 ? std::span<std::byte>{} : place)) continue;
    if (++number % 5 == 0) bench.trunk.publish();
  }
  bench.trunk.publish();
  reader.join();
  bench.trunk.reclaim();
  BOOST_TEST(wrong == 0);
  BOOST_TEST(bench.keeper.kept == 0);
  BOOST_TEST(!bench.trunk.oldest_unsettled());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
