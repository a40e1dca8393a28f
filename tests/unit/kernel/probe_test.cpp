// Runs each build of the probe, which tries every entry point.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <sstream>
#include <string>

#include "tests/unit/kernel/fake_run_directory.hpp"
#include "tests/unit/kernel/preloaded_program.hpp"

namespace {

using namespace urnic::kernel::test;

// The number of lines. Checks that each begins with `beginning`.
int count_lines(const std::string& output, const std::string& beginning) {
  int count = 0;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    BOOST_TEST(line.compare(0, beginning.size(), beginning) == 0, line);
    ++count;
  }
  return count;
}

constexpr int kCases = 75;
constexpr int kUnchangedCases = 6;

void check_probe(const FakeRunDirectory& run, const std::string& command, const std::string& before = "") {
  const Outcome outcome = run_preloaded(run.path(), command, before);
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(count_lines(outcome.output, "ok ") == kCases);
  BOOST_TEST(run.good_messages() == 5);
  BOOST_TEST(run.other_messages() == 0);
  const Outcome unchanged = run_preloaded(run.path(), command + " unchanged", before);
  BOOST_TEST(unchanged.status == 0);
  BOOST_TEST(count_lines(unchanged.output, "ok ") == kUnchangedCases);
}

BOOST_AUTO_TEST_SUITE(probe)

BOOST_AUTO_TEST_CASE(every_entry_point) {
  const FakeRunDirectory run;
  check_probe(run, URNIC_PROBE);
}

BOOST_AUTO_TEST_CASE(a_run_directory_behind_a_symbolic_link) {
  const FakeRunDirectory run(true);
  check_probe(run, URNIC_PROBE);
}

// The link might lead to another user's directory. The program goes on without devices; a message says why.
BOOST_AUTO_TEST_CASE(a_run_directory_that_is_a_symbolic_link_is_refused) {
  const FakeRunDirectory run;
  const std::string link = run.path() + "-link";
  std::filesystem::create_symlink(run.path(), link);
  const Outcome outcome = run_preloaded(link, URNIC_PROBE);
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(outcome.output.find("urnic: the run directory " + link + " is a symbolic link") !=
             std::string::npos);
  BOOST_TEST(outcome.output.find("ok ") == std::string::npos);
  BOOST_TEST(run.good_messages() + run.other_messages() == 0);
}

BOOST_AUTO_TEST_CASE(a_run_directory_that_others_may_write_is_refused) {
  const FakeRunDirectory run;
  std::filesystem::permissions(run.path(), std::filesystem::perms::group_write,
                               std::filesystem::perm_options::add);
  const Outcome outcome = run_preloaded(run.path(), URNIC_PROBE);
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(outcome.output.find("can be written by other users") != std::string::npos);
  BOOST_TEST(run.good_messages() + run.other_messages() == 0);
}

BOOST_AUTO_TEST_CASE(a_fortified_program) {
  const FakeRunDirectory run;
  check_probe(run, URNIC_PROBE_FORTIFIED);
}

// Each case must fail without the stand-in; otherwise the case proves nothing.
BOOST_AUTO_TEST_CASE(the_probe_can_fail) {
  const Outcome outcome = run_shell("", URNIC_PROBE);
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(count_lines(outcome.output, "no ") == kCases);
}

BOOST_AUTO_TEST_CASE(without_a_run_directory_nothing_changes) {
  for (const char* directory : {"", "relative/path", "/"}) {
    const Outcome outcome = run_preloaded(directory, URNIC_PROBE);
    BOOST_TEST(outcome.status == 1);
    BOOST_TEST(count_lines(outcome.output, "no ") == kCases);
    BOOST_TEST(run_preloaded(directory, URNIC_PROBE " unchanged").status == 0);
  }
}

#ifdef URNIC_PROBE_GCC_ASAN
BOOST_AUTO_TEST_CASE(gcc_address_sanitizer_after_the_stand_in) {
  const FakeRunDirectory run;
  check_probe(run, "ASAN_OPTIONS=verify_asan_link_order=0 " URNIC_PROBE_GCC_ASAN);
}

BOOST_AUTO_TEST_CASE(gcc_address_sanitizer_preloaded_first) {
  const FakeRunDirectory run;
  // Leak checks would also run in the shell and in all other programs into which the libraries are preloaded.
  check_probe(run, "ASAN_OPTIONS=detect_leaks=0 " URNIC_PROBE_GCC_ASAN, URNIC_LIBASAN);
}
#endif

#ifdef URNIC_PROBE_CLANG_ASAN
BOOST_AUTO_TEST_CASE(clang_address_sanitizer) {
  const FakeRunDirectory run;
  check_probe(run, URNIC_PROBE_CLANG_ASAN);
}
#endif

BOOST_AUTO_TEST_CASE(a_device_process_that_is_gone) {
  std::string path;
  {
    const FakeRunDirectory run;
    path = run.path();
  }
  const Outcome outcome = run_preloaded(path, URNIC_PROBE " unchanged");
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(run_preloaded(path, "cat /dev/infiniband/uverbs0").output.find("No such file") !=
             std::string::npos);
  const char* netlink =
      "/usr/bin/python3 -c 'import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 20)'";
  BOOST_TEST(run_preloaded(path, netlink).output.find("Protocol not supported") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
