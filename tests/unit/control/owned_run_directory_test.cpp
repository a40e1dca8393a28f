#include "device_model/control/owned_run_directory.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <memory>
#include <thread>

#include "device_model/abi/run_directory_layout.hpp"
#include "device_model/control/loop/event_loop.hpp"
#include "device_model/control/loop/listening_socket.hpp"
#include "tests/unit/control/temporary_directory.hpp"

namespace urnic::control::test {
namespace {

namespace fs = std::filesystem;

struct WithParent {
  TemporaryDirectory parent;
  fs::path path = parent.path() / "run";

  std::string error_of(const fs::path& directory) {
    try {
      OwnedRunDirectory run(directory);
    } catch (const RunDirectoryError& error) {
      return error.what();
    }
    return "no error";
  }
  void touch(const fs::path& file) { std::ofstream(file) << "x"; }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

BOOST_FIXTURE_TEST_SUITE(run_directory, WithParent)

BOOST_AUTO_TEST_CASE(it_is_for_its_owner_alone_and_goes_at_the_end) {
  {
    const OwnedRunDirectory run(path / "deeper");
    struct stat status {};
    for (const fs::path& folder : {path, path / "deeper", run.device_nodes()}) {
      BOOST_REQUIRE(stat(folder.c_str(), &status) == 0);
      BOOST_TEST((status.st_mode & 0777) == 0700u, folder);
    }
    BOOST_TEST(contents(run.path() / abi::kPidFile) == std::to_string(getpid()) + "\n");
  }
  BOOST_TEST(!fs::exists(path / "deeper"));
}

BOOST_AUTO_TEST_CASE(two_processes_do_not_share_it) {
  const OwnedRunDirectory run(path);
  EventLoop loop;
  DescriptorDisposal disposal;
  const ListeningSocket socket(loop, disposal, run.admin_socket(), SOCK_STREAM, [](memory::Descriptor) {});
  const std::string error = error_of(path);
  BOOST_TEST(contains(error, "pid " + std::to_string(getpid())));
  BOOST_TEST(contains(error, path.string()));
  BOOST_TEST(contains(error, "urnic down"));
  BOOST_TEST(fs::exists(run.admin_socket()));  // the loser has taken nothing away
}

// One command's device process ends while the next one's starts.
BOOST_AUTO_TEST_CASE(a_process_on_its_way_out_is_waited_for) {
  for (int tries = 0; tries < 50; ++tries) {
    auto first = std::make_unique<OwnedRunDirectory>(path);
    std::string error;
    std::thread second([&] { error = error_of(path); });
    first.reset();
    second.join();
    BOOST_TEST(error == "no error");
    BOOST_TEST(!fs::exists(path));
  }
}

// A process that is killed leaves its files.
BOOST_AUTO_TEST_CASE(what_a_dead_process_left_is_cleaned) {
  const pid_t child = fork();
  if (child == 0) {
    OwnedRunDirectory run(path);
    touch(run.admin_socket());
    touch(run.log_file());
    touch(run.device_nodes() / "uverbs0");
    fs::create_directories(run.sysfs() / "class" / "infiniband");
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  BOOST_REQUIRE(fs::exists(path / "dev" / "uverbs0"));
  const OwnedRunDirectory run(path);
  BOOST_TEST(!fs::exists(run.admin_socket()));
  BOOST_TEST(!fs::exists(run.log_file()));
  BOOST_TEST(!fs::exists(run.sysfs()));
  BOOST_TEST(fs::is_empty(run.device_nodes()));
}

BOOST_AUTO_TEST_CASE(a_directory_with_something_else_in_it_is_refused) {
  fs::create_directory(path);
  touch(path / "thesis.tex");
  touch(path / abi::kAdminSocket);
  const std::string error = error_of(path);
  BOOST_TEST(contains(error, "thesis.tex"));
  BOOST_TEST(contains(error, "URNIC_DIR"));
  BOOST_TEST(fs::exists(path / "thesis.tex"));
  BOOST_TEST(fs::exists(path / abi::kAdminSocket));
}

BOOST_AUTO_TEST_CASE(links_are_not_followed_when_cleaning) {
  const fs::path precious = parent.path() / "precious";
  fs::create_directory(precious);
  touch(precious / "file");
  fs::create_directory(path);
  fs::create_directory_symlink(precious, path / abi::kSysfs);
  fs::create_directory_symlink(precious, path / abi::kDeviceNodes);
  { const OwnedRunDirectory run(path); }
  BOOST_TEST(fs::exists(precious / "file"));
}

BOOST_AUTO_TEST_CASE(names_too_long_for_sockets_are_refused) {
  const fs::path longest =
      parent.path() / std::string(abi::kMaxRunDirectoryLength - parent.path().native().size() - 1, 'x');
  BOOST_TEST(error_of(longest) == "no error");
  const std::string error = error_of(longest.string() + "x");
  BOOST_TEST(contains(error, "91 characters"));
  BOOST_TEST(contains(error, "URNIC_DIR"));
  BOOST_TEST(!fs::exists(longest.string() + "x"));
}

BOOST_AUTO_TEST_CASE(the_longest_name_has_room_for_its_sockets) {
  const std::string longest(abi::kMaxRunDirectoryLength, 'x');
  sockaddr_un address{};
  BOOST_TEST((longest + "/" + abi::kDeviceNodes + "/uverbs255").size() < sizeof address.sun_path);
  BOOST_TEST((longest + "/" + abi::kAdminSocket).size() < sizeof address.sun_path);
}

BOOST_AUTO_TEST_CASE(a_file_of_that_name_is_refused) {
  touch(path);
  BOOST_TEST(contains(error_of(path), path.string()));
}

BOOST_AUTO_TEST_CASE(a_directory_that_others_may_write_to_is_no_place_for_it) {
  const fs::path open_to_all = parent.path() / "open";
  fs::create_directory(open_to_all);
  if (geteuid() == 0) {
    BOOST_REQUIRE(chown(open_to_all.c_str(), 65534, 65534) == 0);
    BOOST_TEST(contains(error_of(open_to_all / "run"), "another user"));
    BOOST_TEST(contains(error_of(open_to_all), "another user"));
  }
}

// The mode of a directory elsewhere is nobody's to change.
BOOST_AUTO_TEST_CASE(no_symbolic_link_is_followed_to_it) {
  const fs::path elsewhere = parent.path() / "elsewhere";
  fs::create_directories(elsewhere / "run");
  fs::permissions(elsewhere / "run", fs::perms{0755});
  fs::create_directory_symlink(elsewhere, parent.path() / "parent");
  fs::create_directory_symlink(elsewhere / "run", path);
  BOOST_TEST(contains(error_of(parent.path() / "parent" / "run"), "symbolic link"));
  BOOST_TEST(error_of(path) != "no error");
  BOOST_TEST((fs::status(elsewhere / "run").permissions() == fs::perms{0755}));
}

BOOST_AUTO_TEST_CASE(a_directory_with_other_things_in_it_keeps_its_mode) {
  fs::create_directory(path);
  fs::permissions(path, fs::perms{0755});
  touch(path / "thesis.tex");
  BOOST_TEST(contains(error_of(path), "thesis.tex"));
  BOOST_TEST((fs::status(path).permissions() == fs::perms{0755}));
}

BOOST_AUTO_TEST_CASE(where_others_may_replace_it_is_no_place_for_it) {
  const fs::path open_to_all = parent.path() / "open";
  fs::create_directory(open_to_all);
  fs::permissions(open_to_all, fs::perms{0777});
  BOOST_TEST(contains(error_of(open_to_all / "run"), "may replace it"));
  fs::permissions(open_to_all, fs::perms{0777} | fs::perms::sticky_bit);
  BOOST_TEST(error_of(open_to_all / "run") == "no error");
}

// Its directory was removed, and another device process has made one of the same name.
BOOST_AUTO_TEST_CASE(only_its_own_is_removed_at_the_end) {
  auto first = std::make_unique<OwnedRunDirectory>(path);
  fs::remove_all(path);
  const OwnedRunDirectory second(path);
  first.reset();
  BOOST_TEST(fs::exists(path / abi::kPidFile));
  BOOST_TEST(fs::exists(second.device_nodes()));
}

BOOST_AUTO_TEST_CASE(the_log_is_kept_when_asked) {
  {
    OwnedRunDirectory run(path);
    touch(run.log_file());
    run.keep_log();
  }
  BOOST_TEST(fs::exists(path / abi::kLogFile));
  BOOST_TEST(!fs::exists(path / abi::kPidFile));
  { const OwnedRunDirectory again(path); }
  BOOST_TEST(!fs::exists(path));
}

BOOST_AUTO_TEST_CASE(relative_names_become_absolute) {
  const fs::path before = fs::current_path();
  fs::current_path(parent.path());
  {
    const OwnedRunDirectory run("./here/");
    BOOST_TEST(run.path() == parent.path() / "here");
  }
  fs::current_path(before);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::control::test
