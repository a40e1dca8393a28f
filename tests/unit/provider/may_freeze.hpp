// A precondition of tests in a process with several threads: its pages are shared only if the other threads
// can be made to wait, which root may, or all where the system allows it.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "provider/freestanding/descriptor.hpp"

namespace urnic::test {

inline boost::test_tools::assertion_result may_freeze(boost::unit_test::test_unit_id) {
  const provider::Descriptor watcher(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC)));
  boost::test_tools::assertion_result result(watcher.valid());
  result.message() << "userfaultfd is not allowed here";
  return result;
}

}  // namespace urnic::test
