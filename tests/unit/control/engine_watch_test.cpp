// An engine that stands still is seen and named, and does not keep the process from ending.
#include "device_model/control/admin/engine_watch.hpp"

#include <poll.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <thread>

#include "device_model/control/fabric/configuration.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/engine/engine.hpp"
#include "json/json.hpp"

namespace urnic::control::test {
namespace engine_watch {

using namespace std::chrono_literals;

template <class Condition>
bool comes_true(Condition condition) {
  for (int waited = 0; waited < 10'000; waited += 5) {
    if (condition()) return true;
    poll(nullptr, 0, 5);
  }
  return false;
}

struct WithFabric {
  WithFabric() { fabric.start(); }
  // Keeps the engine of a device busy until `go_on`.
  std::thread hold() {
    return std::thread([this] {
      fabric.engine(*fabric.devices()[0]).execute([this] {
        while (!go_on) sched_yield();
      });
    });
  }
  Fabric fabric{default_configuration()};
  DescriptorDisposal disposal;
  EngineWatch::Options options{.period = 5ms, .looks = 3, .stuck_end = 50ms, .end_at_once = {}};
  std::atomic<bool> go_on{false};
};

BOOST_FIXTURE_TEST_SUITE(engine_watch, WithFabric)

BOOST_AUTO_TEST_CASE(an_engine_that_rests_is_not_stuck) {
  EngineWatch watch(fabric, disposal, options);
  for (int i = 0; i < 50; ++i) {
    poll(nullptr, 0, 5);
    BOOST_TEST(watch.stuck().empty());
  }
  BOOST_TEST(!watch.answer({{"cmd", "status"}}).has_value());
}

BOOST_AUTO_TEST_CASE(one_that_stands_still_is_named_until_it_moves) {
  EngineWatch watch(fabric, disposal, options);
  std::thread holder = hold();
  BOOST_TEST(comes_true([&] { return !watch.stuck().empty(); }));
  for (const StuckEngine& engine : watch.stuck()) {
    BOOST_TEST(engine.number == 0u);
    BOOST_TEST(engine.devices.front() == "urnic0");
    BOOST_TEST(engine.pid == 0);
  }
  const auto status = watch.answer({{"cmd", "status"}});
  BOOST_REQUIRE(status.has_value());
  BOOST_TEST(status->at("engine").at("stuck").size() == 1u);
  BOOST_TEST(status->at("pid") == getpid());
  const auto refused = watch.answer({{"cmd", "counters"}});
  BOOST_REQUIRE(refused.has_value());
  BOOST_TEST(refused->contains("error"));
  BOOST_TEST(!watch.answer({{"cmd", "down"}}).has_value());
  go_on = true;
  holder.join();
  BOOST_TEST(comes_true([&] { return watch.stuck().empty(); }));
}

BOOST_AUTO_TEST_CASE(an_end_that_takes_long_is_made_short) {
  std::atomic<bool> ended{false};
  options.end_at_once = [&](const std::string&) { ended = true; };
  EngineWatch watch(fabric, disposal, options);
  std::thread holder = hold();
  BOOST_TEST(comes_true([&] { return !watch.stuck().empty(); }));
  BOOST_TEST(!ended);
  watch.expect_end();
  BOOST_TEST(comes_true([&] { return ended.load(); }));
  go_on = true;
  holder.join();
}

BOOST_AUTO_TEST_CASE(a_message_names_program_and_device) {
  const std::string text = sentence_about(
      {.number = 0, .devices = {"urnic0", "urnic1"}, .since = 7s, .pid = 42, .program = "badprog"});
  for (const char* part : {"urnic0, urnic1", "7 s", "pid 42", "badprog"}) {
    BOOST_TEST(text.find(part) != std::string::npos, part);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace engine_watch
}  // namespace urnic::control::test
