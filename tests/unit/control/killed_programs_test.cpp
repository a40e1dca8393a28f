// Programs that end without a word take their objects with them and nothing else.
#include <malloc.h>
#include <sys/wait.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "json/json.hpp"
#include "tests/unit/control/admin_program.hpp"
#include "tests/unit/control/socket_program.hpp"
#include "tests/unit/sanitized.hpp"

namespace urnic::control::test {
namespace {

constexpr std::uint32_t kTransfer = 1 << 20;

// With a sanitizer a thousand take minutes.
constexpr std::size_t kPrograms = kSanitized ? 200 : 1000;
// Mappings that the allocator may have made for itself meanwhile: a sanitizer's makes many.
constexpr std::size_t kOfAllocator = kSanitized ? 100 : 4;

// What the device process, which is this process, has open.
struct Belongings {
  std::ptrdiff_t descriptors = 0;
  std::size_t mapped_files = 0;
  std::size_t anonymous_mappings = 0;
  std::size_t heap = 0;
};

Belongings belongings() {
  Belongings found;
  found.descriptors = std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  found.heap = mallinfo2().uordblks;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    ++(line.find('/') == std::string::npos ? found.anonymous_mappings : found.mapped_files);
  }
  return found;
}

void wait_until_contexts(AdminProgram& admin, std::size_t wanted) {
  while (admin.ask({{"cmd", "status"}}).at("contexts").size() != wanted) sched_yield();
}

// Starts a program that writes to itself without end, and kills it in the middle.
void run_and_kill(const std::filesystem::path& node) {
  std::array<int, 2> started{};
  BOOST_REQUIRE(pipe2(started.data(), O_CLOEXEC) == 0);
  const memory::Descriptor reading(started[0]);
  memory::Descriptor writing(started[1]);
  const pid_t child = fork();
  if (child == 0) {
    try {
      SocketProgram program(node);
      std::vector<std::byte> memory(2 * kTransfer);
      program.make_loopback(memory.data(), memory.size());
      for (int i = 0; i < 8; ++i) program.post_write(kTransfer);
      [[maybe_unused]] const ssize_t told = write(started[1], "x", 1);
      pause();
    } catch (...) {
    }
    _exit(1);
  }
  writing.reset();
  char byte = 0;
  BOOST_REQUIRE_EQUAL(read(reading.get(), &byte, 1), 1);
  BOOST_REQUIRE_EQUAL(kill(child, SIGKILL), 0);
  waitpid(child, nullptr, 0);
}

BOOST_AUTO_TEST_SUITE(killed_programs)

BOOST_AUTO_TEST_CASE(many_killed_programs_leave_nothing_behind) {
  RunningProcess process;
  AdminProgram admin(process);
  SocketProgram bystander(process.node(0));
  std::vector<std::byte> memory(2 * 4096, std::byte{7});
  bystander.make_loopback(memory.data(), memory.size());

  const auto round = [&] {
    run_and_kill(process.node(0));
    wait_until_contexts(admin, 1);
  };
  for (int i = 0; i < 50; ++i) round();  // caches and pools fill
  poll(nullptr, 0, 100);
  const Belongings before = belongings();
  for (std::size_t i = 0; i < kPrograms; ++i) round();
  Belongings after = belongings();
  // Sockets are closed on a thread that nobody waits for (descriptor_disposal.hpp).
  for (int i = 0; i < 1000 && after.descriptors != before.descriptors; ++i) {
    poll(nullptr, 0, 10);
    after = belongings();
  }
  BOOST_TEST(after.descriptors == before.descriptors);
  BOOST_TEST(after.mapped_files == before.mapped_files);
  BOOST_TEST(after.anonymous_mappings <= before.anonymous_mappings + kOfAllocator);
  BOOST_TEST(after.heap <= before.heap + 64 * 1024);

  bystander.post_write(4096);
  BOOST_TEST(bystander.next_status() == IBV_WC_SUCCESS);
  const auto status = admin.ask({{"cmd", "status"}});
  BOOST_TEST(status.at("contexts")[0].at("objects").at("qp") == 1);
}

BOOST_AUTO_TEST_CASE(nonsense_costs_the_sender_its_connection_only) {
  RunningProcess process;
  SocketProgram good(process.node(0));
  for (const std::size_t size : {std::size_t{1}, std::size_t{16}, std::size_t{1024}, std::size_t{5000}}) {
    const memory::Descriptor bad = connect_to(process.node(0), SOCK_SEQPACKET);
    BOOST_REQUIRE(send_message(bad.get(), std::vector<std::byte>(size, std::byte{0x5A}), {}));
    char byte = 0;
    BOOST_TEST(recv(bad.get(), &byte, 1, 0) <= 0);
  }
  abi::HandleReply pd{};
  BOOST_TEST(good.call(abi::ControlOpcode::allocate_pd, abi::Empty{}, pd) == 0);
}

BOOST_AUTO_TEST_CASE(the_end_of_the_device_process_closes_every_connection) {
  RunningProcess process;
  SocketProgram program(process.node(0));
  std::vector<std::byte> memory(2 * kTransfer);
  program.make_loopback(memory.data(), memory.size());
  program.post_write(kTransfer);
  process.end();
  char byte = 0;
  BOOST_TEST(recv(program.descriptor(), &byte, 1, 0) <= 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::control::test
