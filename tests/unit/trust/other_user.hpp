// Another user than the one that runs the tests.
#pragma once

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <functional>

namespace urnic::trust::test {

inline constexpr uid_t kOtherUser = 54321;

// For the decorator of a test case: only root can become another user.
inline boost::test_tools::assertion_result needs_root(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(geteuid() == 0);
  result.message() << "only root can become a second user";
  return result;
}

// Runs `what` as kOtherUser in a child process. Returns what `what` returned (0 to 125), 126 if the child
// could not become that user, or -1 if it did not end by itself.
inline int as_other_user(const std::function<int()>& what) {
  const pid_t child = fork();
  if (child == 0) _exit(setgid(kOtherUser) == 0 && setuid(kOtherUser) == 0 ? what() : 126);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace urnic::trust::test
