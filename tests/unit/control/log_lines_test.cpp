// What reaches the log and terminals: nothing that harms them, and not too much of one kind.
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/control/log/line_rates.hpp"
#include "device_model/control/objects/process.hpp"
#include "device_model/control/stranger_lines.hpp"
#include "device_model/engine/engine.hpp"
#include "terminal/harmless_text.hpp"
#include "tests/unit/control/running_process.hpp"

namespace urnic::control::test {
namespace {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(log_lines)

BOOST_AUTO_TEST_CASE(what_harms_a_terminal_is_replaced) {
  for (const auto& [text, shown] : std::vector<std::pair<std::string, std::string>>{
           {"plain text, ü, 漢字, 🚀", "plain text, ü, 漢字, 🚀"},
           {"\x1b[31mred", "?[31mred"},
           {"a\x7f\n\r\tb", "a????b"},
           {"\xc2\x9b"
            "31m",
            "??31m"},  // C1: CSI in one character
           {"\x9b"
            "31m",
            "?31m"},  // as a terminal without UTF-8 takes it
           {"x\xe2\x80\xae"
            "exe.txt",
            "x???exe.txt"},                                        // RIGHT-TO-LEFT OVERRIDE
           {"\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c", "????????"},       // ISOLATE, RLM, ALM
           {"\xe2\x80\xa8", "???"},                                // LINE SEPARATOR
           {"\xc0\x9b\xed\xa0\x80\xf4\x90\x80\x80", "?????????"},  // overlong, a surrogate, beyond Unicode
           {"cut \xe2\x80", "cut ??"},
           {"", ""}}) {
    BOOST_TEST(terminal::harmless(text) == shown, text);
    BOOST_TEST(printable_name(text.c_str(), text.size()) == shown, text);
  }
  BOOST_TEST(terminal::harmless("a\nb\tc", ' ', '\n') == "a\nb c");
}

BOOST_AUTO_TEST_CASE(lines_of_one_kind_have_a_rate) {
  log::LineRates rates;
  const char refused = 0, other = 0;
  const log::LineRates::Clock::time_point begin{10min};
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const auto verdict = rates.look(&refused, begin + std::chrono::microseconds(i));
    BOOST_REQUIRE(verdict.is_written == (i < log::LineRates::kMost));
    BOOST_REQUIRE(verdict.left_out_before == 0u);
  }
  BOOST_TEST(rates.look(&other, begin + 1s).is_written);
  const auto later = rates.look(&refused, begin + 1min);
  BOOST_TEST(later.is_written);
  BOOST_TEST(later.left_out_before == 100'000 - log::LineRates::kMost);
  BOOST_TEST(rates.look(&refused, begin + 2min).left_out_before == 0u);
}

BOOST_AUTO_TEST_CASE(strangers_on_a_wire_leave_a_line) {
  const TemporaryDirectory folder;
  const std::string wire = folder.path() / "lan";
  Fabric fabric(parse_configuration("[lan]\nlisten = \"" + wire + "\"\n", "lab.toml"));
  EventLoop loop;
  StrangerLines strangers(loop, fabric);
  fabric.start();
  BOOST_TEST(strangers.lines().empty());
  const memory::Descriptor peer = connect_to(wire, SOCK_STREAM);
  const std::array<unsigned char, 4> impossible{0xFF, 0xFF, 0xFF, 0xFF};
  BOOST_REQUIRE(write(peer.get(), impossible.data(), impossible.size()) == 4);
  std::vector<std::string> lines;
  for (int look = 0; look < 5000 && lines.empty(); ++look) {
    std::this_thread::sleep_for(1ms);
    lines = strangers.lines();
  }
  BOOST_REQUIRE(lines.size() == 1u);
  BOOST_TEST(
      lines[0] ==
      "the LAN: unexpected in the last minute: 1 connections closed because of a length that no frame has");
  BOOST_TEST(strangers.lines().empty());  // each is told once
  for (const auto& unit : fabric.units()) unit->engine.stop();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::control::test
