#include "device_model/engine/completion/event_pipe.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <system_error>

#include "device_model/engine/completion/event_source.hpp"
#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {
namespace {

constexpr std::uint32_t kAll = UINT32_MAX;

}  // namespace

BOOST_AUTO_TEST_SUITE(event_pipe)

BOOST_AUTO_TEST_CASE(records_have_the_size_of_their_pipe) {
  TestPipe completions(8);
  completions.device_end().push(11);
  completions.device_end().push(12);
  BOOST_TEST(completions.read()->element == 11u);
  BOOST_TEST(completions.read()->element == 12u);

  TestPipe events(16);
  events.device_end().push(13, 16);
  const auto record = events.read();
  BOOST_TEST(record->element == 13u);
  BOOST_TEST(record->type == 16u);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_kept_and_comes_in_order) {
  TestPipe pipe(16);
  constexpr std::uint64_t kRecords = 10'000;  // a pipe holds 4096 of them
  for (std::uint64_t i = 0; i < kRecords; ++i) pipe.device_end().push(i, 1);
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

BOOST_AUTO_TEST_CASE(purge_takes_one_element_out_of_pipe_and_backlog) {
  TestPipe pipe(16);
  for (std::uint64_t i = 0; i < 9'000; ++i) pipe.device_end().push(i % 3, static_cast<std::uint32_t>(i));
  BOOST_TEST(pipe.device_end().purge(1, 0, kAll) == 3'000u);
  BOOST_TEST(pipe.device_end().purge(1, 0, kAll) == 0u);
  std::uint32_t expected = 0;
  while (expected < 9'000) {
    while (const auto record = pipe.read()) {
      BOOST_REQUIRE(record->type == expected);
      expected += expected % 3 == 0 ? 2 : 1;
    }
    pipe.device_end().flush();
  }
}

// Processes that share a context after a fork have objects at the same address.
BOOST_AUTO_TEST_CASE(purge_leaves_the_events_of_another_source) {
  TestPipe pipe(16);
  const EventSource parents, childs;
  pipe.device_end().push(1, 5, parents.number());
  pipe.device_end().push(1, 6, childs.number());
  BOOST_TEST(pipe.device_end().purge(1, parents.number(), 1) == 1u);
  BOOST_TEST(pipe.device_end().purge(1, parents.number(), 1) == 0u);
  BOOST_TEST(pipe.read()->type == 6u);
}

BOOST_AUTO_TEST_CASE(purge_takes_no_more_than_were_reported) {
  TestPipe pipe(8);
  for (int i = 0; i < 3; ++i) pipe.device_end().push(1);
  BOOST_TEST(pipe.device_end().purge(1, 0, 2) == 2u);
  BOOST_TEST(pipe.read()->element == 1u);
  BOOST_TEST(!pipe.read());
}

BOOST_AUTO_TEST_CASE(purge_does_not_wait_although_the_program_reads_blocking) {
  int ends[2];
  BOOST_REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  const memory::Descriptor reader(dup(ends[0]));
  EventPipe pipe{memory::Descriptor(ends[0]), memory::Descriptor(ends[1]), 8};
  BOOST_TEST(pipe.purge(1, 0, kAll) == 0u);
  for (int i = 0; i < 20'000; ++i) pipe.push(5);  // would block for ever if the flags were the program's
  BOOST_TEST(pipe.has_backlog());
}

BOOST_AUTO_TEST_CASE(the_engine_tries_again_without_a_new_event) {
  Fabric fabric;
  EventPipe& pipe = fabric.program0.channel.device_end();
  constexpr std::uint64_t kRecords = 20'000;
  for (std::uint64_t i = 0; i < kRecords; ++i) pipe.push(i);
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
