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

// `what` in a child process, as kOtherUser. Start it from the only thread: a child of a process with more
// threads has one of them, and can wait for ever for a lock of a sanitizer's allocator that another one held.
class AsOtherUser {
 public:
  explicit AsOtherUser(const std::function<int()>& what) : child_(fork()) {
    if (child_ == 0) _exit(setgid(kOtherUser) == 0 && setuid(kOtherUser) == 0 ? what() : 126);
  }

  // Waits for its end. Returns what `what` returned (0 to 125), 126 if the child could not become that user,
  // or -1 if it did not end by itself. Call it once.
  int ended() const {
    int status = 0;
    return waitpid(child_, &status, 0) == child_ && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t child_;
};

inline int as_other_user(const std::function<int()>& what) { return AsOtherUser(what).ended(); }

}  // namespace urnic::trust::test
