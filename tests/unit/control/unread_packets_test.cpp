// What waits for a program to read it: in order, bounded, and on its account as long as it is there.
#include "device_model/control/umad/unread_packets.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "device_model/control/loop/message_socket.hpp"
#include "device_model/control/umad/packet_rest.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control::test {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

struct Unread {
  Unread() {
    std::array<int, 2> ends{};
    BOOST_REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0);
    node = memory::Descriptor(ends[0]);
    program = memory::Descriptor(ends[1]);
    packets.emplace(node.get(), account, "urnic0");
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
  // As the kernel stand-in does.
  std::vector<std::byte> read() {
    std::vector<std::byte> bytes(abi::kMaxUmadPacket);
    std::vector<memory::Descriptor> rest;
    int flags = 0;
    const ssize_t length = receive_bytes(program.get(), bytes, rest, flags);
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
    const std::size_t first = bytes.size();
    if (rest.empty()) return bytes;
    bytes.resize(first + rest_bytes(rest[0].get()).value_or(0));
    BOOST_TEST(read_rest(rest[0].get(), std::span(bytes).subspan(first)));
    return bytes;
  }
  std::uint64_t used() const { return quotas.used(Resource::memory); }

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
  for (const std::size_t length : lengths) BOOST_TEST(packets->add(packet(length)));
  BOOST_TEST(packets->awaits_room());
  for (const std::size_t length : lengths) {
    BOOST_TEST((read() == packet(length)));
    packets->hand_over();
  }
  BOOST_TEST(!packets->awaits_room());
  BOOST_TEST(used() == 0u);
}

BOOST_AUTO_TEST_CASE(a_long_packet_is_on_the_account_until_it_is_read) {
  BOOST_TEST(packets->add(packet(3 * kMiB)));
  BOOST_TEST(used() == 3 * kMiB);
  BOOST_TEST(packets->awaits_room());
  BOOST_TEST(packets->add(packet(2 * kMiB)));
  BOOST_TEST(used() == 5 * kMiB);
  read();
  packets->hand_over();
  BOOST_TEST(used() == 2 * kMiB);
  packets.reset();
  BOOST_TEST(used() == 0u);
}

// One is in the socket.
BOOST_AUTO_TEST_CASE(what_nobody_reads_has_a_bound) {
  constexpr std::size_t kLength = 10 * kMiB;
  std::size_t added = 0;
  while (added < 10 && packets->add(packet(kLength))) ++added;
  BOOST_TEST(added == 1 + UnreadPackets::kMostLongBytes / kLength);
  BOOST_TEST(used() == added * kLength);
  // Short ones are not in their way.
  BOOST_TEST(packets->add(packet(320)));
  for (std::size_t i = 0; i < added; ++i) {
    BOOST_TEST(read().size() == kLength);
    packets->hand_over();
  }
  BOOST_TEST(read().size() == 320u);
}

BOOST_AUTO_TEST_CASE(a_program_that_has_no_memory_left_loses_long_packets) {
  const Charge all = account->charge(Resource::memory, 99 * kMiB);
  BOOST_TEST(!packets->add(packet(2 * kMiB)));
  BOOST_TEST(packets->add(packet(kMiB)));
  BOOST_TEST(packets->add(packet(320)));
  BOOST_TEST(read().size() == kMiB);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
