// What waits for a program to read it: in order, bounded, and on its account as long as it is there.
#include "device_model/control/umad/unread_packets.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device_model/control/loop/message_socket.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control::test {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::ptrdiff_t kHeader = 64;

struct Unread {
  Unread() {
    std::array<int, 2> ends{};
    BOOST_REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0);
    node = memory::Descriptor(ends[0]);
    program = memory::Descriptor(ends[1]);
    packets.emplace(loop, node.get(), account, "urnic0", [this] { packets->hand_over(); });
  }
  static Allowances allowances() {
    Allowances allowances;
    allowances.fill({100 * kMiB, 1000 * kMiB});
    return allowances;
  }
  static std::vector<std::byte> packet(std::size_t bytes) {
    std::vector<std::byte> packet(bytes);
    for (std::size_t i = 0; i < bytes; i += 97) packet[i] = static_cast<std::byte>(i / 97);
    return packet;
  }
  // Adds one of that length, in one datagram or several.
  bool add(std::size_t bytes) {
    const auto whole = packet(bytes);
    if (bytes <= abi::kMaxUmadPacket) return packets->add(whole);
    return packets->add(std::span(whole).first(kHeader), {whole.begin() + kHeader, whole.end()});
  }
  // Lets the stream go on.
  void turn() {
    turn_ends.set(std::chrono::nanoseconds(0));
    loop.run();
  }
  // The next packet's beginning, and the descriptor that comes with it.
  std::vector<std::byte> read_beginning(memory::Descriptor& rest) {
    std::vector<std::byte> bytes(abi::kMaxUmadPacket);
    std::vector<memory::Descriptor> descriptors;
    int flags = 0;
    const ssize_t length = receive_bytes(program.get(), bytes, descriptors, flags);
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
    if (!descriptors.empty()) rest = std::move(descriptors[0]);
    return bytes;
  }
  // To its end, or as much as comes in so many turns.
  void read_rest(const memory::Descriptor& rest, std::vector<std::byte>& bytes, int turns = 1000) {
    std::array<std::byte, 50'000> portion;
    while (turns-- > 0) {
      const ssize_t got = recv(rest.get(), portion.data(), portion.size(), MSG_DONTWAIT);
      if (got == 0) return;
      bytes.insert(bytes.end(), portion.begin(), portion.begin() + std::max<ssize_t>(got, 0));
      turn();
    }
  }
  // As the kernel stand-in does.
  std::vector<std::byte> read() {
    memory::Descriptor rest;
    auto bytes = read_beginning(rest);
    if (rest) read_rest(rest, bytes);
    return bytes;
  }
  std::uint64_t used() const { return quotas.used(Resource::memory); }

  EventLoop loop;
  Timer turn_ends{loop, [this] { loop.stop(); }};
  Quotas quotas{allowances()};
  std::shared_ptr<Account> account = quotas.account(1);
  memory::Descriptor node;
  memory::Descriptor program;
  std::optional<UnreadPackets> packets;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(unread_packets, Unread)

BOOST_AUTO_TEST_CASE(packets_of_all_lengths_come_in_order) {
  const std::size_t lengths[] = {320, 321, 3 * kMiB, 100, kMiB, 312};
  for (const std::size_t length : lengths) BOOST_TEST(add(length));
  BOOST_TEST(!packets->awaits_room());  // but for the long one to be read
  for (const std::size_t length : lengths) {
    BOOST_TEST((read() == packet(length)));
  }
  BOOST_TEST(!packets->awaits_room());
  BOOST_TEST(used() == 0u);
}

BOOST_AUTO_TEST_CASE(a_long_packet_is_on_the_account_until_it_is_read) {
  BOOST_TEST(add(3 * kMiB));
  BOOST_TEST(used() == 3 * kMiB);
  BOOST_TEST(add(2 * kMiB));
  BOOST_TEST(used() == 5 * kMiB);
  read();
  BOOST_TEST(used() == 2 * kMiB);
  packets.reset();
  BOOST_TEST(used() == 0u);
}

// Or its child of fork.
BOOST_AUTO_TEST_CASE(a_program_that_keeps_the_descriptor_keeps_no_memory) {
  BOOST_TEST(add(3 * kMiB));
  BOOST_TEST(add(2 * kMiB));
  memory::Descriptor rest;
  auto bytes = read_beginning(rest);
  read_rest(rest, bytes, 10);
  memory::Descriptor next;
  BOOST_TEST(read_beginning(next).empty());
  BOOST_TEST(used() == 5 * kMiB);
  read_rest(rest, bytes);
  BOOST_TEST(bytes.size() == 3 * kMiB);
  BOOST_TEST(used() == 2 * kMiB);
  BOOST_TEST(read().size() == 2 * kMiB);
}

BOOST_AUTO_TEST_CASE(what_a_program_shuts_down_and_does_not_read_is_on_its_account) {
  BOOST_TEST(add(3 * kMiB));
  memory::Descriptor rest;
  read_beginning(rest);
  BOOST_REQUIRE(shutdown(rest.get(), SHUT_RDWR) == 0);
  for (int i = 0; i < 3; ++i) turn();
  BOOST_TEST(used() == 3 * kMiB);
  rest.reset();
  turn();
  BOOST_TEST(used() == 0u);
}

// A descriptor that nobody takes out is closed with the stream, by the control thread: one of a socket that
// lingers would stop it.
BOOST_AUTO_TEST_CASE(a_program_can_send_nothing_by_the_stream) {
  BOOST_TEST(add(3 * kMiB));
  memory::Descriptor rest;
  read_beginning(rest);
  const std::byte byte{};
  BOOST_TEST(send(rest.get(), &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == -1);
  BOOST_TEST(errno == EPIPE);
}

// It was killed, or had no more room.
BOOST_AUTO_TEST_CASE(the_next_reader_of_a_node_does_not_wait_for_one_that_is_gone) {
  for (const int turns : {0, 3}) {
    BOOST_TEST(add(3 * kMiB));
    BOOST_TEST(add(2 * kMiB));
    memory::Descriptor rest;
    auto bytes = read_beginning(rest);
    read_rest(rest, bytes, turns);
    rest.reset();
    for (int i = 0; i < 3; ++i) turn();
    BOOST_TEST((read() == packet(2 * kMiB)));
    BOOST_TEST(used() == 0u);
  }
}

BOOST_AUTO_TEST_CASE(a_message_that_has_grown_costs_what_it_takes) {
  std::vector<std::byte> message(100'000);
  message.reserve(5 * kMiB);
  BOOST_TEST(packets->add(std::array<std::byte, kHeader>{}, std::move(message)));
  BOOST_TEST(used() == 5 * kMiB);
}

// Before the loop has heard of it.
BOOST_AUTO_TEST_CASE(what_is_read_makes_room_at_once) {
  const Charge most = account->charge(Resource::memory, 98 * kMiB);
  for (int i = 0; i < 3; ++i) {
    std::vector<std::byte> message(100'000);
    message.reserve(2 * kMiB);
    BOOST_TEST(packets->add(std::array<std::byte, kHeader>{}, std::move(message)));
    memory::Descriptor rest;
    std::vector<std::byte> bytes(100'000);
    read_beginning(rest);
    BOOST_TEST(recv(rest.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) == 100'000 - 256);
  }
}

BOOST_AUTO_TEST_CASE(what_nobody_reads_has_a_bound) {
  constexpr std::size_t kLength = 10 * kMiB;
  std::size_t added = 0;
  while (added < 10 && add(kLength)) ++added;
  BOOST_TEST(added == UnreadPackets::kMostHeld / kLength);
  BOOST_TEST(used() == added * kLength);
  // Short ones are not in their way.
  BOOST_TEST(add(320));
  for (std::size_t i = 0; i < added; ++i) {
    BOOST_TEST(read().size() == kLength);
  }
  BOOST_TEST(read().size() == 320u);
}

BOOST_AUTO_TEST_CASE(a_program_that_has_no_memory_left_loses_long_packets) {
  const Charge all = account->charge(Resource::memory, 99 * kMiB);
  BOOST_TEST(!add(2 * kMiB));
  BOOST_TEST(add(kMiB));
  BOOST_TEST(add(320));
  BOOST_TEST(read().size() == kMiB);
}

// Only what a program has asked for is refused.
BOOST_AUTO_TEST_CASE(held_memory_is_as_before_if_there_is_not_enough) {
  HeldMemory memory(account, 200 * kMiB);
  BOOST_TEST(memory.hold(60 * kMiB));
  BOOST_TEST(!memory.hold(101 * kMiB));
  BOOST_TEST(quotas.refusals() == 0u);
  BOOST_TEST(!memory.hold_as_asked(101 * kMiB));
  BOOST_TEST(quotas.refusals() == 1u);
  BOOST_TEST(!memory.hold_as_asked(201 * kMiB));
  BOOST_TEST(quotas.refusals() == 1u);
  BOOST_TEST(used() == 60 * kMiB);
  BOOST_TEST(memory.hold(1));
  BOOST_TEST(used() == kMiB);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
