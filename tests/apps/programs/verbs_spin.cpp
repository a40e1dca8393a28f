// Placement as programs rely on it that spin on memory: the last bytes of a message are written last, and an
// aligned word of 8 bytes is never half old and half new.
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "tests/apps/programs/endpoint.hpp"
#include "tests/apps/programs/require.hpp"
#include "tests/apps/programs/threads.hpp"

namespace urnic::apps {
namespace {

namespace data = boost::unit_test::data;

ibv_send_wr rdma_request(ibv_wr_opcode opcode, ibv_sge& segment, const Memory& remote, std::size_t offset) {
  ibv_send_wr request = signaled_request(opcode, segment);
  request.wr.rdma.remote_addr = remote.address(offset);
  request.wr.rdma.rkey = remote.rkey();
  return request;
}

void spin_until(const std::byte* place, std::byte value) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (std::uint64_t looks = 1; __atomic_load_n(place, __ATOMIC_ACQUIRE) != value; ++looks) {
    if (looks % 1024 != 0) continue;
    std::this_thread::yield();
    require(std::chrono::steady_clock::now() < deadline, "the last byte of a message does not come");
  }
}

// A message of one value, all bytes of it, then of the next. The reader is the first to know: it does not
// wait for a completion, the writer's own comes later.
void spin_on_last_byte(Pair& pair, std::size_t length, std::size_t offset, unsigned rounds) {
  const Memory source(pair.left_device.pd(), length), target(pair.right_device.pd(), length + offset);
  for (unsigned round = 1; round <= rounds; ++round) {
    const auto value = static_cast<std::byte>(1 + round % 255);
    std::fill_n(source.data(), length, value);
    ibv_sge segment = source.segment(0, length);
    pair.left.post(rdma_request(IBV_WR_RDMA_WRITE, segment, target, offset));
    spin_until(target.data() + offset + length - 1, value);
    for (std::size_t i = 0; i < length; ++i) {
      if (target.data()[offset + i] == value) continue;
      BOOST_FAIL("byte " << i << " of " << length << " came after the last one, round " << round);
    }
    BOOST_REQUIRE_EQUAL(pair.left.wait_send().status, IBV_WC_SUCCESS);
  }
}

BOOST_DATA_TEST_CASE(last_byte_is_written_last, data::make({IBV_MTU_256, IBV_MTU_1024, IBV_MTU_4096}), mtu) {
  EndpointOptions options;
  options.mtu = mtu;
  Pair pair(options);
  const auto packet = std::size_t{128} << mtu;
  for (const std::size_t length :
       {std::size_t{1}, std::size_t{2}, std::size_t{9}, std::size_t{64}, packet - 1, packet, packet + 1,
        3 * packet + 7, std::size_t{65536}, std::size_t{300'001}}) {
    for (const std::size_t offset : {0, 1, 4093}) {
      spin_on_last_byte(pair, length, offset, length > 100'000 ? 50 : 150);
    }
  }
}

constexpr std::uint64_t kOne = 0x1111111111111111, kTwo = 0xEEEEEEEEEEEEEEEE;
constexpr std::size_t kWords = 1024;  // two pages

bool is_torn(std::uint64_t word) { return word != kOne && word != kTwo; }

void fill_words(const Memory& memory, std::uint64_t value) {
  auto* words = reinterpret_cast<std::uint64_t*>(memory.data());
  for (std::size_t i = 0; i < memory.size() / sizeof *words; ++i) {
    __atomic_store_n(&words[i], value, __ATOMIC_RELAXED);
  }
}

// Looks at words of `memory` until told to end; throws at one that is neither value.
void watch_words(const Memory& memory, const std::atomic<bool>& stop) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(memory.data());
  while (!stop) {
    for (std::size_t i = 0; i < memory.size() / sizeof *words; ++i) {
      const std::uint64_t word = __atomic_load_n(&words[i], __ATOMIC_RELAXED);
      require(!is_torn(word), "word {} is torn: 0x{:016x}", i, word);
    }
    std::this_thread::yield();
  }
}

BOOST_DATA_TEST_CASE(written_words_are_whole, data::make({IBV_MTU_256, IBV_MTU_4096}), mtu) {
  EndpointOptions options;
  options.mtu = mtu;
  Pair pair(options);
  const Memory one(pair.left_device.pd(), kWords * 8), two(pair.left_device.pd(), kWords * 8);
  const Memory target(pair.right_device.pd(), kWords * 8);
  fill_words(one, kOne);
  fill_words(two, kTwo);
  fill_words(target, kOne);
  Threads threads;
  threads.start([&] { watch_words(target, threads.stop()); });
  for (std::size_t round = 0; round < 20'000 && !threads.failed(); ++round) {
    const std::size_t words = 1 + round * 7 % (kWords - 1), from = round % (kWords - words);
    ibv_sge segment = (round % 2 != 0 ? two : one).segment(from * 8, words * 8);
    pair.left.post(rdma_request(IBV_WR_RDMA_WRITE, segment, target, from * 8));
    BOOST_REQUIRE_EQUAL(pair.left.wait_send().status, IBV_WC_SUCCESS);
  }
  threads.finish();
}

BOOST_AUTO_TEST_CASE(read_words_are_whole) {
  Pair pair;
  const Memory result(pair.left_device.pd(), kWords * 8), source(pair.right_device.pd(), kWords * 8);
  fill_words(source, kOne);
  Threads threads;
  threads.start([&] {
    for (std::uint64_t round = 0; !threads.stop(); ++round)
      fill_words(source, round % 2 != 0 ? kTwo : kOne), std::this_thread::yield();
  });
  for (std::size_t round = 0; round < 5'000; ++round) {
    ibv_sge segment = result.segment(0, result.size());
    pair.left.post(rdma_request(IBV_WR_RDMA_READ, segment, source, 0));
    const ibv_wc completion = pair.left.wait_send();
    BOOST_REQUIRE_EQUAL(completion.status, IBV_WC_SUCCESS);
    const auto* words = reinterpret_cast<const std::uint64_t*>(result.data());
    for (std::size_t i = 0; i < kWords; ++i) {
      if (!is_torn(words[i])) continue;
      BOOST_FAIL("word " << i << " was read torn, round " << round);
    }
  }
  threads.finish();
}

// Sends place their data under the same rule, and gathered pieces do too.
BOOST_AUTO_TEST_CASE(last_byte_of_a_send_is_written_last) {
  EndpointOptions options;
  options.mtu = IBV_MTU_256;
  Pair pair(options);
  const Memory source(pair.left_device.pd(), 8192), target(pair.right_device.pd(), 8192);
  for (unsigned round = 1; round <= 500; ++round) {
    const auto value = static_cast<std::byte>(1 + round % 255);
    std::fill_n(source.data(), source.size(), value);
    const std::size_t half = 1 + round * 13 % 4000;
    pair.right.post_receive(round, {target.segment(0, half), target.segment(4096, half)});
    std::array segments{source.segment(0, 3), source.segment(100, 2 * half - 3 > 0 ? 2 * half - 3 : 0)};
    if (half == 1) segments = {source.segment(0, 1), source.segment(100, 1)};
    ibv_send_wr request{};
    request.sg_list = segments.data();
    request.num_sge = 2;
    request.opcode = IBV_WR_SEND;
    request.send_flags = IBV_SEND_SIGNALED;
    pair.left.post(request);
    spin_until(target.data() + 4096 + half - 1, value);
    for (std::size_t i = 0; i < half; ++i) {
      BOOST_REQUIRE(target.data()[i] == value);
      BOOST_REQUIRE(target.data()[4096 + i] == value);
    }
    BOOST_REQUIRE_EQUAL(pair.left.wait_send().status, IBV_WC_SUCCESS);
    BOOST_REQUIRE_EQUAL(pair.right.wait_receive().status, IBV_WC_SUCCESS);
  }
}

}  // namespace
}  // namespace urnic::apps
