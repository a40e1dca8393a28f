// The default run directory: never one that another user has made.
#define BOOST_TEST_DYN_LINK
#include "trust/default_directory.hpp"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <optional>
#include <string>

#include "device_model/abi/run_directory_layout.hpp"
#include "tests/unit/control/temporary_directory.hpp"
#include "tests/unit/trust/other_user.hpp"

namespace urnic::trust::test {
namespace {

namespace fs = std::filesystem;

// Sets an environment variable to another value (null: unsets it) for as long as this lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) {
    if (value == nullptr) {
      unsetenv(name_);
    } else {
      setenv(name_, value, 1);
    }
  }

  const char* name_;
  std::optional<std::string> before_;
};

struct RuntimeDirectory : Variable {
  explicit RuntimeDirectory(const char* value) : Variable("XDG_RUNTIME_DIR", value) {}
};

// Writes to `note`, in a child process, where the other user's run directory would be, and returns that.
std::string others_directory(const fs::path& note) {
  const int status = as_other_user([&] {
    std::ofstream(note) << default_run_directory("lab").string();
    return 0;
  });
  return status == 0 ? control::test::contents(note) : "the child failed";
}

BOOST_AUTO_TEST_SUITE(default_directory)

BOOST_AUTO_TEST_CASE(the_runtime_directory_of_this_user) {
  const control::test::TemporaryDirectory runtime;
  for (const char* end : {"", "/"}) {
    const RuntimeDirectory variable((runtime.path().string() + end).c_str());
    BOOST_TEST(default_run_directory("lab") == runtime.path() / "urnic" / "lab");
  }
}

BOOST_AUTO_TEST_CASE(a_directory_that_the_environment_names_is_taken_as_it_is) {
  const control::test::TemporaryDirectory runtime;
  const RuntimeDirectory variable(runtime.path().c_str());
  const Variable named(abi::kRunDirectoryVariable, "some/where");
  BOOST_TEST(chosen_run_directory() == "some/where");
  for (const char* none : {static_cast<const char*>(nullptr), ""}) {
    const Variable unnamed(abi::kRunDirectoryVariable, none);
    BOOST_TEST(chosen_run_directory() == runtime.path() / "urnic" / "default");
  }
}

BOOST_AUTO_TEST_CASE(a_runtime_directory_that_others_may_write) {
  const control::test::TemporaryDirectory runtime;
  fs::permissions(runtime.path(), fs::perms{0770});
  const RuntimeDirectory variable(runtime.path().c_str());
  BOOST_TEST(default_run_directory("lab") != runtime.path() / "urnic" / "lab");
}

// As after `sudo -E`.
BOOST_AUTO_TEST_CASE(the_runtime_directory_of_another_user, *boost::unit_test::precondition(needs_root)) {
  const control::test::TemporaryDirectory runtime;
  BOOST_REQUIRE(chown(runtime.path().c_str(), kOtherUser, kOtherUser) == 0);
  const RuntimeDirectory variable(runtime.path().c_str());
  BOOST_TEST(default_run_directory("lab") != runtime.path() / "urnic" / "lab");
}

BOOST_AUTO_TEST_CASE(without_a_runtime_directory_one_is_found_again,
                     *boost::unit_test::precondition(needs_root)) {
  const RuntimeDirectory variable(nullptr);
  const control::test::TemporaryDirectory notes;
  fs::permissions(notes.path(), fs::perms{0777});
  // A directory that an attacker has made before, with the first name in the order.
  const fs::path occupied = "/tmp/urnic-" + std::to_string(kOtherUser) + ".000000";
  fs::remove_all(occupied);
  fs::create_directories(occupied / "lab");
  const fs::path link = "/tmp/urnic-" + std::to_string(kOtherUser) + ".000001";
  fs::remove(link);
  fs::create_directory_symlink(notes.path(), link);

  const fs::path first = others_directory(notes.path() / "first");
  const fs::path second = others_directory(notes.path() / "second");
  BOOST_TEST(first == second);
  BOOST_TEST(first.filename() == "lab");
  BOOST_TEST(first.parent_path() != occupied);
  BOOST_TEST(first.parent_path() != link);
  struct stat status {};
  BOOST_REQUIRE(lstat(first.parent_path().c_str(), &status) == 0);
  BOOST_TEST(status.st_uid == kOtherUser);
  BOOST_TEST((status.st_mode & 07777) == 0700u);
  fs::remove(first.parent_path());
  fs::remove(link);
  fs::remove_all(occupied);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::trust::test
