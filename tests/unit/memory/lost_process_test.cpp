// A process number is no identity: what happens when its process ends or becomes another.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "device_model/memory/mem_file_memory.hpp"
#include "device_model/memory/vm_process_memory.hpp"
#include "tests/unit/memory/child_process.hpp"

namespace urnic::memory::test {

namespace {

bool reads(ApplicationMemory& memory, std::uint64_t address, std::byte& byte) {
  Transfer batch[] = {{address, {&byte, 1}}};
  memory.read(batch);
  return !batch[0].failed;
}

// The identity is checked once per tick of the kernel's coarse clock. Several ticks pass within the bound,
// whatever the kernel's tick is; true as soon as the memory refuses.
bool refuses_soon(ApplicationMemory& memory, std::uint64_t address) {
  std::byte byte;
  for (int i = 0; i < 2000; ++i) {
    if (!reads(memory, address, byte)) return true;
    usleep(1000);
  }
  return false;
}

// Waits until the first thread of a process has ended while others have not.
void wait_for_zombie(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  std::string stat;
  for (int i = 0; i < 2000 && stat.find(") Z") == std::string::npos; ++i) {
    usleep(1000);
    std::getline(std::ifstream(path), stat);
  }
  BOOST_REQUIRE(stat.find(") Z") != std::string::npos);
}

// A child that holds a page of 'O' and, when told, executes a program that holds a page of 'N' there.
struct ExecutingChild {
  Pages pages{1};
  ChildProcess child{[this] { std::memset(pages.page(0), 'O', Pages::kBytes); },
                     [this](char) { return become_address_holder(); }};

  char become_address_holder() {
    char address[32];
    std::snprintf(address, sizeof address, "%" PRIx64, pages.address(0));
    char answers[16];
    std::snprintf(answers, sizeof answers, "%d", dup(child.answer_descriptor()));
    execl(URNIC_ADDRESS_HOLDER, "address_holder", address, answers, nullptr);
    return 'x';
  }

  // The byte that the kernel alone would let through: the new program's.
  char byte_behind_the_number() {
    char byte = 0;
    const iovec local{&byte, 1};
    const iovec remote{pages.page(0), 1};
    return process_vm_readv(child.pid(), &local, 1, &remote, 1, 0) == 1 ? byte : 0;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(lost_process)

BOOST_AUTO_TEST_CASE(after_exec_the_new_program_is_not_touched) {
  for (const Way way : kWays) {
    ExecutingChild executing;
    auto memory = reach(executing.child, way);
    std::byte byte{};
    BOOST_REQUIRE(reads(*memory, executing.pages.address(0), byte));
    BOOST_TEST((byte == std::byte{'O'}));
    BOOST_REQUIRE(executing.child.command('e') == 'r');
    BOOST_REQUIRE(executing.byte_behind_the_number() == 'N');
    BOOST_TEST(refuses_soon(*memory, executing.pages.address(0)));
  }
}

// Not a single read succeeds, whatever the clock says.
BOOST_AUTO_TEST_CASE(an_exec_that_was_announced_leads_nowhere) {
  ExecutingChild executing;
  auto memory = reach(executing.child, Way::process_vm);
  memory->keep_to_address_space(true);
  std::byte byte{};
  BOOST_REQUIRE(reads(*memory, executing.pages.address(0), byte));
  BOOST_TEST((byte == std::byte{'O'}));
  executing.child.start('e');
  for (int i = 0; i < 100'000 && executing.byte_behind_the_number() != 'N'; ++i) {
    if (reads(*memory, executing.pages.address(0), byte)) BOOST_REQUIRE((byte == std::byte{'O'}));
  }
  BOOST_REQUIRE(executing.child.finish() == 'r');
  for (int i = 0; i < 1000; ++i) BOOST_REQUIRE(!reads(*memory, executing.pages.address(0), byte));
}

BOOST_AUTO_TEST_CASE(an_exec_in_vain_changes_nothing) {
  ExecutingChild executing;
  auto memory = reach(executing.child, Way::process_vm);
  std::byte byte{};
  for (const bool keep : {true, false}) {
    memory->keep_to_address_space(keep);
    BOOST_REQUIRE(reads(*memory, executing.pages.address(0), byte));
    BOOST_TEST((byte == std::byte{'O'}));
  }
}

BOOST_AUTO_TEST_CASE(a_process_once_lost_stays_lost) {
  ExecutingChild executing;
  auto memory = reach(executing.child, Way::process_vm);
  BOOST_REQUIRE(executing.child.command('e') == 'r');
  BOOST_REQUIRE(refuses_soon(*memory, executing.pages.address(0)));
  std::byte byte;
  for (int i = 0; i < 100; ++i) {
    BOOST_REQUIRE(!reads(*memory, executing.pages.address(0), byte));
    usleep(100);
  }
}

BOOST_AUTO_TEST_CASE(a_dead_process_fails_every_transfer) {
  for (const Way way : kWays) {
    Pages pages(1);
    ChildProcess child([&] { std::memset(pages.page(0), 'O', Pages::kBytes); });
    auto memory = reach(child, way);
    child.kill_and_reap();
    std::byte bytes[3];
    Transfer batch[] = {{pages.address(0), {bytes, 1}},
                        {pages.address(0), {bytes + 1, 1}},
                        {pages.address(0), {bytes + 2, 1}}};
    memory->read(batch);
    for (const Transfer& transfer : batch) BOOST_TEST(transfer.failed);
    memory->write(batch);
    for (const Transfer& transfer : batch) BOOST_TEST(transfer.failed);
  }
}

// The number of the dead process now belongs to another one: played by the dead process's mem file with the
// other's number.
BOOST_AUTO_TEST_CASE(another_process_under_the_same_number_is_not_touched) {
  Pages pages(1);
  const auto prepare = [&] { std::memset(pages.page(0), 'O', Pages::kBytes); };
  ChildProcess dead(prepare);
  ChildProcess successor(prepare);
  Descriptor mem = dead.open_mem();
  BOOST_TEST(address_space_lives(mem.get()));
  dead.kill_and_reap();
  BOOST_TEST(!address_space_lives(mem.get()));
  VmProcessMemory memory(successor.pid(), std::move(mem));
  std::byte byte;
  BOOST_TEST(!reads(memory, pages.address(0), byte));
}

// The main thread has left by pthread_exit and the others work on. To its program and its peers the process
// is whole, but the kernel's calls by number answer ESRCH. (Every process that is killed passes through this
// state, between the end of its first thread and that of its last.)
BOOST_AUTO_TEST_CASE(a_process_whose_first_thread_has_ended_is_still_reached) {
  Pages pages(2);
  const auto leave_a_thread_behind = [&](char) -> char {
    std::thread([] { pause(); }).detach();
    syscall(SYS_exit, 0);
    return 'x';
  };
  for (const bool write : {false, true}) {
    ChildProcess child([&] { std::memset(pages.page(0), 'O', Pages::kBytes); }, leave_a_thread_behind);
    auto memory = reach(child, Way::process_vm);
    child.start('l');
    wait_for_zombie(child.pid());
    std::byte bytes[3] = {};
    Transfer batch[] = {
        {pages.address(0), {bytes, 1}}, {0, {bytes + 1, 1}}, {pages.address(1), {bytes + 2, 1}}};
    write ? memory->write(batch) : memory->read(batch);
    BOOST_TEST(!batch[0].failed);
    BOOST_TEST(batch[1].failed, "nobody maps page 0");
    BOOST_TEST(!batch[2].failed);
    BOOST_TEST((bytes[0] == (write ? std::byte{} : std::byte{'O'})));
    BOOST_TEST(memory->owner_lives());
    child.kill_and_reap();
    BOOST_TEST(!memory->owner_lives());
    BOOST_TEST(!reads(*memory, pages.address(0), bytes[0]));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::memory::test
