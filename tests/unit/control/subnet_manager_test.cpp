// Who manages the InfiniBand fabric: opensm's place and options, the process that starts it, and the built-in
// manager on the control thread.
#include "device_model/control/subnet_manager/subnet_manager.hpp"

#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "device_model/control/subnet_manager/opensm.hpp"
#include "device_model/subnet/manager/sweep.hpp"
#include "device_model/subnet/network.hpp"
#include "temporary_directory.hpp"
#include "wire/mad/smp.hpp"
#include "wire/mad/subnet_attributes.hpp"

namespace urnic::control {
namespace {

namespace fs = std::filesystem;
using wire::mad::PhysicalState;
using wire::mad::PortState;

const std::string kTwoPorts =
    "[[devices]]\nlink_layer = \"infiniband\"\n[[devices]]\nlink_layer = \"infiniband\"\n";

ProgramStart shell(const std::string& script) {
  return {.name = "sh", .words = {"/bin/sh", "-c", script}, .variables = {{"SAID", "words of its own"}}};
}

// Waits for it. Empty after 60 s.
std::optional<ProgramParent::Report> report_of(ProgramParent& parent) {
  pollfd look{parent.descriptor(), POLLIN, 0};
  poll(&look, 1, 60'000);
  return parent.next_report();
}

// The fields of /proc/PID/stat behind the name: state, parent, ... Empty: there is no such process.
std::string facts_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const auto place = text.rfind(") ");
  return place == std::string::npos ? std::string() : text.substr(place + 2);
}

// A zombie has ended. When its parent takes its status, if that is another process, depends on the machine.
bool runs(pid_t pid) {
  const std::string facts = facts_of(pid);
  return !facts.empty() && facts[0] != 'Z' && facts[0] != 'X';
}

bool ends_soon(pid_t pid) {
  for (int i = 0; i < 6000 && runs(pid); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return !runs(pid);
}

BOOST_AUTO_TEST_SUITE(subnet_managers)

BOOST_AUTO_TEST_CASE(opensm_is_found_in_the_search_path) {
  test::TemporaryDirectory directory;
  const fs::path folder = directory.path() / "programs";
  fs::create_directories(folder);
  const std::string path = "relative:" + folder.string() + ":/nowhere";
  const auto elsewhere = find_opensm("");  // in the system's folders, perhaps
  BOOST_TEST((find_opensm(path) == elsewhere));
  std::ofstream(folder / "opensm") << "#!/bin/sh\n";
  BOOST_TEST((find_opensm(path) == elsewhere));  // not executable
  chmod((folder / "opensm").c_str(), 0700);
  BOOST_TEST((find_opensm(path) == folder / "opensm"));
}

BOOST_AUTO_TEST_CASE(who_manages) {
  const std::optional<fs::path> installed = "/usr/sbin/opensm", none;
  BOOST_TEST((resolve_manager(ManagerChoice::automatic, installed) == ManagerChoice::opensm));
  BOOST_TEST((resolve_manager(ManagerChoice::automatic, none) == ManagerChoice::built_in));
  BOOST_TEST((resolve_manager(ManagerChoice::built_in, installed) == ManagerChoice::built_in));
  BOOST_TEST((resolve_manager(ManagerChoice::opensm, installed) == ManagerChoice::opensm));
  BOOST_CHECK_THROW(resolve_manager(ManagerChoice::opensm, none), std::runtime_error);
}

// It begins at the first InfiniBand device, and all its files are in its folder.
BOOST_AUTO_TEST_CASE(how_opensm_is_started) {
  const Configuration configuration = parse_configuration("[[devices]]\n" + kTwoPorts, "lab.toml");
  const ProgramStart start =
      opensm_start("/usr/sbin/opensm", "/run/lab/opensm", "/usr/lib/stand-in.so", configuration);
  BOOST_TEST(start.words.front() == "/usr/sbin/opensm");
  const auto guid = std::find(start.words.begin(), start.words.end(), "--guid");
  BOOST_REQUIRE((guid != start.words.end()));
  BOOST_TEST(*std::next(guid) == "0x007572fffe6e0001");
  for (const std::string& word : start.words)
    if (word.starts_with("/") && word != start.words.front())
      BOOST_TEST(word.starts_with("/run/lab/opensm/"));
  BOOST_TEST(start.variables.at("URNIC_DIR") == "/run/lab");
  BOOST_TEST(start.variables.at("LD_PRELOAD") == "/usr/lib/stand-in.so");
}

BOOST_AUTO_TEST_CASE(a_program_begins_when_it_is_told_to_and_says_why_it_ends) {
  const auto parent = ProgramParent::fork(shell("echo $SAID >&2; exit 3"));
  BOOST_TEST(!parent->next_report());
  parent->start();
  const auto begun = report_of(*parent);
  BOOST_REQUIRE(begun);
  BOOST_TEST((begun->kind == ProgramParent::Report::Kind::running));
  BOOST_TEST(begun->pid > 0);
  const auto ended = report_of(*parent);
  BOOST_REQUIRE(ended);
  BOOST_TEST((ended->kind == ProgramParent::Report::Kind::ended));
  BOOST_TEST(ended->words == "exit status 3: words of its own");
}

BOOST_AUTO_TEST_CASE(a_program_that_is_not_there) {
  const auto parent = ProgramParent::fork({.name = "none", .words = {"/nowhere/opensm"}, .variables = {}});
  parent->start();
  report_of(*parent);
  const auto ended = report_of(*parent);
  BOOST_REQUIRE(ended);
  BOOST_TEST(ended->words.find("cannot be started: No such file") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_program_ends_with_its_owner) {
  auto parent = ProgramParent::fork(shell("trap '' TERM INT HUP; while :; do sleep 1000; done"));
  parent->start();
  const auto begun = report_of(*parent);
  BOOST_REQUIRE(begun);
  BOOST_TEST(runs(begun->pid));
  parent.reset();
  BOOST_TEST(!runs(begun->pid));  // not only soon: its files may be removed now
}

BOOST_AUTO_TEST_CASE(a_parent_that_is_never_told_to_start_ends, *boost::unit_test::timeout(60)) {
  ProgramParent::fork(shell("sleep 1000"));
}

// More than a pipe holds, and far more than is kept.
BOOST_AUTO_TEST_CASE(a_program_that_says_much_does_not_wait_for_a_reader) {
  const auto parent = ProgramParent::fork(shell(
      "i=0; while [ $i -lt 5000 ]; do echo a line that nobody will ever read $i >&2; i=$((i+1)); done"));
  parent->start();
  report_of(*parent);
  const auto ended = report_of(*parent);
  BOOST_REQUIRE(ended);
  BOOST_TEST(ended->words.starts_with("exit status 0: "));
  BOOST_TEST(ended->words.ends_with("read 4999"));
  BOOST_TEST(ended->words.size() < 1100u);
}

// It ends also if its parent process is killed alone.
BOOST_AUTO_TEST_CASE(a_program_ends_with_its_parent_process) {
  const auto parent = ProgramParent::fork(shell("echo $PPID >&2; exec sleep 1000"));
  parent->start();
  const auto begun = report_of(*parent);
  BOOST_REQUIRE(begun);
  const std::string facts = facts_of(begun->pid);
  BOOST_REQUIRE(facts.size() > 2u);
  kill(std::stoi(facts.substr(2)), SIGKILL);
  const auto ended = report_of(*parent);
  BOOST_REQUIRE(ended);
  BOOST_TEST((ended->kind == ProgramParent::Report::Kind::parent_ended));
  BOOST_TEST(ends_soon(begun->pid));
}

struct BuiltIn {
  BuiltIn() { manager.start(); }

  PortState state(std::size_t device) {
    return fabric.subnet().port(*fabric.devices().at(device)->adapter).state;
  }

  // As a program that writes to its own port.
  void write(std::size_t device, PhysicalState physical) {
    wire::mad::Smp smp;
    const subnet::NodeIndex node = *fabric.devices().at(device)->adapter;
    smp.header.management_class = wire::mad::ManagementClass::subnet_lid_routed;
    smp.header.class_version = wire::mad::kSubnetClassVersion;
    smp.header.method = wire::mad::Method::set;
    smp.header.attribute = {static_cast<std::uint16_t>(wire::mad::SubnetAttribute::port_info)};
    smp.header.attribute_modifier = 1;
    wire::mad::PortInfo info = fabric.subnet().port(node);
    info.state = PortState::no_change;
    info.physical_state = physical;
    smp.data = wire::mad::encode_data(info);
    BOOST_REQUIRE((fabric.subnet().ask_agent({node, 1}, smp) == subnet::Verdict::answered));
    fabric.subnet_changed();
  }

  // Lets what is due happen.
  void run_loop() {
    Timer end(loop, [this] { loop.stop(); });
    end.set(std::chrono::milliseconds(20));
    loop.run();
  }

  EventLoop loop;
  Fabric fabric{parse_configuration(kTwoPorts, "lab.toml")};
  SubnetManager manager{loop, fabric, ManagerChoice::built_in, nullptr};
};

BOOST_FIXTURE_TEST_CASE(the_built_in_manager_has_swept_when_it_has_started, BuiltIn) {
  BOOST_TEST((state(0) == PortState::active && state(1) == PortState::active));
  BOOST_TEST(manager.has_brought_up());
  BOOST_TEST((manager.state() == SubnetManager::State::running));
}

BOOST_FIXTURE_TEST_CASE(the_built_in_manager_acts_on_changes, BuiltIn) {
  write(0, PhysicalState::disabled);
  run_loop();
  BOOST_TEST((state(0) == PortState::down));
  write(0, PhysicalState::polling);
  BOOST_TEST((state(0) == PortState::initialize));
  run_loop();
  BOOST_TEST((state(0) == PortState::active));
}

// As when somebody starts opensm beside it.
BOOST_FIXTURE_TEST_CASE(the_built_in_manager_gives_way_to_a_program, BuiltIn) {
  const subnet::NodeIndex node = *fabric.devices().at(1)->adapter;
  fabric.subnet().set_manager(node, true);
  write(0, PhysicalState::disabled);
  write(0, PhysicalState::polling);
  run_loop();
  BOOST_TEST((state(0) == PortState::initialize));
  fabric.subnet().set_manager(node, false);
  manager.look();
  run_loop();
  BOOST_TEST((state(0) == PortState::active));
}

BOOST_AUTO_TEST_CASE(without_a_manager_ports_wait) {
  EventLoop loop;
  Fabric fabric{parse_configuration(kTwoPorts, "lab.toml")};
  SubnetManager manager(loop, fabric, ManagerChoice::none, nullptr);
  manager.start();
  BOOST_TEST((fabric.subnet().port(*fabric.devices().at(0)->adapter).state == PortState::initialize));
  BOOST_TEST((manager.state() == SubnetManager::State::none));
  BOOST_TEST(!manager.has_brought_up());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::control
