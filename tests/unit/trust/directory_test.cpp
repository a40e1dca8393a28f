// Which run directories are trusted, and the faults of the others.
#define BOOST_TEST_DYN_LINK
#include "trust/directory.hpp"

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/control/temporary_directory.hpp"
#include "tests/unit/trust/other_user.hpp"

namespace urnic::trust::test {
namespace {

namespace fs = std::filesystem;

struct WithDirectory {
  control::test::TemporaryDirectory top;
  fs::path parent = top.path() / "parent";
  fs::path run = parent / "run";

  WithDirectory() {
    fs::create_directories(run);
    set_mode(parent, 0700);
    set_mode(run, 0700);
  }
  static void set_mode(const fs::path& path, unsigned mode) { fs::permissions(path, fs::perms{mode}); }
  static std::string told(const fs::path& path) { return describe(check_run_directory(path.c_str())); }
};

BOOST_FIXTURE_TEST_SUITE(directory, WithDirectory)

BOOST_AUTO_TEST_CASE(modes) {
  struct {
    unsigned parent, run;
    DirectoryFault fault;
  } const cases[] = {
      {0700, 0700, DirectoryFault::none},
      {0755, 0755, DirectoryFault::none},
      {0700, 0720, DirectoryFault::others_may_write},
      {0700, 0702, DirectoryFault::others_may_write},
      {0720, 0700, DirectoryFault::others_may_replace},
      {0702, 0700, DirectoryFault::others_may_replace},
      {01777, 0700, DirectoryFault::none},
      {01777, 01777, DirectoryFault::others_may_write},
  };
  for (const auto& each : cases) {
    set_mode(run, each.run);
    set_mode(parent, each.parent);
    BOOST_TEST(told(run) == describe(each.fault), std::oct << each.parent << " " << each.run);
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_directory) {
  BOOST_TEST(told(run / "nothing") == describe(DirectoryFault::missing));
  BOOST_TEST(told(top.path() / "no" / "parent") == describe(DirectoryFault::missing));
  std::ofstream(run / "file") << "x";
  BOOST_TEST(told(run / "file") == describe(DirectoryFault::not_a_directory));
  fs::create_directory_symlink(run, parent / "link");
  BOOST_TEST(told(parent / "link") == describe(DirectoryFault::not_a_directory));
  fs::create_directory_symlink(parent, top.path() / "linked");
  BOOST_TEST(told(top.path() / "linked" / "run") == describe(DirectoryFault::parent_not_a_directory));
}

BOOST_AUTO_TEST_CASE(a_directory_of_another_user, *boost::unit_test::precondition(needs_root)) {
  BOOST_REQUIRE(chown(run.c_str(), kOtherUser, kOtherUser) == 0);
  BOOST_TEST(told(run) == describe(DirectoryFault::another_users));
  BOOST_REQUIRE(chown(run.c_str(), 0, 0) == 0);
  BOOST_REQUIRE(chown(parent.c_str(), kOtherUser, kOtherUser) == 0);
  BOOST_TEST(told(run) == describe(DirectoryFault::parent_is_another_users));
}

// Root could read an ordinary user's memory anyway, but not every process of root should get it.
BOOST_AUTO_TEST_CASE(roots_directory_as_another_user_sees_it, *boost::unit_test::precondition(needs_root)) {
  for (const fs::path& path : {top.path(), parent, run}) set_mode(path, 0755);
  BOOST_TEST(as_other_user([&] { return static_cast<int>(check_run_directory(run.c_str())); }) ==
             static_cast<int>(DirectoryFault::another_users));
  BOOST_REQUIRE(chown(run.c_str(), kOtherUser, kOtherUser) == 0);
  BOOST_TEST(as_other_user([&] { return static_cast<int>(check_run_directory(run.c_str())); }) ==
             static_cast<int>(DirectoryFault::none));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::trust::test
