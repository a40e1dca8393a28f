// Commands of every length, with every room for the answer, and with identifiers that are wrong.
#include <array>

#include "device_model/engine/engine.hpp"
#include "tests/unit/rdma_cm/rdma_cm_program.hpp"

namespace urnic::control::rdma_cm::test {

namespace {

// By the kernel's header: the shortest body that is understood, the smallest room for the answer, and where
// the body has the identifier.
struct Layout {
  std::uint32_t command;
  std::size_t body;
  std::size_t room;
  std::size_t id;
};
constexpr std::size_t kNoId = 999;
constexpr Layout kLayouts[] = {
    {RDMA_USER_CM_CMD_CREATE_ID, 24, 4, kNoId},
    {RDMA_USER_CM_CMD_DESTROY_ID, 16, 4, 8},
    {RDMA_USER_CM_CMD_BIND_IP, 40, 0, 36},
    {RDMA_USER_CM_CMD_RESOLVE_IP, 64, 0, 56},
    {RDMA_USER_CM_CMD_RESOLVE_ROUTE, 8, 0, 0},
    {RDMA_USER_CM_CMD_QUERY_ROUTE, 16, 200, 8},
    {RDMA_USER_CM_CMD_CONNECT, 280, 0, 272},
    {RDMA_USER_CM_CMD_LISTEN, 8, 0, 0},
    {RDMA_USER_CM_CMD_ACCEPT, 288, 0, 280},
    {RDMA_USER_CM_CMD_REJECT, 264, 0, 0},
    {RDMA_USER_CM_CMD_DISCONNECT, 4, 0, 0},
    {RDMA_USER_CM_CMD_INIT_QP_ATTR, 16, 144, 8},
    {RDMA_USER_CM_CMD_GET_EVENT, 8, 324, kNoId},
    {RDMA_USER_CM_CMD_SET_OPTION, 24, 0, 8},
    {RDMA_USER_CM_CMD_NOTIFY, 8, 0, 0},
    {RDMA_USER_CM_CMD_JOIN_IP_MCAST, 48, 4, 44},
    {RDMA_USER_CM_CMD_LEAVE_MCAST, 16, 4, 8},
    {RDMA_USER_CM_CMD_MIGRATE_ID, 16, 4, 8},
    {RDMA_USER_CM_CMD_QUERY, 16, 0, 8},
    {RDMA_USER_CM_CMD_BIND, 136, 0, 0},
    {RDMA_USER_CM_CMD_RESOLVE_ADDR, 272, 0, 0},
    {RDMA_USER_CM_CMD_JOIN_MCAST, 152, 4, 16},
    {24, 320, 0, 0},
};
using Body = std::array<std::byte, 328>;

// A body that is right but for the identifier.
Body plausible(const Layout& layout, std::uint32_t id) {
  Body body{};
  if (layout.id != kNoId) std::memcpy(body.data() + layout.id, &id, sizeof id);
  const auto put = [&](std::size_t offset, const auto& value) {
    std::memcpy(body.data() + offset, &value, sizeof value);
  };
  const __kernel_sockaddr_storage to = address("192.0.2.1", 7000);
  const std::array<std::byte, 28> short_to = [&] {
    std::array<std::byte, 28> bytes{};
    std::memcpy(bytes.data(), &to, bytes.size());
    return bytes;
  }();
  switch (layout.command) {
    case RDMA_USER_CM_CMD_BIND_IP:
      put(8, short_to);
      break;
    case RDMA_USER_CM_CMD_RESOLVE_IP:
      put(28, short_to);
      break;
    case RDMA_USER_CM_CMD_CONNECT:
      put(271, std::uint8_t{1});
      break;
    case RDMA_USER_CM_CMD_JOIN_IP_MCAST:
      put(16, short_to);
      break;
    case RDMA_USER_CM_CMD_BIND:
      put(4, std::uint16_t{16});
      put(8, to);
      break;
    case RDMA_USER_CM_CMD_RESOLVE_ADDR:
      put(10, std::uint16_t{16});
      put(144, to);
      break;
    case RDMA_USER_CM_CMD_JOIN_MCAST:
      put(20, std::uint16_t{16});
      put(24, to);
      break;
    case 24:
      put(8, std::uint32_t{19});
      break;
  }
  return body;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(framing, World)

BOOST_AUTO_TEST_CASE(a_body_of_any_length_is_refused_or_understood) {
  Program program(*this);
  for (const Layout& layout : kLayouts) {
    for (std::size_t length = 0; length <= 320; ++length) {
      const std::uint32_t id = program.create();
      const int error = program.run(layout.command, plausible(layout, id), 440, length);
      BOOST_TEST_CONTEXT("command " << layout.command << " length " << length) {
        if (length < layout.body) BOOST_TEST(error == EINVAL);
      }
      program.destroy(id);
    }
  }
  BOOST_TEST(rdma_cm.identifiers().count() <= 321u);  // of CREATE_ID's right lengths
}

BOOST_AUTO_TEST_CASE(an_answer_without_room_is_refused) {
  Program program(*this);
  for (const Layout& layout : kLayouts) {
    for (std::size_t room = 0; room < layout.room; ++room) {
      BOOST_TEST_CONTEXT("command " << layout.command << " room " << room) {
        BOOST_TEST(program.run(layout.command, plausible(layout, 0), static_cast<std::uint16_t>(room), 320) ==
                   ENOSPC);
        BOOST_TEST(program.answer.length == 0u);
      }
    }
  }
  BOOST_TEST(rdma_cm.identifiers().count() == 0u);
}

BOOST_AUTO_TEST_CASE(a_longer_answer_is_cut) {
  Program program(*this);
  const std::uint32_t id = program.create();
  const auto room_of = [&](std::uint32_t command, const auto& body, std::uint16_t room) {
    BOOST_TEST(program.run(command, body, room) == 0);
    return program.answer.length;
  };
  const rdma_ucm_query query{0, id, RDMA_USER_CM_QUERY_ADDR};
  BOOST_TEST(room_of(RDMA_USER_CM_CMD_QUERY_ROUTE, query, 200) == 200u);
  BOOST_TEST(room_of(RDMA_USER_CM_CMD_QUERY_ROUTE, query, 440) == 208u);
  BOOST_TEST(program.run(RDMA_USER_CM_CMD_QUERY, query, 271) == ENOSPC);
  BOOST_TEST(room_of(RDMA_USER_CM_CMD_QUERY, query, 272) == 272u);
  BOOST_TEST(room_of(RDMA_USER_CM_CMD_QUERY, query, 440) == 280u);
  const rdma_ucm_query path{0, id, RDMA_USER_CM_QUERY_PATH};
  BOOST_TEST(program.run(RDMA_USER_CM_CMD_QUERY, path, 7) == ENOSPC);
  BOOST_TEST(room_of(RDMA_USER_CM_CMD_QUERY, path, 440) == 8u);
}

BOOST_AUTO_TEST_CASE(unknown_commands_are_refused) {
  Program program(*this);
  for (const std::uint32_t command : {23u, 25u, 100u, 0xFFFFFFFFu})
    BOOST_TEST(program.run(command, Body{}) == EINVAL);
  BOOST_TEST(program.run(RDMA_USER_CM_CMD_GET_OPTION, Body{}) == ENOSYS);
  const std::uint32_t id = program.create();
  BOOST_TEST(program.query(id, 3) == ENOSYS);
}

BOOST_AUTO_TEST_CASE(a_message_without_a_header_is_refused) {
  Program program(*this);
  Answer answer;
  for (std::size_t length = 0; length < 8; ++length) {
    const std::vector<std::byte> bytes(length);
    rdma_cm.execute(program.channel(), bytes, {}, nullptr, answer);
    BOOST_TEST(answer.error == EINVAL);
  }
}

BOOST_AUTO_TEST_CASE(wrong_identifiers_are_refused) {
  Program program(*this);
  Program other(*this, 2000);
  const std::uint32_t theirs = other.create();
  const std::uint32_t group_owner = other.create(RDMA_PS_UDP);
  BOOST_TEST(other.bind(group_owner, "192.0.2.1") == 0);
  BOOST_TEST(other.join(group_owner, address("239.1.2.3")) == 0);  // group 0, as `theirs`
  for (const Layout& layout : kLayouts) {
    if (layout.id == kNoId) continue;
    if (layout.command == RDMA_USER_CM_CMD_MIGRATE_ID) continue;
    for (const std::uint32_t unknown : {theirs + 5, 65536u, 0xFFFFFFFFu}) {
      BOOST_TEST_CONTEXT("command " << layout.command << " identifier " << unknown)
      BOOST_TEST(program.run(layout.command, plausible(layout, unknown), 440, 320) == ENOENT);
    }
    BOOST_TEST_CONTEXT("command " << layout.command)
    BOOST_TEST(program.run(layout.command, plausible(layout, theirs), 440, 320) == EINVAL);
  }
  BOOST_TEST(other.destroy(theirs) == 0);
}

BOOST_AUTO_TEST_CASE(identifiers_have_the_lowest_free_number_over_all_programs) {
  Program first(*this);
  Program second(*this, 2000);
  BOOST_TEST(first.create() == 0u);
  BOOST_TEST(second.create() == 1u);
  BOOST_TEST(first.create() == 2u);
  BOOST_TEST(second.destroy(1) == 0);
  BOOST_TEST(first.create() == 1u);
  BOOST_TEST(second.create() == 3u);
  first.close();
  BOOST_TEST(second.create() == 0u);
  BOOST_TEST(second.create() == 1u);
  BOOST_TEST(second.create() == 2u);
  BOOST_TEST(second.create() == 4u);
}

BOOST_AUTO_TEST_CASE(port_spaces_that_do_not_exist_are_refused) {
  Program program(*this);
  for (const int space : {0, 1, 3, 0x0101, 0x0107, 0x013E, 0xFFFF}) {
    const rdma_ucm_create_id command{1, 0, static_cast<std::uint16_t>(space), 2, {}};
    BOOST_TEST(program.run(RDMA_USER_CM_CMD_CREATE_ID, command) == EINVAL);
  }
}

BOOST_AUTO_TEST_CASE(a_program_cannot_have_all_identifiers) {
  Program program(*this);
  Program other(*this, 2000);
  const rdma_ucm_create_id command{1, 0, RDMA_PS_TCP, 2, {}};
  std::size_t made = 0;
  while (program.run(RDMA_USER_CM_CMD_CREATE_ID, command) == 0) ++made;
  BOOST_TEST(program.answer.error == ENOMEM);
  BOOST_TEST(made > 10'000u);
  BOOST_TEST(other.run(RDMA_USER_CM_CMD_CREATE_ID, command) == 0);
  program.close();
  BOOST_TEST(rdma_cm.identifiers().count() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::rdma_cm::test
