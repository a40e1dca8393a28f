// Which way is chosen, and the message if none works.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "device_model/abi/mem_file_position.hpp"
#include "device_model/memory/mem_file_memory.hpp"
#include "tests/unit/memory/child_process.hpp"

namespace urnic::memory::test {

namespace open_process_memory_choice {

constexpr const char* kByNumber = "process_vm_readv";
constexpr const char* kByMemFile = "/proc/PID/mem";

char first_byte(ApplicationMemory& memory, const Pages& pages) {
  std::byte byte{};
  Transfer batch[] = {{pages.address(0), {&byte, 1}}};
  memory.read(batch);
  return batch[0].failed ? '!' : static_cast<char>(byte);
}

struct Fixture {
  Pages pages{1};
  ChildProcess child{[this] { pages.page(0)[0] = std::byte{'O'}; },
                     [](char) { return prctl(PR_SET_DUMPABLE, 0) == 0 ? 'r' : 'x'; }};
  std::string problem;
};

// Runs `check` in a process without privileges and returns its result.
template <class Check>
int as_nobody(Check check) {
  constexpr uid_t kNobody = 65534;
  const pid_t pid = fork();
  if (pid == 0) {
    if (geteuid() == 0 && setresuid(kNobody, kNobody, kNobody) != 0) _exit(100);
    _exit(check());
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 101;
}

// Mounts a second procfs, over /mnt of a new mount namespace, as a container does.
void mount_another_proc() {
  const bool mounted = unshare(CLONE_NEWNS) == 0 &&
                       mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                       mount("proc", "/mnt", "proc", 0, nullptr) == 0;
  if (!mounted) BOOST_TEST_MESSAGE("another /proc cannot be mounted here");
}

// This process's mem file, opened in the /proc that `owner` has mounted; empty if that is not allowed.
Descriptor mem_of_another_proc(pid_t owner) {
  const std::string path = "/proc/" + std::to_string(owner) + "/root/mnt/self/mem";
  return Descriptor(open(path.c_str(), O_RDWR | O_CLOEXEC));
}

}  // namespace open_process_memory_choice

BOOST_FIXTURE_TEST_SUITE(open_process_memory_choice, Fixture)

BOOST_AUTO_TEST_CASE(prefers_the_process_number) {
  auto memory = open_process_memory(child.pid(), child.open_pidfd(), child.open_mem(), problem);
  BOOST_REQUIRE(memory);
  BOOST_TEST(std::string(memory->way()) == kByNumber);
  BOOST_TEST(memory->heeds_page_protection());
  BOOST_TEST(first_byte(*memory, pages) == 'O');
  BOOST_TEST(problem.empty());
}

BOOST_AUTO_TEST_CASE(a_hidden_number_leaves_the_mem_file) {
  auto memory = open_process_memory(0, child.open_pidfd(), child.open_mem(), problem);
  BOOST_REQUIRE(memory);
  BOOST_TEST(std::string(memory->way()) == kByMemFile);
  BOOST_TEST(!memory->heeds_page_protection());
  BOOST_TEST(first_byte(*memory, pages) == 'O');
}

BOOST_AUTO_TEST_CASE(a_number_that_is_not_the_pidfds_is_not_used) {
  ChildProcess stranger([this] { pages.page(0)[0] = std::byte{'S'}; });
  auto memory = open_process_memory(stranger.pid(), child.open_pidfd(), child.open_mem(), problem);
  BOOST_REQUIRE(memory);
  BOOST_TEST(std::string(memory->way()) == kByMemFile);
  BOOST_TEST(first_byte(*memory, pages) == 'O');
}

// A process can open a pidfd of any process; it must not thereby make the device reach that process's memory.
BOOST_AUTO_TEST_CASE(a_pidfd_of_somebody_else_proves_nothing) {
  ChildProcess victim([this] { pages.page(0)[0] = std::byte{'V'}; });
  auto memory = open_process_memory(victim.pid(), victim.open_pidfd(), child.open_mem(), problem);
  BOOST_REQUIRE(memory);
  BOOST_TEST(std::string(memory->way()) == kByMemFile);
  BOOST_TEST(first_byte(*memory, pages) == 'O');
  BOOST_TEST(!open_process_memory(victim.pid(), victim.open_pidfd(), Descriptor(), problem));
}

BOOST_AUTO_TEST_CASE(a_mem_file_tells_its_number) {
  BOOST_TEST(mem_file_number(child.open_mem().get()) == child.pid());
  const std::string by_thread =
      "/proc/" + std::to_string(child.pid()) + "/task/" + std::to_string(child.pid()) + "/mem";
  BOOST_TEST(mem_file_number(Descriptor(open(by_thread.c_str(), O_RDWR)).get()) == child.pid());
  BOOST_TEST(mem_file_number(Descriptor(open("/proc/self/mem", O_RDWR)).get()) == getpid());
  BOOST_TEST(mem_file_number(Descriptor(open("/proc/sys/vm/overcommit_memory", O_RDONLY)).get()) == 0);
  BOOST_TEST(mem_file_number(Descriptor(open("/dev/null", O_RDWR)).get()) == 0);
  BOOST_TEST(mem_file_number(-1) == 0);
}

// As in a container: numbers of its /proc have another meaning here.
BOOST_AUTO_TEST_CASE(a_mem_file_of_another_proc_tells_no_number) {
  const ChildProcess container(mount_another_proc);
  const Descriptor other = mem_of_another_proc(container.pid());
  if (!other) {
    BOOST_TEST_MESSAGE("another /proc cannot be mounted here");
    return;
  }
  BOOST_TEST(is_mem_file(other.get(), container.pid()));
  BOOST_TEST(!is_mem_file(other.get()));  // without an owner, its mounts are not known
  BOOST_TEST(mem_file_number(other.get()) == 0);
  // As the plugin hands it over.
  BOOST_TEST(lseek(other.get(), abi::kMemFilePosition, SEEK_SET) == abi::kMemFilePosition);
  BOOST_TEST(is_mem_file(other.get()));
  BOOST_TEST(mem_file_number(other.get()) == 0);
}

BOOST_AUTO_TEST_CASE(no_way_is_explained_with_a_cure_on_one_line) {
  auto memory = open_process_memory(child.pid(), child.open_pidfd(), Descriptor(), problem);
  BOOST_TEST(!memory);
  BOOST_TEST(problem.find("cannot reach the memory of process " + std::to_string(child.pid())) == 0);
  BOOST_TEST(problem.find("cure:") != std::string::npos);
  BOOST_TEST(problem.find('\n') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_process_that_ended_is_said_to_have_ended) {
  const pid_t pid = child.pid();
  Descriptor pidfd = child.open_pidfd();
  Descriptor mem = child.open_mem();
  child.kill_and_reap();
  BOOST_TEST(!open_process_memory(pid, std::move(pidfd), std::move(mem), problem));
  BOOST_TEST(problem.find("ended") != std::string::npos);
}

// Descriptors that a hostile process could hand over instead, to block the engine's reads.
BOOST_AUTO_TEST_CASE(other_files_are_no_mem_files) {
  int ends[2];
  BOOST_REQUIRE(pipe(ends) == 0);
  const Descriptor reading(ends[0]);
  const Descriptor writing(ends[1]);
  const Descriptor other_proc_file(open("/proc/self/maps", O_RDONLY));
  const Descriptor comm(open("/proc/self/comm", O_RDWR));
  const Descriptor read_only_mem(open("/proc/self/mem", O_RDONLY));
  const Descriptor path_only(open("/proc/self/mem", O_PATH));
  const Descriptor directory(open("/proc/self", O_RDONLY));
  for (const Descriptor* file :
       {&reading, &writing, &other_proc_file, &comm, &read_only_mem, &path_only, &directory}) {
    BOOST_REQUIRE(*file);
    BOOST_TEST(!is_mem_file(file->get()));
  }
  BOOST_TEST(!is_mem_file(-1));
  // The right name in another file system.
  std::string folder = std::filesystem::temp_directory_path() / "urnic-mem-test-XXXXXX";
  BOOST_REQUIRE(mkdtemp(folder.data()) != nullptr);
  const std::string named = folder + "/mem";
  const Descriptor plain(open(named.c_str(), O_RDWR | O_CREAT, 0600));
  BOOST_TEST(!is_mem_file(plain.get()));
  BOOST_TEST(lseek(plain.get(), abi::kMemFilePosition, SEEK_SET) == -1);
  BOOST_TEST(lseek(plain.get(), -1, SEEK_CUR) == -1);
  BOOST_TEST(!is_mem_file(plain.get()));
  unlink(named.c_str());
  rmdir(folder.c_str());
  BOOST_TEST(is_mem_file(child.open_mem().get()));
}

BOOST_AUTO_TEST_CASE(a_pipe_for_a_mem_file_is_not_read) {
  int ends[2];
  BOOST_REQUIRE(pipe(ends) == 0);
  const Descriptor writing(ends[1]);
  BOOST_TEST(!open_process_memory(0, child.open_pidfd(), Descriptor(ends[0]), problem));
}

// The kernel lets no unprivileged process access the memory of one that may not be dumped (PR_SET_DUMPABLE),
// by the check that Yama and user numbers use too.
BOOST_AUTO_TEST_CASE(refusal_leaves_the_mem_file_that_was_handed_over) {
  Descriptor mem = child.open_mem();
  Descriptor pidfd = child.open_pidfd();
  BOOST_REQUIRE(child.command('d') == 'r');
  const int result = as_nobody([&] {
    auto memory = open_process_memory(child.pid(), std::move(pidfd), std::move(mem), problem);
    if (!memory) return 1;
    if (std::strcmp(memory->way(), kByMemFile) != 0) return 2;
    return first_byte(*memory, pages) == 'O' ? 0 : 3;
  });
  BOOST_TEST(result == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::memory::test
