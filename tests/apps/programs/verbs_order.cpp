// Streams of mixed operations: data, immediate values and completions come in the order in which they were
// posted, each once, and only those that were asked for.
#include <arpa/inet.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <deque>
#include <random>

#include "tests/apps/programs/transfer.hpp"

namespace urnic::apps {
namespace {

namespace data = boost::unit_test::data;

constexpr std::size_t kSlots = 64;        // messages under way
constexpr std::size_t kSlotSize = 12000;  // the longest message and some bytes

struct Message {
  Operation operation;
  std::size_t length;
  bool is_signaled;
};

// The same every run: what a message is follows from its number.
Message message(std::uint64_t number) {
  std::mt19937_64 chance(number);
  constexpr std::array kinds{Operation::send, Operation::send_with_immediate, Operation::write_with_immediate,
                             Operation::write, Operation::read};
  const Operation operation = kinds[chance() % kinds.size()];
  const std::size_t length = chance() % 4 == 0 ? chance() % 11000 : chance() % 300;
  return {operation, length, chance() % 5 == 0};
}

class Stream {
 public:
  Stream(Pair& pair, bool signals_all)
      : pair_(pair),
        signals_all_(signals_all),
        source_(pair.left_device.pd(), kSlots * kSlotSize),
        target_(pair.right_device.pd(), kSlots * kSlotSize),
        write_target_(pair.right_device.pd(), kSlots * kSlotSize),
        read_source_(pair.right_device.pd(), kSlotSize) {
    fill(read_source_.bytes(0, kSlotSize), kReadSeed);
  }

  void run(std::uint64_t count) {
    for (std::uint64_t i = 0; i < kSlots; ++i) post_receive(i);
    for (std::uint64_t number = 0; number < count; ++number) {
      while (number - done_ >= kSlots / 2) take_completion();
      post(number);
    }
    posted_ = count;
    while (done_ < count) take_completion();
    check_nothing_left();
  }

 private:
  static constexpr std::uint64_t kReadSeed = 0x4EAD;

  bool is_signaled(std::uint64_t number) const {
    // The last of a group is always, so that the queue can be seen to move on.
    return signals_all_ || message(number).is_signaled || number % 16 == 15;
  }

  void post_receive(std::uint64_t number) {
    pair_.right.post_receive(number, {target_.segment(number % kSlots * kSlotSize, kSlotSize)});
  }

  void post(std::uint64_t number) {
    const Message what = message(number);
    const std::size_t place = number % kSlots * kSlotSize;
    fill(source_.bytes(place, what.length), number);
    ibv_sge segment = source_.segment(place, what.length);
    ibv_send_wr request{};
    request.wr_id = number;
    request.sg_list = &segment;
    request.num_sge = 1;
    request.opcode = request_opcode(what.operation);
    request.send_flags = is_signaled(number) && !signals_all_ ? IBV_SEND_SIGNALED : 0;
    if (has_immediate(what.operation)) request.imm_data = htonl(static_cast<std::uint32_t>(number));
    if (what.operation == Operation::read) {
      request.wr.rdma = {read_source_.address(), read_source_.rkey()};
    } else if (what.operation == Operation::write) {
      request.wr.rdma = {write_target_.address(place), write_target_.rkey()};
    } else if (what.operation == Operation::write_with_immediate) {
      // Into the memory of the receive that it completes, which it leaves alone itself.
      request.wr.rdma = {target_.address(receives_ % kSlots * kSlotSize), target_.rkey()};
    }
    if (takes_receive(what.operation)) {
      expected_.push_back(number);
      ++receives_;
    }
    pair_.left.post(request);
    posted_ = number + 1;
  }

  // One at the sender; then all that must have come at the receiver before it.
  void take_completion() {
    std::uint64_t next = done_;
    while (next < posted_ && !is_signaled(next)) ++next;
    BOOST_REQUIRE_LT(next, posted_);
    const ibv_wc completion = pair_.left.wait_send();
    BOOST_REQUIRE_EQUAL(completion.status, IBV_WC_SUCCESS);
    BOOST_REQUIRE_EQUAL(completion.wr_id, next);
    BOOST_REQUIRE_EQUAL(completion.opcode, completion_opcode(message(next).operation));
    while (done_ <= next) finish(done_++);
  }

  void finish(std::uint64_t number) {
    const Message what = message(number);
    if (what.operation == Operation::read) {
      const auto wrong = difference(source_.bytes(number % kSlots * kSlotSize, what.length), kReadSeed);
      BOOST_TEST(!wrong, "message " << number << ", a read: " << wrong.value_or(""));
    }
    if (what.operation == Operation::write) {
      const auto wrong = difference(write_target_.bytes(number % kSlots * kSlotSize, what.length), number);
      BOOST_TEST(!wrong, "message " << number << ", a write: " << wrong.value_or(""));
    }
    if (takes_receive(what.operation)) take_receive(number, what);
  }

  void take_receive(std::uint64_t number, const Message& what) {
    BOOST_REQUIRE_EQUAL(expected_.front(), number);
    expected_.pop_front();
    const ibv_wc received = pair_.right.wait_receive();
    BOOST_REQUIRE_EQUAL(received.status, IBV_WC_SUCCESS);
    BOOST_REQUIRE_EQUAL(received.wr_id, received_);
    BOOST_REQUIRE_EQUAL(received.byte_len, what.length);
    if (has_immediate(what.operation)) BOOST_REQUIRE_EQUAL(ntohl(received.imm_data), number);
    const auto wrong = difference(target_.bytes(received_ % kSlots * kSlotSize, what.length), number);
    BOOST_TEST(!wrong, "message " << number << ", " << to_string(what.operation) << " of " << what.length
                                  << " bytes: " << wrong.value_or(""));
    post_receive(kSlots + received_++);
  }

  void check_nothing_left() {
    ibv_wc completion{};
    BOOST_TEST(ibv_poll_cq(pair_.left.send_cq(), 1, &completion) == 0);
    BOOST_TEST(ibv_poll_cq(pair_.right.receive_cq(), 1, &completion) == 0);
    BOOST_TEST(expected_.empty());
  }

  Pair& pair_;
  const bool signals_all_;
  const Memory source_;
  const Memory target_;        // of receives, and of writes that complete one
  const Memory write_target_;  // of writes that the receiver does not notice
  const Memory read_source_;
  std::deque<std::uint64_t> expected_;  // messages that complete a receive, in order
  std::uint64_t receives_ = 0;          // how many of those were posted
  std::uint64_t received_ = 0;
  std::uint64_t posted_ = 0;
  std::uint64_t done_ = 0;
};

BOOST_DATA_TEST_CASE(asked_for_completions, data::make({IBV_MTU_256, IBV_MTU_1024, IBV_MTU_4096}), mtu) {
  EndpointOptions options;
  options.mtu = mtu;
  Pair pair(options);
  Stream(pair, false).run(20'000);
}

BOOST_AUTO_TEST_CASE(all_completions) {
  EndpointOptions options;
  options.signal_all = true;
  Pair pair(options);
  Stream(pair, true).run(20'000);
}

// The peer is not ready at first: every message waits for its receive (RNR NAK), none is lost or repeated.
BOOST_AUTO_TEST_CASE(receiver_not_ready) {
  Pair pair;
  const Memory source(pair.left_device.pd(), 4096), target(pair.right_device.pd(), 4096);
  for (std::uint64_t round = 0; round < 50; ++round) {
    fill(source.bytes(0, 3000), round);
    ibv_sge segment = source.segment(0, 3000);
    ibv_send_wr request = signaled_request(IBV_WR_SEND, segment);
    request.wr_id = round;
    pair.left.post(request);
    BOOST_TEST(!poll_for(pair.left.send_cq(), std::chrono::milliseconds(round % 5)).has_value());
    pair.right.post_receive(round, {target.segment(0, 3000)});
    BOOST_REQUIRE_EQUAL(pair.left.wait_send().status, IBV_WC_SUCCESS);
    BOOST_REQUIRE_EQUAL(pair.right.wait_receive().wr_id, round);
    const auto wrong = difference(target.bytes(0, 3000), round);
    BOOST_TEST(!wrong, wrong.value_or(""));
  }
}

}  // namespace
}  // namespace urnic::apps
