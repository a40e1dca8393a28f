// Descriptors whose close() blocks: sockets with SO_LINGER and bytes that nobody reads.
#include "device_model/control/loop/descriptor_disposal.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <csignal>

#include "json/json.hpp"
#include "tests/unit/control/admin_program.hpp"
#include "tests/unit/control/many_descriptors.hpp"
#include "tests/unit/control/running_process.hpp"

namespace urnic::control::test {
namespace descriptor_disposal {

constexpr int kLingerSeconds = 30;
constexpr int kPatience = 10'000;  // ms: much more than an answer takes, less than a close that lingers

// A TCP connection of this machine; nobody reads what has been sent.
class LingeringSocket {
 public:
  LingeringSocket() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const general = reinterpret_cast<sockaddr*>(&address);
    socklen_t length = sizeof address;
    const memory::Descriptor listening(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int small = 4096;
    setsockopt(listening.get(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    BOOST_REQUIRE(bind(listening.get(), general, length) == 0 && listen(listening.get(), 1) == 0);
    BOOST_REQUIRE(getsockname(listening.get(), general, &length) == 0);
    sender_ = memory::Descriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    BOOST_REQUIRE(connect(sender_.get(), general, length) == 0);
    reader_ = memory::Descriptor(accept(listening.get(), nullptr, nullptr));
    const linger lingering{1, kLingerSeconds};
    BOOST_REQUIRE(setsockopt(sender_.get(), SOL_SOCKET, SO_LINGER, &lingering, sizeof lingering) == 0);
    const std::array<char, 65536> bytes{};
    while (send(sender_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {
    }
  }
  int sender() const { return sender_.get(); }
  memory::Descriptor take_sender() { return std::move(sender_); }
  // The close that waits goes on.
  void end() { reader_.reset(); }

 private:
  memory::Descriptor sender_;
  memory::Descriptor reader_;
};

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    BOOST_REQUIRE(pipe2(ends.data(), O_CLOEXEC) == 0);
    reading = memory::Descriptor(ends[0]);
    writing = memory::Descriptor(ends[1]);
  }
  bool is_closed(int patience) const {
    pollfd end{reading.get(), POLLIN, 0};
    return poll(&end, 1, patience) == 1 && (end.revents & POLLHUP) != 0;
  }
  memory::Descriptor reading;
  memory::Descriptor writing;
};

template <class Condition>
bool comes_true(Condition condition) {
  for (int waited = 0; waited < kPatience; waited += 10) {
    if (condition()) return true;
    poll(nullptr, 0, 10);
  }
  return false;
}

constexpr abi::RequestHeader header_of(abi::ControlOpcode opcode) {
  return {abi::kControlMagic, static_cast<std::uint32_t>(opcode), sizeof(abi::RequestHeader), 1};
}
constexpr abi::RequestHeader kQueryDevice = header_of(abi::ControlOpcode::query_device);
// Has no reply, so it can be sent any number of times.
constexpr abi::RequestHeader kTellToken = header_of(abi::ControlOpcode::tell_token);

std::span<const std::byte> bytes_of(const abi::RequestHeader& header) {
  return std::as_bytes(std::span(&header, 1));
}

// True if the device process answers a request on a new connection.
bool is_served(const std::filesystem::path& node) {
  const memory::Descriptor bystander = connect_to(node, SOCK_SEQPACKET);
  BOOST_REQUIRE(send_message(bystander.get(), bytes_of(kQueryDevice), {}));
  pollfd answer{bystander.get(), POLLIN, 0};
  return poll(&answer, 1, kPatience) == 1;
}

// The control thread stands still as long as this lives, so that what it is sent is its own alone when it
// goes on: only the last close() of a socket waits.
class Pause {
 public:
  explicit Pause(RunningProcess& process) {
    paused_ = false;
    go_on_ = false;
    std::signal(SIGUSR1, [](int) {
      paused_ = true;
      while (!go_on_) sched_yield();
      paused_ = false;
    });
    pthread_kill(process.thread(), SIGUSR1);
    while (!paused_) sched_yield();
  }
  ~Pause() {
    go_on_ = true;
    while (paused_) sched_yield();
  }

 private:
  static inline std::atomic<bool> paused_{false};
  static inline std::atomic<bool> go_on_{false};
};

// Sends the socket, to be kept by nobody else.
void hand_over(int connection, std::span<const std::byte> bytes, LingeringSocket& socket) {
  const memory::Descriptor sent = socket.take_sender();
  BOOST_REQUIRE(send_message(connection, bytes, std::array{sent.get()}));
}

// Each socket in a message of its own, while the control thread stands still.
void hand_over_in_pause(RunningProcess& process, int connection, std::span<const std::byte> bytes,
                        std::span<LingeringSocket> sockets) {
  const Pause pause(process);
  for (LingeringSocket& socket : sockets) hand_over(connection, bytes, socket);
}

BOOST_AUTO_TEST_SUITE(descriptor_disposal)

BOOST_AUTO_TEST_CASE(one_that_blocks_keeps_no_other_from_being_closed) {
  DescriptorDisposal disposal;
  LingeringSocket lingering;
  disposal.close(lingering.take_sender(), 1);
  Pipe pipe;
  disposal.close(std::move(pipe.writing), 1);
  BOOST_TEST(pipe.is_closed(kPatience));
  BOOST_TEST(comes_true([&] { return disposal.open() == 1; }));  // it is closed first, then counted
  lingering.end();
  BOOST_TEST(comes_true([&] { return disposal.open() == 0; }));
}

BOOST_AUTO_TEST_CASE(a_sender_keeps_a_few_threads_waiting_and_no_more) {
  DescriptorDisposal disposal;
  std::array<LingeringSocket, DescriptorDisposal::kThreadsPerSender> lingering;
  for (auto& socket : lingering) disposal.close(socket.take_sender(), 1);
  Pipe own;
  disposal.close(std::move(own.writing), 1);
  Pipe of_others;
  disposal.close(std::move(of_others.writing), 2);
  BOOST_TEST(of_others.is_closed(kPatience));
  BOOST_TEST(!own.is_closed(0));
  lingering[0].end();
  BOOST_TEST(own.is_closed(kPatience));
}

BOOST_AUTO_TEST_CASE(who_has_sent_many_that_block_is_refused) {
  DescriptorDisposal disposal;
  std::array<LingeringSocket, DescriptorDisposal::kThreadsPerSender> lingering;
  for (auto& socket : lingering) disposal.close(socket.take_sender(), 1);
  BOOST_TEST(!disposal.refuses(1));
  for (std::size_t i = lingering.size(); i < DescriptorDisposal::kMany; ++i) {
    disposal.close(memory::Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)), 1);
  }
  BOOST_TEST(comes_true([&] { return disposal.refuses(1); }));
  BOOST_TEST(!disposal.refuses(2));
  for (auto& socket : lingering) socket.end();
  BOOST_TEST(comes_true([&] { return disposal.open() == 0; }));
  BOOST_TEST(!disposal.refuses(1));
}

BOOST_AUTO_TEST_CASE(a_message_with_one_that_blocks_stops_nobody) {
  RunningProcess process;
  LingeringSocket lingering;
  const memory::Descriptor offender = connect_to(process.node(0), SOCK_SEQPACKET);
  hand_over_in_pause(process, offender.get(), bytes_of(kTellToken), {&lingering, 1});
  BOOST_TEST(is_served(process.node(0)));
  process.end();
}

// The kernel closes what waits in a socket that is closed.
BOOST_AUTO_TEST_CASE(a_message_that_nobody_reads_stops_nobody) {
  RunningProcess process;
  LingeringSocket lingering;
  const memory::Descriptor offender = connect_to(process.node(0), SOCK_SEQPACKET);
  {
    const Pause pause(process);
    BOOST_REQUIRE(send_message(offender.get(), std::array<std::byte, 4>{}, {}));  // for which it is closed
    hand_over(offender.get(), std::array<std::byte, 4>{}, lingering);
  }
  BOOST_TEST(is_served(process.node(0)));
  process.end();
}

// More than a message may have: what the receiver leaves no room for, the kernel closes in its thread.
BOOST_AUTO_TEST_CASE(too_many_in_a_message_stop_nobody) {
  RunningProcess process;
  LingeringSocket lingering;
  const memory::Descriptor offender = connect_to(process.node(0), SOCK_SEQPACKET);
  {
    const Pause pause(process);
    const memory::Descriptor sent = lingering.take_sender();
    BOOST_REQUIRE(send_many_descriptors(offender.get(), std::vector<int>(100, sent.get())));
  }
  BOOST_TEST(is_served(process.node(0)));
  process.end();
}

BOOST_AUTO_TEST_CASE(the_admin_socket_is_not_stopped_either) {
  RunningProcess process;
  LingeringSocket lingering;
  AdminProgram offender(process);
  const std::string line = "{\"cmd\":\"status\"}\n";
  hand_over_in_pause(process, offender.descriptor(), std::as_bytes(std::span(line)), {&lingering, 1});
  BOOST_TEST(is_served(process.node(0)));
  AdminProgram bystander(process);
  BOOST_TEST(bystander.ask({{"cmd", "status"}}).contains("pid"));
  process.end();
}

BOOST_AUTO_TEST_CASE(a_program_whose_descriptors_block_is_refused_and_others_are_not) {
  RunningProcess process;
  std::array<LingeringSocket, DescriptorDisposal::kThreadsPerSender> lingering;
  const memory::Descriptor offender = connect_to(process.node(0), SOCK_SEQPACKET);
  hand_over_in_pause(process, offender.get(), bytes_of(kTellToken), lingering);
  const std::array handed{STDERR_FILENO};
  pollfd end{offender.get(), POLLIN | POLLHUP, 0};
  // One message now and then, until the patience has ended.
  const bool refused = comes_true([&] {
    for (int i = 0; i < 8; ++i) send_message(offender.get(), bytes_of(kTellToken), handed);
    return poll(&end, 1, 0) == 1 && (end.revents & POLLHUP) != 0;
  });
  BOOST_TEST(refused);
  // In another process, which has not sent any.
  const pid_t child = fork();
  if (child == 0) _exit(is_served(process.node(0)) ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  BOOST_TEST(status == 0);
  process.end();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace descriptor_disposal
}  // namespace urnic::control::test
