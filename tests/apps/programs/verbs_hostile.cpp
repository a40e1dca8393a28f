// A program that lies to the device: nonsense and half-truths on the control connection. What it does must
// harm nobody else; the script that runs it checks that with a well-behaved program beside it, and each test
// here checks that a new program is served afterwards. verbs_hostile_queues does the same to queues.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <memory>
#include <random>

#include "tests/apps/programs/control_client.hpp"
#include "tests/apps/programs/device_serves.hpp"
#include "tests/apps/programs/requests.hpp"

namespace urnic::apps {
namespace {

using abi::ControlOpcode;

constexpr std::array kOpcodes{
    ControlOpcode::open_context, ControlOpcode::join_context,  ControlOpcode::query_device,
    ControlOpcode::query_port,   ControlOpcode::allocate_pd,   ControlOpcode::deallocate_pd,
    ControlOpcode::register_mr,  ControlOpcode::deregister_mr, ControlOpcode::reregister_mr,
    ControlOpcode::allocate_mw,  ControlOpcode::deallocate_mw, ControlOpcode::create_cq,
    ControlOpcode::destroy_cq,   ControlOpcode::resize_cq,     ControlOpcode::create_qp,
    ControlOpcode::modify_qp,    ControlOpcode::query_qp,      ControlOpcode::destroy_qp,
    ControlOpcode::create_srq,   ControlOpcode::modify_srq,    ControlOpcode::query_srq,
    ControlOpcode::destroy_srq};

std::vector<std::byte> noise(std::mt19937_64& chance, std::size_t length) {
  std::vector<std::byte> bytes(length);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(chance());
  return bytes;
}

// Words as requests hold them: mostly small numbers, so that some of them mean something.
std::vector<std::byte> plausible(std::mt19937_64& chance, std::size_t words) {
  std::vector<std::byte> bytes(words * 4);
  for (std::size_t i = 0; i < words; ++i) {
    const std::uint64_t kind = chance() % 8;
    const auto word = static_cast<std::uint32_t>(kind < 5    ? chance() % 8
                                                 : kind == 5 ? 0xFFFFFFFF - chance() % 4
                                                 : kind == 6 ? 1U << chance() % 32
                                                             : chance());
    std::memcpy(&bytes[i * 4], &word, 4);
  }
  return bytes;
}

BOOST_AUTO_TEST_CASE(noise_instead_of_messages) {
  std::mt19937_64 chance(1);
  for (int round = 0; round < 500; ++round) {
    ControlClient client;
    if (round % 2 != 0) client.open_context();
    for (int message = 0; message < 10; ++message) {
      if (!client.send(noise(chance, chance() % 1500))) break;
    }
  }
  expect_device_serves();
}

// Every length of every request, with a header that tells the truth and with one that does not.
BOOST_AUTO_TEST_CASE(lengths_that_are_wrong) {
  std::mt19937_64 chance(2);
  for (const bool introduced : {false, true}) {
    for (const ControlOpcode opcode : kOpcodes) {
      auto client = std::make_unique<ControlClient>();
      if (introduced) client->open_context();
      for (std::size_t length = 0; length <= abi::kMaxControlMessage + 64; length += length < 160 ? 1 : 61) {
        auto message = control_message(opcode, noise(chance, length), 7);
        if (length % 3 == 0) {
          const auto lie = static_cast<std::uint32_t>(chance());
          std::memcpy(message.data() + offsetof(abi::RequestHeader, length), &lie, sizeof lie);
        }
        if (client->send(message) && client->receive()) continue;
        client = std::make_unique<ControlClient>();
        if (introduced) client->open_context();
      }
    }
  }
  expect_device_serves();
}

BOOST_AUTO_TEST_CASE(requests_that_make_no_sense) {
  std::mt19937_64 chance(3);
  std::size_t answers = 0;
  for (int life = 0; life < 40; ++life) {
    ControlClient client;
    client.open_context();
    const std::array<int, 2> descriptors{client.number(), STDERR_FILENO};
    for (int i = 0; i < 400; ++i) {
      const ControlOpcode opcode = kOpcodes[chance() % kOpcodes.size()];
      // The sizes that request bodies have: 8 bytes to those of modify_qp.
      const std::size_t words =
          chance() % 4 == 0 ? chance() % 60 : std::array{2, 2, 2, 8, 6, 14, 38}[chance() % 7];
      const bool with_descriptors = chance() % 16 == 0;
      const auto reply =
          client.ask(opcode, plausible(chance, words),
                     with_descriptors ? std::span<const int>(descriptors) : std::span<const int>());
      if (!reply) break;
      ++answers;
    }
  }
  BOOST_TEST(answers > 40);
  expect_device_serves();
}

// Objects of which the numbers are right and the relations wrong: destroyed twice, in use, of another kind.
BOOST_AUTO_TEST_CASE(handles_of_others) {
  ControlClient one, two;
  one.open_context();
  two.open_context();
  const auto pd = one.demand<abi::HandleReply>(ControlOpcode::allocate_pd, abi::Empty{});
  const auto cq = one.demand<abi::CreateCqReply>(ControlOpcode::create_cq, abi::CreateCqRequest{1, 0, 16, 0});
  abi::CreateQpRequest request{};
  request.pd = pd.handle;
  request.send_cq = request.receive_cq = cq.handle;
  request.type = IBV_QPT_RC;
  request.max_send_wr = request.max_receive_wr = request.max_send_sge = request.max_receive_sge = 4;
  const auto qp = one.demand<abi::CreateQpReply>(ControlOpcode::create_qp, request);
  const auto error = [](ControlClient& client, ControlOpcode opcode, std::uint32_t handle) {
    const auto reply = client.ask(opcode, abi::HandleRequest{handle, 0});
    return reply ? reply->header.error : -1;
  };
  for (ControlOpcode opcode :
       {ControlOpcode::deallocate_pd, ControlOpcode::destroy_cq, ControlOpcode::destroy_qp,
        ControlOpcode::query_qp, ControlOpcode::deregister_mr, ControlOpcode::deallocate_mw}) {
    BOOST_TEST(error(two, opcode, qp.handle) == EINVAL);
    BOOST_TEST(error(one, opcode, 0x7FFFFFFF) == EINVAL);
  }
  BOOST_TEST(error(one, ControlOpcode::deallocate_pd, pd.handle) == EBUSY);
  BOOST_TEST(error(one, ControlOpcode::destroy_cq, cq.handle) == EBUSY);
  BOOST_TEST(error(one, ControlOpcode::destroy_qp, qp.handle) == 0);
  BOOST_TEST(error(one, ControlOpcode::destroy_qp, qp.handle) == EINVAL);
  BOOST_TEST(error(one, ControlOpcode::destroy_cq, cq.handle) == 0);
  BOOST_TEST(error(one, ControlOpcode::destroy_cq, cq.handle) == EINVAL);
  BOOST_TEST(error(one, ControlOpcode::deallocate_pd, pd.handle) == 0);
}

// Descriptors that are not what they should be: files, sockets, one end twice, somebody else's process, none.
BOOST_AUTO_TEST_CASE(descriptors_that_lie) {
  std::array<int, 2> ends{}, sockets{};
  BOOST_REQUIRE_EQUAL(pipe2(ends.data(), O_CLOEXEC), 0);
  BOOST_REQUIRE_EQUAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()), 0);
  std::vector<memory::Descriptor> owned = own_identity();
  for (const int number : {ends[0], ends[1], sockets[0], sockets[1], open("/dev/null", O_RDWR | O_CLOEXEC),
                           open("/", O_RDONLY | O_CLOEXEC), open("/proc/self/maps", O_RDONLY | O_CLOEXEC),
                           static_cast<int>(syscall(SYS_pidfd_open, getppid(), 0))})
    owned.emplace_back(number);
  std::vector<int> all;
  for (const memory::Descriptor& descriptor : owned) all.push_back(descriptor.get());
  std::mt19937_64 chance(4);
  abi::OpenContextRequest request{};
  request.version = abi::kControlVersion;
  std::memset(request.program, 'A', sizeof request.program);  // not terminated
  for (int round = 0; round < 300; ++round) {
    std::vector<int> chosen;
    for (std::size_t count = chance() % 8; count > 0; --count) chosen.push_back(all[chance() % all.size()]);
    ControlClient client;
    client.ask(ControlOpcode::open_context, request, chosen);
    // It may have been taken; memory of it can then be lied about too.
    client.ask(ControlOpcode::allocate_pd, abi::Empty{});
    client.ask(ControlOpcode::register_mr, abi::RegisterMrRequest{0x10000, 1 << 20, 0x10000, 0, kAllAccess});
    client.send(control_message(ControlOpcode::add_completion_channel,
                                std::as_bytes(std::span(&request, 1)).first(8), 9),
                chosen);
    client.ask(ControlOpcode::query_device, abi::Empty{});
  }
  expect_device_serves();
}

// Requests without end, whose answers are not read.
BOOST_AUTO_TEST_CASE(answers_that_nobody_reads) {
  std::vector<std::unique_ptr<ControlClient>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<ControlClient>());
    clients.back()->open_context();
    const auto message =
        control_message(ControlOpcode::query_device, std::vector<std::byte>(sizeof(abi::Empty)), 1);
    for (int sent = 0; sent < 3000 && clients.back()->send(message, {}, false); ++sent) {
    }
  }
  expect_device_serves();
}

BOOST_AUTO_TEST_CASE(many_connections) {
  std::vector<std::unique_ptr<ControlClient>> clients;
  for (int i = 0; i < 150; ++i) {
    clients.push_back(std::make_unique<ControlClient>());
    if (i % 3 == 0) clients.back()->open_context();
  }
  expect_device_serves();
}

// The largest objects there are, and nothing given back: it is all taken back with the connection.
BOOST_AUTO_TEST_CASE(large_objects_left_behind) {
  for (int life = 0; life < 20; ++life) {
    ControlClient client;
    client.open_context();
    for (int i = 0; i < 4; ++i) {
      const auto reply = client.ask(ControlOpcode::create_cq, abi::CreateCqRequest{1, 0, 1 << 20, 0});
      BOOST_REQUIRE(reply);
      BOOST_TEST(reply->header.error == 0);
    }
  }
  expect_device_serves();
}

}  // namespace
}  // namespace urnic::apps
