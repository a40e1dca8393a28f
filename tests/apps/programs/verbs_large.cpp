// The shortest and the longest messages. Of the longest, only what is touched takes memory at the source; the
// target takes the message's length for as long as the test runs.
#include <sys/mman.h>

#include <algorithm>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "tests/apps/programs/transfer.hpp"

namespace urnic::apps {
namespace {

namespace data = boost::unit_test::data;

constexpr std::size_t kStamp = 61;            // bytes; odd, so that stamps cross words and packets
constexpr std::size_t kStampEvery = 999'983;  // prime: stamps fall everywhere within packets and pages
constexpr std::chrono::seconds kLongPatience{120};

// Calls `function` with the place of every stamp; the last one ends with the message.
template <typename Function>
void for_each_stamp(std::size_t length, Function function) {
  for (std::size_t place = 0; place + 2 * kStamp < length; place += kStampEvery) function(place);
  function(length - kStamp);
}

// Sparse: zeros but for the stamps.
void stamp(std::byte* memory, std::size_t length) {
  for_each_stamp(length, [&](std::size_t place) { fill({memory + place, kStamp}, place); });
}

bool is_zero(const std::byte* begin, const std::byte* end) {
  return std::all_of(begin, end, [](std::byte byte) { return byte == std::byte{0}; });
}

void check_stamped(const std::byte* memory, std::size_t length) {
  std::size_t zeros_from = 0;
  for_each_stamp(length, [&](std::size_t place) {
    BOOST_TEST(is_zero(memory + zeros_from, memory + place), "bytes before " << place << " are not zero");
    const auto wrong = difference({memory + place, kStamp}, place);
    BOOST_TEST(!wrong, "the stamp at " << place << ": " << wrong.value_or(""));
    zeros_from = place + kStamp;
  });
}

EndpointOptions options_for(ibv_mtu mtu) {
  EndpointOptions options;
  options.mtu = mtu;
  return options;
}

// IBTA 9.7.2 allows 2 GiB. A segment of libmlx5's has 31 bits for its length.
std::size_t longest_length() { return std::size_t{1} << (is_driven_by_libmlx5() ? 30 : 31); }

// A message in one segment from left to right; a read the other way.
struct LongTransfer {
  Pair pair;
  std::size_t length;
  Memory source;
  Memory target;

  LongTransfer(ibv_mtu mtu, std::size_t bytes, bool is_read)
      : pair(options_for(mtu)),
        length(bytes),
        source((is_read ? pair.right_device : pair.left_device).pd(), bytes),
        target((is_read ? pair.left_device : pair.right_device).pd(), bytes) {}

  ibv_wc run(Operation operation) {
    const bool is_read = operation == Operation::read;
    ibv_sge segment = (is_read ? target : source).segment(0, length);
    const Memory& remote = is_read ? source : target;
    if (takes_receive(operation)) pair.right.post_receive(1, {target.segment(0, length)});
    ibv_send_wr request = signaled_request(request_opcode(operation), segment);
    if (completion_opcode(operation) != IBV_WC_SEND) {
      request.wr.rdma.remote_addr = remote.address();
      request.wr.rdma.rkey = remote.rkey();
    }
    pair.left.post(request);
    const auto completion = poll_for(pair.left.send_cq(), kLongPatience);
    BOOST_REQUIRE_MESSAGE(completion, "the message does not end");
    return *completion;
  }
};

BOOST_DATA_TEST_CASE(longest_message,
                     data::make({Operation::write, Operation::read, Operation::send_with_immediate}),
                     operation) {
  std::size_t longest = 0;
  {
    const Device device(device_names().first);
    longest = device.port().max_msg_sz;
  }
  BOOST_TEST_CONTEXT(to_string(operation) << " of " << longest << " bytes") {
    BOOST_TEST(longest == longest_length());
    LongTransfer transfer(IBV_MTU_4096, longest, operation == Operation::read);
    stamp(transfer.source.data(), longest);
    const ibv_wc completion = transfer.run(operation);
    BOOST_REQUIRE_EQUAL(completion.status, IBV_WC_SUCCESS);
    if (takes_receive(operation)) {
      const ibv_wc received = transfer.pair.right.wait_receive();
      BOOST_TEST(received.status == IBV_WC_SUCCESS);
      BOOST_TEST(received.byte_len == longest);
    }
    check_stamped(transfer.target.data(), longest);
  }
}

// 2 GiB in packets of 256 bytes are 2^23 PSNs, half of all there are: the most that may be under way.
BOOST_AUTO_TEST_CASE(longest_message_in_shortest_packets) {
  const std::size_t longest = longest_length();
  LongTransfer transfer(IBV_MTU_256, longest, false);
  stamp(transfer.source.data(), longest);
  BOOST_REQUIRE_EQUAL(transfer.run(Operation::write).status, IBV_WC_SUCCESS);
  check_stamped(transfer.target.data(), longest);
}

// One byte more than a message may have. The memory would be there.
BOOST_AUTO_TEST_CASE(longer_than_longest) {
  const std::size_t too_long = longest_length() + 1;
  LongTransfer transfer(IBV_MTU_4096, too_long, false);
  BOOST_TEST(transfer.run(Operation::write).status == IBV_WC_LOC_LEN_ERR);
  BOOST_TEST(static_cast<int>(transfer.target.data()[0]) == 0);
}

// Nothing is transferred, so keys and addresses of nothing do not matter (IBTA 9.7.4.1.6); completions and
// immediate values come all the same.
BOOST_DATA_TEST_CASE(empty_messages,
                     data::make({Operation::send, Operation::send_with_immediate, Operation::write,
                                 Operation::write_with_immediate, Operation::read}),
                     operation) {
  Pair pair;
  for (int round = 0; round < 100; ++round) {
    if (takes_receive(operation)) pair.right.post_receive(5, {});
    ibv_send_wr request{};
    request.wr_id = 6;
    request.opcode = request_opcode(operation);
    request.send_flags = IBV_SEND_SIGNALED;
    request.imm_data = 0x11223344;
    pair.left.post(request);
    const ibv_wc sent = pair.left.wait_send();
    BOOST_REQUIRE_EQUAL(sent.status, IBV_WC_SUCCESS);
    BOOST_TEST(sent.wr_id == 6);
    if (!takes_receive(operation)) continue;
    const ibv_wc received = pair.right.wait_receive();
    BOOST_REQUIRE_EQUAL(received.status, IBV_WC_SUCCESS);
    BOOST_TEST(received.wr_id == 5);
    BOOST_TEST(received.byte_len == 0);
    if (has_immediate(operation)) BOOST_TEST(received.imm_data == 0x11223344);
  }
}

}  // namespace
}  // namespace urnic::apps
