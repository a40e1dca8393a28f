#include "device_model/engine/completion/event_pipe.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <system_error>
#include <thread>

#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {
namespace event_pipe {

constexpr std::uint32_t kSource = 1;
constexpr std::uint32_t kOther = 2;
constexpr std::uint64_t kElement = 0x1000;

// As a program reads: all that there is. Returns how many.
std::uint32_t read_all(TestPipe& pipe) {
  std::uint32_t count = 0;
  while (pipe.read()) ++count;
  return count;
}

}  // namespace event_pipe

BOOST_AUTO_TEST_SUITE(event_pipe)

BOOST_AUTO_TEST_CASE(records_have_the_size_of_their_pipe) {
  TestPipe completions(8);
  completions.device_end().push(kSource, 11);
  completions.device_end().push(kSource, 12);
  BOOST_TEST(completions.read()->element == 11u);
  BOOST_TEST(completions.read()->element == 12u);

  TestPipe events(16);
  events.device_end().push(kSource, 13, 16);
  const auto record = events.read();
  BOOST_TEST(record->element == 13u);
  BOOST_TEST(record->type == 16u);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_kept_and_comes_in_order) {
  TestPipe pipe(16);
  constexpr std::uint64_t kRecords = 10'000;  // a pipe holds 4096 of them
  for (std::uint64_t i = 0; i < kRecords; ++i) pipe.device_end().push(kSource, i, 1);
  BOOST_TEST(pipe.device_end().has_backlog());
  BOOST_TEST(!pipe.device_end().flush());
  std::uint64_t expected = 0;
  while (expected < kRecords) {
    while (const auto record = pipe.read()) BOOST_REQUIRE(record->element == expected++);
    pipe.device_end().flush();
  }
  BOOST_TEST(!pipe.device_end().has_backlog());
  BOOST_TEST(!pipe.read());
}

BOOST_AUTO_TEST_CASE(one_source_is_taken_out_of_pipe_and_backlog) {
  for (const std::size_t size : {8u, 16u}) {
    TestPipe pipe(size);
    for (std::uint32_t i = 0; i < 30'000; ++i) pipe.device_end().push(i % 3, i);
    BOOST_REQUIRE(pipe.device_end().has_backlog());
    BOOST_TEST(pipe.device_end().take_back({1, 10'000}) == 0u);
    BOOST_TEST(pipe.device_end().take_back({1, 10'000}) == 10'000u);  // none is left
    std::uint64_t expected = 0;
    while (expected < 30'000) {
      while (const auto record = pipe.read()) {
        BOOST_REQUIRE(record->element == expected);
        expected += expected % 3 == 0 ? 2 : 1;
      }
      pipe.device_end().flush();
    }
  }
}

// Processes that share a context after a fork have objects at the same address.
BOOST_AUTO_TEST_CASE(the_events_of_another_source_at_the_same_address_stay) {
  for (const std::size_t size : {8u, 16u}) {
    TestPipe pipe(size);
    for (const std::uint32_t source : {kOther, kSource, kOther, kSource, kSource})
      pipe.device_end().push(source, kElement, source);
    pipe.read();
    pipe.read();
    BOOST_TEST(pipe.device_end().take_back({kSource, 3}) == 1u);
    BOOST_TEST(read_all(pipe) == 1u);
    BOOST_TEST(pipe.device_end().take_back({kOther, 2}) == 2u);
  }
}

// However much a program reads between, and however large its pipe is.
BOOST_AUTO_TEST_CASE(the_source_of_each_unread_record_is_known) {
  TestPipe pipe(8);
  BOOST_REQUIRE(fcntl(pipe.read_descriptor(), F_SETPIPE_SZ, 1024 * 1024) == 1024 * 1024);
  std::uint32_t written = 0;
  std::uint32_t read = 0;
  for (const std::uint32_t more : {3u, 40u, 500u, 7'000u, 60'000u}) {
    for (std::uint32_t i = 0; i < more; ++i, ++written) pipe.device_end().push(1 + written % 2, written);
    for (std::uint32_t i = 0; i < more / 3; ++i, ++read) BOOST_REQUIRE(pipe.read()->element == read);
    // The unread records are those of `read` to `written`: the odd ones are of source 2.
    std::uint32_t unread = 0;
    for (std::uint32_t i = read; i < written; ++i) unread += i % 2;
    BOOST_TEST(pipe.device_end().take_back({2, written}) == written - unread);
    for (; read < written; ++read) {
      if (read % 2 == 0) BOOST_REQUIRE(pipe.read()->element == read);
    }
    BOOST_TEST(!pipe.read());
  }
}

// What the program reads meanwhile has been read; what it has not, it never sees.
BOOST_AUTO_TEST_CASE(a_program_may_read_while_events_are_taken_back) {
  constexpr std::uint32_t kRecords = 8'000;
  for (int round = 0; round < 20; ++round) {
    TestPipe pipe(8);
    for (std::uint32_t i = 0; i < kRecords; ++i) pipe.device_end().push(1 + i % 2, 1 + i % 2);
    std::atomic<bool> started{false};
    std::atomic<bool> stop{false};
    std::uint32_t seen = 0;
    std::thread program([&] {
      while (!stop) {
        while (const auto record = pipe.read()) {
          seen += record->element == kSource;
          started = true;
        }
      }
    });
    while (!started) std::this_thread::yield();
    const std::uint32_t reported = pipe.device_end().take_back({kSource, kRecords / 2});
    stop = true;
    program.join();
    while (const auto record = pipe.read()) seen += record->element == kSource;
    BOOST_TEST(reported == seen);
  }
}

BOOST_AUTO_TEST_CASE(taking_back_does_not_wait_although_the_program_reads_blocking) {
  int ends[2];
  BOOST_REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  const memory::Descriptor reader(dup(ends[0]));
  EventPipe pipe{memory::Descriptor(ends[0]), memory::Descriptor(ends[1]), 8};
  BOOST_TEST(pipe.take_back({kSource, 1}) == 1u);
  for (int i = 0; i < 20'000; ++i)
    pipe.push(kSource, 5);  // would block for ever if the flags were the program's
  BOOST_TEST(pipe.has_backlog());
}

BOOST_AUTO_TEST_CASE(the_engine_tries_again_without_a_new_event) {
  Fabric fabric;
  EventPipe& pipe = fabric.program0.channel.device_end();
  constexpr std::uint64_t kRecords = 20'000;
  for (std::uint64_t i = 0; i < kRecords; ++i) pipe.push(kSource, i);
  fabric.engine.data_path().notifications().wrote_to(pipe);
  BOOST_TEST(fabric.engine.data_path().has_backlog());
  std::uint64_t expected = 0;
  for (int round = 0; round < 10; ++round) {
    while (const auto record = fabric.program0.channel.read()) BOOST_REQUIRE(record->element == expected++);
    fabric.run();
  }
  BOOST_TEST(expected == kRecords);
  BOOST_TEST(!fabric.engine.data_path().has_backlog());
}

BOOST_AUTO_TEST_CASE(is_closed_when_no_program_reads) {
  TestPipe pipe(8);
  BOOST_TEST(!pipe.device_end().closed());
  pipe.close_read_end();
  BOOST_TEST(pipe.device_end().closed());
}

BOOST_AUTO_TEST_CASE(refuses_what_is_not_a_pipe) {
  const auto make = [](int read_end, int write_end) {
    return EventPipe(memory::Descriptor(read_end), memory::Descriptor(write_end), 8);
  };
  int one[2];
  int other[2];
  BOOST_REQUIRE(pipe2(one, O_CLOEXEC) == 0);
  BOOST_REQUIRE(pipe2(other, O_CLOEXEC) == 0);
  BOOST_CHECK_THROW(make(one[0], other[1]), std::system_error);
  BOOST_CHECK_THROW(make(open("/dev/null", O_RDONLY), one[1]), std::system_error);
  BOOST_CHECK_THROW(make(-1, -1), std::system_error);
  close(other[0]);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
