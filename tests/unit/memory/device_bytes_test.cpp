#include "device_model/memory/device_bytes.hpp"

#include <array>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <thread>

namespace urnic::memory::test {

namespace {

constexpr std::size_t kSize = 256;

struct Bench {
  alignas(64) std::array<std::byte, kSize> bytes{};
  DeviceBytes memory{bytes};

  bool write(std::uint64_t address, std::span<std::byte> from) {
    Transfer transfer{address, from, false};
    memory.write({&transfer, 1});
    return !transfer.failed;
  }
  bool read(std::uint64_t address, std::span<std::byte> to) {
    Transfer transfer{address, to, false};
    memory.read({&transfer, 1});
    return !transfer.failed;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(device_bytes, Bench)

BOOST_AUTO_TEST_CASE(every_place_and_length_is_copied_exactly) {
  for (std::size_t offset = 0; offset < 20; ++offset) {
    for (std::size_t length = 0; length < 170; ++length) {
      std::array<std::byte, 170> from{}, back{};
      for (std::size_t i = 0; i < length; ++i) from[i] = std::byte(i + 1);
      bytes.fill(std::byte{0xEE});
      BOOST_REQUIRE(write(offset, std::span(from).first(length)));
      for (std::size_t i = 0; i < kSize; ++i) {
        const bool inside = i >= offset && i < offset + length;
        BOOST_REQUIRE(bytes[i] == (inside ? from[i - offset] : std::byte{0xEE}));
      }
      BOOST_REQUIRE(read(offset, std::span(back).first(length)));
      BOOST_REQUIRE(from == back);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_leaves_the_bytes_fails) {
  std::array<std::byte, kSize + 1> here{};
  BOOST_TEST(write(0, std::span(here).first(kSize)));
  BOOST_TEST(!write(0, here));
  BOOST_TEST(!read(0, here));
  BOOST_TEST(write(kSize - 1, std::span(here).first(1)));
  BOOST_TEST(!write(kSize - 1, std::span(here).first(2)));
  BOOST_TEST(write(kSize, std::span(here).first(0)));
  BOOST_TEST(!write(kSize + 1, std::span(here).first(0)));
  BOOST_TEST(!write(~std::uint64_t{0}, std::span(here).first(2)));
  BOOST_TEST(!read(~std::uint64_t{0}, std::span(here).first(2)));
}

BOOST_AUTO_TEST_CASE(one_failure_keeps_no_other_from_being_done) {
  std::array<std::byte, 3> here{std::byte{1}, std::byte{2}, std::byte{3}};
  std::array<Transfer, 3> batch{Transfer{0, std::span(here).subspan(0, 1), false},
                                Transfer{kSize, std::span(here).subspan(1, 1), false},
                                Transfer{1, std::span(here).subspan(2, 1), false}};
  memory.write(batch);
  BOOST_TEST((!batch[0].failed && batch[1].failed && !batch[2].failed));
  BOOST_TEST((bytes[0] == std::byte{1} && bytes[1] == std::byte{3}));
}

// Programs spin on words of device memory: they must see the old word or the new one.
BOOST_AUTO_TEST_CASE(aligned_words_are_not_torn) {
  constexpr std::uint64_t kEnd = 1;
  auto* const words = reinterpret_cast<std::uint64_t*>(bytes.data());
  std::atomic<bool> torn{false};
  std::thread watcher([&] {
    for (;;) {
      for (std::size_t i = 1; i < kSize / 8 - 1; ++i) {
        const std::uint64_t word = std::atomic_ref(words[i]).load(std::memory_order_relaxed);
        if (word == kEnd) return;
        if (word != 0 && word != ~std::uint64_t{0}) torn = true;
      }
    }
  });
  std::array<std::byte, kSize> values{};
  for (int round = 0; round < 20000; ++round) {
    values.fill(round % 2 == 0 ? std::byte{0xFF} : std::byte{0});
    write(5, std::span(values).first(kSize - 10));
  }
  const std::uint64_t end = kEnd;
  std::memcpy(values.data(), &end, sizeof end);
  write(8, std::span(values).first(8));
  watcher.join();
  BOOST_TEST(!torn);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::memory::test
