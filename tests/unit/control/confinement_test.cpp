// What a device process can do no more. In children, for it cannot be taken back.
#include "device_model/control/confinement/confinement.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <thread>

namespace urnic::control::test {
namespace {

// The child's exit status, or 256 and the signal that ended it.
template <class Task>
int in_child(Task task) {
  const pid_t child = fork();
  if (child == 0) _exit(task());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

constexpr int kNotHere = 77;  // the machine, or the build, does not let system calls be restricted

boost::test_tools::assertion_result with_filters(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(
      in_child([] { return allow_needed_calls_only().empty() ? 0 : kNotHere; }) == 0);
  result.message() << "system calls cannot be restricted here";
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(confinement)

BOOST_AUTO_TEST_CASE(powers_are_dropped) {
  BOOST_TEST(in_child([] {
               if (!drop_powers(false).empty()) return 1;
               if (prctl(PR_GET_DUMPABLE) != 0) return 2;
               if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) return 3;
               rlimit core{1, 1};
               if (getrlimit(RLIMIT_CORE, &core) != 0 || core.rlim_max != 0) return 4;
               if (std::filesystem::current_path() != "/") return 5;
               if (umask(0) != 077) return 6;
               __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
               __user_cap_data_struct sets[2]{};
               if (syscall(SYS_capget, &header, sets) != 0) return 7;
               constexpr std::uint32_t kKept = 1u << CAP_SYS_PTRACE;
               if (((sets[0].effective | sets[0].permitted) & ~kKept) != 0) return 8;
               if (sets[1].effective != 0 || sets[1].permitted != 0 || sets[0].inheritable != 0) return 9;
               return prctl(PR_CAPBSET_READ, CAP_NET_RAW) == 1 && geteuid() == 0 ? 10 : 0;
             }) == 0);
}

BOOST_AUTO_TEST_CASE(debuggers_can_be_let_in) {
  BOOST_TEST(in_child([] {
               drop_powers(true);
               return prctl(PR_GET_DUMPABLE) == 1 ? 0 : 1;
             }) == 0);
}

BOOST_AUTO_TEST_CASE(what_is_inherited_is_closed) {
  BOOST_TEST(in_child([] {
               const int kept = open("/dev/null", O_RDONLY);
               const int other = dup(kept);
               const int far = fcntl(kept, F_DUPFD, 500);
               close_inherited(kept);
               if (fcntl(kept, F_GETFD) < 0 || fcntl(STDERR_FILENO, F_GETFD) < 0) return 1;
               if (fcntl(other, F_GETFD) >= 0 || fcntl(far, F_GETFD) >= 0) return 2;
               close_inherited(-1);
               return fcntl(kept, F_GETFD) >= 0 ? 3 : 0;
             }) == 0);
}

BOOST_AUTO_TEST_CASE(calls_that_nobody_needs_fail, *boost::unit_test::precondition(with_filters)) {
  BOOST_TEST(in_child([] {
               if (!allow_needed_calls_only().empty()) return kNotHere;
               if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || errno != ENOSYS) return 1;
               if (kill(getppid(), 0) == 0 || errno != ENOSYS) return 2;
               return 0;
             }) == 0);
}

BOOST_AUTO_TEST_CASE(a_thread_chooses_only_its_own_processor, *boost::unit_test::precondition(with_filters)) {
  BOOST_TEST(in_child([] {
               if (!allow_needed_calls_only().empty()) return kNotHere;
               cpu_set_t allowed;
               if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
               if (sched_setaffinity(0, sizeof allowed, &allowed) != 0) return 2;
               if (sched_setaffinity(getppid(), sizeof allowed, &allowed) == 0 || errno != ENOSYS) return 3;
               return 0;
             }) == 0);
}

BOOST_AUTO_TEST_CASE(what_only_an_intruder_calls_ends_the_process,
                     *boost::unit_test::precondition(with_filters)) {
  BOOST_TEST(in_child([] {
               prctl(PR_SET_DUMPABLE, 0);
               allow_needed_calls_only();
               execl("/bin/true", "true", nullptr);
               return 1;
             }) == 256 + SIGSYS);
  BOOST_TEST(in_child([] {
               prctl(PR_SET_DUMPABLE, 0);
               allow_needed_calls_only();
               fork();
               return 1;
             }) == 256 + SIGSYS);
}

BOOST_AUTO_TEST_CASE(threads_that_run_are_restricted_and_new_ones_can_be_had,
                     *boost::unit_test::precondition(with_filters)) {
  BOOST_TEST(in_child([] {
               std::atomic<int> step{0};
               std::atomic<bool> refused{false};
               std::thread before([&] {
                 while (step == 0) sched_yield();
                 refused = socket(AF_INET, SOCK_STREAM, 0) < 0;
               });
               allow_needed_calls_only();
               step = 1;
               before.join();
               if (!refused) return 1;
               std::thread after([&] { step = 2; });
               after.join();
               return step == 2 ? 0 : 2;
             }) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
