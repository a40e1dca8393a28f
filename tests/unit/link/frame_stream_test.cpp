#include "device_model/link/frames/frame_stream.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>
#include <vector>

#include "wire/byte_order.hpp"

namespace urnic::link::test {
namespace frame_stream {

using Bytes = std::vector<std::byte>;

void append(Bytes& stream, std::uint32_t length, const Bytes& frame) {
  stream.resize(stream.size() + kLengthBytes);
  wire::store_be32(stream.data() + stream.size() - kLengthBytes, length);
  stream.insert(stream.end(), frame.begin(), frame.end());
}

Bytes frame_of(std::size_t length, std::uint8_t value) {
  return Bytes(length, static_cast<std::byte>(value));
}

// Brings `stream` in pieces whose lengths `piece` gives; releases after each piece, as a round of the engine
// does. Ends where the stream is broken.
template <class Piece>
std::vector<Bytes> read(FrameStreamReader& reader, std::span<const std::byte> stream, Piece piece) {
  std::vector<Bytes> frames;
  while (!stream.empty()) {
    const std::span<std::byte> space = reader.space();
    BOOST_REQUIRE(!space.empty());
    const std::size_t count = std::min({stream.size(), space.size(), std::size_t{piece()}});
    std::copy_n(stream.begin(), count, space.begin());
    reader.filled(count);
    stream = stream.subspan(count);
    for (auto frame = reader.next(); !frame.empty(); frame = reader.next())
      frames.emplace_back(frame.begin(), frame.end());
    if (reader.broken()) return frames;
    reader.release();
  }
  return frames;
}

BOOST_AUTO_TEST_SUITE(frame_stream)

BOOST_AUTO_TEST_CASE(frames_arrive_however_the_stream_is_split) {
  Bytes stream;
  std::vector<Bytes> sent;
  for (const std::size_t length : {14ul, 60ul, 1514ul, kMostFrameBytes, 15ul}) {
    sent.push_back(frame_of(length, static_cast<std::uint8_t>(length)));
    append(stream, static_cast<std::uint32_t>(length), sent.back());
  }
  for (const std::size_t size : {1ul, 2ul, 3ul, 5ul, 1000ul, stream.size()}) {
    FrameStreamReader reader;
    BOOST_TEST((read(reader, stream, [=] { return size; }) == sent));
    BOOST_TEST(reader.skipped() == 0u);
  }
}

BOOST_AUTO_TEST_CASE(frames_that_are_too_long_are_skipped) {
  Bytes stream;
  const Bytes good = frame_of(60, 7);
  append(stream, 60, good);
  for (const std::size_t length : {kMostFrameBytes + 1, kMostStreamedBytes}) {
    append(stream, static_cast<std::uint32_t>(length), frame_of(length, 2));
    append(stream, 60, good);
  }
  FrameStreamReader reader;
  BOOST_TEST((read(reader, stream, [] { return 4096; }) == std::vector<Bytes>{good, good, good}));
  BOOST_TEST(reader.skipped() == 2u);
  BOOST_TEST(!reader.broken());
}

BOOST_AUTO_TEST_CASE(a_length_that_no_frame_has_ends_the_stream) {
  const Bytes good = frame_of(60, 7);
  for (const std::size_t length : {0ul, 13ul, kMostStreamedBytes + 1, 0xFFFF'FFFFul}) {
    BOOST_TEST_CONTEXT(length) {
      Bytes stream;
      append(stream, 60, good);
      append(stream, static_cast<std::uint32_t>(length), {});
      append(stream, 60, good);
      FrameStreamReader reader;
      BOOST_TEST((read(reader, stream, [] { return 64; }) == std::vector<Bytes>{good}));
      BOOST_TEST(reader.broken());
      reader.restart();
      BOOST_TEST(!reader.broken());
      BOOST_TEST(reader.skipped() == 0u);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_new_stream_begins_with_a_length) {
  Bytes first;
  append(first, 1000, frame_of(10, 1));
  Bytes second;
  append(second, 60, frame_of(60, 2));
  FrameStreamReader reader;
  BOOST_TEST(read(reader, first, [] { return 4096; }).empty());
  reader.restart();
  BOOST_TEST((read(reader, second, [] { return 4096; }) == std::vector<Bytes>{frame_of(60, 2)}));
}

// A round may leave its frames unreleased for a while: what was given stays as it is.
BOOST_AUTO_TEST_CASE(frames_stay_until_they_are_released) {
  Bytes stream;
  append(stream, 60, frame_of(60, 1));
  append(stream, 60, frame_of(60, 2));
  FrameStreamReader reader;
  std::copy(stream.begin(), stream.begin() + 70, reader.space().begin());
  reader.filled(70);
  const auto first = reader.next();
  BOOST_TEST(reader.next().empty());
  std::copy(stream.begin() + 70, stream.end(), reader.space().begin());
  reader.filled(stream.size() - 70);
  const auto second = reader.next();
  BOOST_TEST((Bytes(first.begin(), first.end()) == frame_of(60, 1)));
  BOOST_TEST((Bytes(second.begin(), second.end()) == frame_of(60, 2)));
}

BOOST_AUTO_TEST_CASE(any_bytes_do_no_harm) {
  std::mt19937 random(1);
  std::size_t frames = 0, broken = 0;
  FrameStreamReader reader;
  for (int round = 0; round < 2000; ++round) {
    Bytes stream(4096);
    for (std::byte& byte : stream) byte = static_cast<std::byte>(random() % 4 == 0 ? random() : 0);
    stream[0] = stream[1] = stream[2] = {};
    for (const Bytes& frame : read(reader, stream, [&] { return 1 + random() % 500; })) {
      BOOST_TEST(frame.size() <= kMostFrameBytes);
      ++frames;
    }
    broken += reader.broken();
    reader.restart();
  }
  BOOST_TEST(frames > 100u);
  BOOST_TEST(broken > 100u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace frame_stream
}  // namespace urnic::link::test
