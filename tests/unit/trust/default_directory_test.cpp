// The default run directory: never one that another user has made.
#define BOOST_TEST_DYN_LINK
#include "trust/default_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "device_model/abi/run_directory_layout.hpp"
#include "device_model/memory/descriptor.hpp"
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

// Directories with these names, which an attacker has made before.
class Occupied {
 public:
  explicit Occupied(int names) {
    for (int i = 0; i < names; ++i) {
      paths_.push_back("/tmp/urnic-" + std::to_string(kOtherUser) + ".00000" + std::to_string(i));
      fs::remove_all(paths_.back());
      fs::create_directory(paths_.back());
    }
  }
  ~Occupied() {
    for (const fs::path& path : paths_) fs::remove_all(path);
  }
  Occupied(const Occupied&) = delete;
  Occupied& operator=(const Occupied&) = delete;

 private:
  std::vector<fs::path> paths_;
};

BOOST_AUTO_TEST_CASE(commands_that_begin_together_find_the_same_one,
                     *boost::unit_test::precondition(needs_root)) {
  const RuntimeDirectory variable(nullptr);
  for (int round = 0; round < 50; ++round) {
    const Occupied occupied(round % 8);
    const control::test::TemporaryDirectory notes;
    fs::permissions(notes.path(), fs::perms{0777});
    constexpr int kCommands = 8;
    int gate[2];
    BOOST_REQUIRE(pipe2(gate, O_CLOEXEC) == 0);
    const memory::Descriptor waits(gate[0]);
    memory::Descriptor opens(gate[1]);
    std::vector<AsOtherUser> commands;
    for (int i = 0; i < kCommands; ++i)
      commands.emplace_back([&, i] {
        opens.reset();
        char none = 0;
        if (read(waits.get(), &none, 1) != 0) return 1;
        std::ofstream(notes.path() / std::to_string(i)) << default_run_directory("lab").string();
        return 0;
      });
    opens.reset();
    for (const AsOtherUser& command : commands) BOOST_TEST(command.ended() == 0);
    std::set<std::string> found;
    for (int i = 0; i < kCommands; ++i)
      found.insert(control::test::contents(notes.path() / std::to_string(i)));
    BOOST_TEST(found.size() == 1u);
    for (const fs::path directory : found) fs::remove_all(directory.parent_path());
  }
}

BOOST_AUTO_TEST_CASE(all_names_of_the_order_are_taken, *boost::unit_test::precondition(needs_root)) {
  const RuntimeDirectory variable(nullptr);
  const Occupied occupied(8);
  const control::test::TemporaryDirectory notes;
  fs::permissions(notes.path(), fs::perms{0777});
  const fs::path first = others_directory(notes.path() / "first");
  const fs::path second = others_directory(notes.path() / "second");
  BOOST_TEST(first == second);
  BOOST_TEST(first.filename() == "lab");
  fs::remove(first.parent_path());
}

// Anybody can hold a lock on /tmp.
BOOST_AUTO_TEST_CASE(no_lock_of_others_is_waited_for, *boost::unit_test::precondition(needs_root)) {
  const RuntimeDirectory variable(nullptr);
  const control::test::TemporaryDirectory notes;
  fs::permissions(notes.path(), fs::perms{0777});
  const auto shortest = [&] {
    auto span = std::chrono::steady_clock::duration::max();
    for (int i = 0; i < 5; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      others_directory(notes.path() / "found");
      span = std::min(span, std::chrono::steady_clock::now() - begin);
    }
    return span;
  };
  const auto alone = shortest();
  const memory::Descriptor folder(open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  BOOST_REQUIRE(flock(folder.get(), LOCK_EX | LOCK_NB) == 0);
  BOOST_TEST((shortest() < 50 * alone));
  fs::remove(fs::path(others_directory(notes.path() / "found")).parent_path());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::trust::test
