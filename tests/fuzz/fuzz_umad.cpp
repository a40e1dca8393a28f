// Any sequence of requests from two programs with open umad nodes, on the nodes' sockets: every request is
// answered or closes the connection, and nothing is left once the programs are gone.
//
// An input is a sequence of records: kind, how, body length (a byte each), body.
#include <fcntl.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "device_model/control/fabric/configuration.hpp"
#include "device_model/control/loop/message_socket.hpp"
#include "device_model/control/umad/umad_server.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/unit/control/file_in_memory.hpp"
#include "tests/unit/control/temporary_directory.hpp"

namespace {

namespace abi = urnic::abi;
namespace control = urnic::control;
using urnic::fuzz::require;
using urnic::memory::Descriptor;

constexpr std::size_t kPrograms = 2;
constexpr std::size_t kMostBytes = sizeof(abi::UmadRequest) + abi::kMaxUmadPacket + 1;
constexpr std::size_t kRest = 1000;

enum How : std::uint8_t {
  which_program = 1,
  raw = 1 << 1,           // the body is the whole message
  reopen = 1 << 2,        // the program closes its node, and opens it again
  no_reply_end = 1 << 3,  // without the descriptor for the answer
  long_body = 1 << 4,     // zeros fill the body to a whole packet
  mark = 1 << 5,          // and the mark of the kernel stand-in behind it
  rest = 1 << 6,          // a second descriptor: a file in memory
  odd_rest = 1 << 7,      // a second descriptor: the program's own node
};

struct Machine {
  control::test::TemporaryDirectory directory;
  control::EventLoop loop;
  control::DescriptorDisposal disposal;
  control::Fabric fabric{control::default_configuration()};
  control::Gsi gsi{loop, fabric};
  control::UmadServer server{loop, fabric, gsi, disposal};
  control::Timer turn_ends{loop, [this] { loop.stop(); }};
  std::array<Descriptor, kPrograms> programs;

  Machine() {
    for (std::size_t i = 0; i < kPrograms; ++i) server.serve(*fabric.devices()[i], node(i));
  }

  std::filesystem::path node(std::size_t i) const { return directory.path() / std::to_string(i); }

  // Lets the device process handle what has arrived.
  void turn() {
    for (int i = 0; i < 2; ++i) {
      turn_ends.set(std::chrono::nanoseconds(0));
      loop.run();
    }
  }

  void open(std::size_t i) {
    programs[i] = Descriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, node(i).c_str(), sizeof address.sun_path - 1);
    require(connect(programs[i].get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0,
            "connect");
    turn();
  }

  // False: the connection is closed.
  bool send(std::size_t i, std::span<const std::byte> bytes, std::span<const int> descriptors) const {
    return control::send_message(programs[i].get(), bytes, descriptors) || errno == EAGAIN;
  }

  // What the program may read, also the end of the connection. False: it is closed.
  bool read_all(std::size_t i) const {
    std::array<std::byte, 1024> packet;
    ssize_t length = 0;
    while ((length = recv(programs[i].get(), packet.data(), packet.size(), MSG_DONTWAIT | MSG_TRUNC)) > 0)
      require(length <= static_cast<ssize_t>(abi::kMaxUmadPacket), "a packet is longer than it can be");
    return length < 0 && errno == EAGAIN;
  }

  void request(std::size_t i, std::span<const std::byte> bytes, std::uint8_t how) {
    std::array<int, 2> ends{};
    require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0, "socketpair");
    const Descriptor own(ends[0]);
    Descriptor theirs(ends[1]);
    const Descriptor memory = control::test::file_in_memory(std::array<std::byte, kRest>{});
    std::vector<int> descriptors;
    if ((how & no_reply_end) == 0) descriptors.push_back(theirs.get());
    if ((how & rest) != 0) descriptors.push_back(memory.get());
    if ((how & odd_rest) != 0) descriptors.push_back(programs[i].get());
    bool open_still = send(i, bytes, descriptors);
    if ((how & mark) != 0) open_still = open_still && send(i, std::array<std::byte, 1>{}, {});
    theirs.reset();
    turn();
    open_still = open_still && read_all(i);
    if (!has_reply(own) && open_still && bytes.size() > abi::kUmadMarkBytes) open_still = !has_ended(i);
    if (!open_still) open(i);
  }

  static bool has_reply(const Descriptor& own) {
    std::array<std::byte, 1024> answer;
    const ssize_t length = recv(own.get(), answer.data(), answer.size(), MSG_DONTWAIT);
    if (length <= 0) return false;
    abi::UmadReply reply{};
    require(length >= static_cast<ssize_t>(sizeof reply), "an answer is too short");
    std::memcpy(&reply, answer.data(), sizeof reply);
    require(reply.magic == abi::kUmadMagic && reply.error >= 0, "an answer is none");
    return true;
  }

  // What is not answered closes the connection, on another thread.
  bool has_ended(std::size_t i) const {
    pollfd entry{programs[i].get(), POLLRDHUP, 0};
    require(poll(&entry, 1, 5000) == 1, "neither answered nor closed");
    return true;
  }

  void end() {
    for (Descriptor& program : programs) program.reset();
    turn();
    using control::Resource;
    for (int i = 0; i < 1000 && fabric.quotas().used(Resource::descriptors) != 0; ++i) turn();
    require(fabric.quotas().used(Resource::descriptors) == 0, "descriptors are left");
    require(fabric.quotas().used(Resource::memory) == 0, "memory is left");
  }
};

std::vector<std::byte> make_message(std::uint8_t kind, std::uint8_t how, std::span<const std::uint8_t> body) {
  std::vector<std::byte> message((how & raw) != 0 ? 0 : sizeof(abi::UmadRequest));
  if ((how & raw) == 0) {
    const abi::UmadRequest header{abi::kUmadMagic, kind};
    std::memcpy(message.data(), &header, sizeof header);
  }
  const auto bytes = std::as_bytes(body);
  message.insert(message.end(), bytes.begin(), bytes.end());
  if ((how & long_body) != 0) message.resize(kMostBytes - 1);
  if (message.empty()) message.resize(1);
  return message;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Machine& machine = *[] {
    spdlog::set_level(spdlog::level::off);
    return new Machine;
  }();
  for (std::size_t i = 0; i < kPrograms; ++i) machine.open(i);
  std::span<const std::uint8_t> rest(data, size);
  while (rest.size() >= 3) {
    const std::uint8_t kind = rest[0];
    const std::uint8_t how = rest[1];
    const auto body = rest.subspan(3, std::min<std::size_t>(rest[2], rest.size() - 3));
    rest = rest.subspan(3 + body.size());
    const std::size_t program = how & which_program;
    if ((how & reopen) != 0) {
      machine.open(program);
    } else {
      machine.request(program, make_message(kind, how, body), how);
    }
  }
  machine.end();
  return 0;
}
