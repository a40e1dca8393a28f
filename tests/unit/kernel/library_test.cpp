// The libraries that the stand-in needs, and the symbols that it exports and calls.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <sstream>
#include <string>

#include "tests/unit/kernel/preloaded_program.hpp"

namespace {

using namespace urnic::kernel::test;

BOOST_AUTO_TEST_SUITE(library)

// Until glibc 2.34 the last two were files of their own.
constexpr std::array<const char*, 4> kCLibrary{"[libc.so.6]", "[ld-linux-x86-64.so.2]", "[libdl.so.2]",
                                               "[libpthread.so.0]"};

// A C++ runtime library would be loaded into every program of the session.
BOOST_AUTO_TEST_CASE(needs_the_c_library_only) {
  const Outcome needed = run_shell("", "readelf -d " URNIC_KERNEL_LIBRARY " | grep NEEDED");
  std::istringstream lines(needed.output);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto is_needed = [&](const char* library) { return line.find(library) != std::string::npos; };
    BOOST_TEST(std::any_of(kCLibrary.begin(), kCLibrary.end(), is_needed), line);
  }
  BOOST_TEST(count >= 1);
  const Outcome wanted = run_shell("", "nm -D --undefined-only " URNIC_KERNEL_LIBRARY " | c++filt");
  BOOST_TEST(wanted.output.find("dlsym") != std::string::npos);
  for (const char* runtime : {"operator", "std::", "__gxx", "__cxa_g", "__cxa_t", "_Unwind", "__asan"})
    BOOST_TEST(wanted.output.find(runtime) == std::string::npos, wanted.output);
}

// Any other exported name could replace a program's own symbol. Lines with A are versions
// (interpose_map.cpp).
BOOST_AUTO_TEST_CASE(exports_names_of_the_c_library_only) {
  void* libc = dlopen("libc.so.6", RTLD_LAZY);
  BOOST_REQUIRE(libc != nullptr);
  std::istringstream names(run_shell("", "nm -D --defined-only " URNIC_KERNEL_LIBRARY
                                         " | grep -v ' A ' | cut -d' ' -f3 | cut -d@ -f1")
                               .output);
  int count = 0;
  for (std::string name; std::getline(names, name); ++count) {
    const bool is_newer = name == "openat2";  // glibc 2.43
    BOOST_TEST((is_newer || dlsym(libc, name.c_str()) != nullptr), name);
  }
  BOOST_TEST(count > 60);
  dlclose(libc);
}

// A call of an own entry point could reach another interposer's function of the same name, and recurse for
// ever.
BOOST_AUTO_TEST_CASE(calls_none_of_its_own_entry_points) {
  const Outcome both = run_shell("", "{ readelf -rW " URNIC_KERNEL_LIBRARY
                                     " | grep -E 'JUMP_SLO|GLOB_DAT' | awk '{print $5}' | cut -d@ -f1 | "
                                     "sort -u; nm -D --defined-only " URNIC_KERNEL_LIBRARY
                                     " | cut -d' ' -f3; } | sort | uniq -d");
  BOOST_TEST(both.output == "");
  BOOST_TEST(run_shell("", "readelf -rW " URNIC_KERNEL_LIBRARY).output.find("dlsym") != std::string::npos);
}

// Functions in which programs wait, or which they call often, are not interposed. (`ioctl` is, for importing;
// `recvmsg`, `recvmmsg` and `recvfrom` are, for netlink; `read` is, for packets of umad nodes.)
BOOST_AUTO_TEST_CASE(leaves_waiting_alone) {
  const std::string names =
      run_shell("", "nm -D --defined-only " URNIC_KERNEL_LIBRARY " | cut -d' ' -f3").output;
  for (const char* name :
       {"readv", "poll", "ppoll", "select", "epoll_wait", "close", "send", "sendmsg", "recv", "malloc"})
    BOOST_TEST(("\n" + names).find(std::string("\n") + name + "\n") == std::string::npos, name);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
