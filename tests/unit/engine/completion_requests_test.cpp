// Requests for events by UAR pages: each is seen before the next one takes its place in the CQ's record.
#include <algorithm>
#include <chrono>
#include <thread>

#include "device_model/engine/doorbells/doorbell_turns.hpp"
#include "tests/unit/engine/uars.hpp"

namespace urnic::engine::test {
namespace {

// Entries of a program that asks for an event after the CQE for which it waits was written.
class AskedLate final : public WrittenCompletions {
 public:
  bool write(const transport::Completion&, std::uint32_t) override { return true; }
  bool write_tagged(const transport::Completion&, std::uint32_t, std::uint8_t, const abi::TagInfo&) override {
    return true;
  }
  abi::ArmKind armed() override {
    seen.push_back(request);
    return behind ? abi::ArmKind::next : abi::ArmKind::none;
  }
  void fired() override { behind = false; }
  bool is_behind() override { return behind; }
  void requests_may_hide(bool may) override { may_hide = may; }
  bool wants_each_request() const override { return wants_each; }
  bool has_room_for_data() const override { return false; }
  CompletionIndices indices() const override { return {}; }
  void begin_move(void*, std::uint32_t) override {}
  Moved move(std::uint32_t) override { return Moved::all; }

  bool behind = false;
  bool wants_each = false;
  bool may_hide = false;
  std::atomic<int> request = 0;
  std::vector<int> seen;  // requests that the engine has read
};

// A program makes two requests, one behind the other, while the engine attends to its page; `then` runs once
// both stores are over.
template <class Then>
void store_two(Uars& uars, AskedLate& entries, int first, Then then) {
  DataPath& path = uars.fabric.engine.data_path();
  std::atomic<bool> stored = false;
  std::thread program([&] {
    for (const int request : {first, first + 1}) {
      entries.request = request;
      uars.request(0);
    }
    stored = true;
  });
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!stored && std::chrono::steady_clock::now() < deadline) {
    path.set_now(path.now() + transport::Nanoseconds(50'000));
    uars.pages.attend();
  }
  BOOST_TEST(stored);
  then();
  uars.pages.awake(path.now());  // the thread must end, whatever was found
  program.join();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(completion_requests)

BOOST_AUTO_TEST_CASE(a_late_request_raises_its_event) {
  Uars uars;
  const auto entries = std::make_shared<AskedLate>();
  CompletionQueue queue({.entries = entries,
                         .user_handle = 77,
                         .channel = &uars.fabric.program0.channel.device_end(),
                         .async_events = nullptr});
  for (const std::uint32_t page : {0u, 1u}) {
    uars.pages.attach(queue, page);
    uars.pages.look(100);
    entries->behind = true;
    uars.request(1 - page);
    uars.pages.look(100);
    BOOST_TEST(!uars.fabric.program0.channel.read().has_value());
    uars.request(page);
    uars.pages.look(100);
    BOOST_TEST(uars.fabric.program0.channel.read().has_value());
    BOOST_TEST(!entries->behind);
    uars.pages.detach(queue);
  }
}

// The second request takes the place of the first one in the CQ's record.
BOOST_AUTO_TEST_CASE(a_request_is_seen_before_its_store_goes_on, *boost::unit_test::precondition(may_watch)) {
  Uars uars;
  const auto entries = std::make_shared<AskedLate>();
  CompletionQueue queue({.entries = entries, .channel = &uars.fabric.program0.channel.device_end()});
  uars.pages.attach(queue, 0);
  uars.watch();
  DataPath& path = uars.fabric.engine.data_path();
  uars.pages.going_to_sleep(path.now());
  uars.pages.look(100);
  store_two(uars, *entries, 1, [&] {
    BOOST_TEST(entries->seen == (std::vector{0, 1}), boost::test_tools::per_element());
  });
  uars.pages.detach(queue);
}

// Of an engine that is awake. A CQ's first requests are seen, and those after an event if the CQ wants that.
BOOST_AUTO_TEST_CASE(no_request_hides_another_while_the_engine_is_awake,
                     *boost::unit_test::precondition(may_watch)) {
  Uars uars;
  const auto entries = std::make_shared<AskedLate>();
  CompletionQueue queue({.entries = entries, .channel = &uars.fabric.program0.channel.device_end()});
  DoorbellTurns turns;
  turns.add(uars.pages);
  uars.watch();
  uars.pages.attach(queue, 0);
  // Two requests, one behind the other. Returns those that the engine saw.
  const auto ask_twice = [&](int first) {
    entries->seen.clear();
    entries->request = 0;
    turns.look();
    store_two(uars, *entries, first, [] {});
    return std::count(entries->seen.begin(), entries->seen.end(), first) != 0;
  };
  const auto raise = [&] {
    entries->behind = true;
    uars.request(0);
    turns.look();
    BOOST_TEST(uars.fabric.program0.channel.read().has_value());
  };
  BOOST_TEST(ask_twice(1));
  BOOST_TEST(entries->may_hide);
  raise();
  BOOST_TEST(entries->may_hide);
  BOOST_TEST(!ask_twice(3));
  entries->wants_each = true;
  raise();
  BOOST_TEST(!entries->may_hide);
  BOOST_TEST(ask_twice(5));
  uars.pages.detach(queue);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
