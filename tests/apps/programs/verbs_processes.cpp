// Two programs that transfer to each other: each checks every byte that it gets, from memory that is its own.
// The test framework runs in the parent; what goes wrong in the child is the child's exit status and a line.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstring>

#include "tests/apps/programs/requests.hpp"
#include "tests/apps/programs/require.hpp"

namespace urnic::apps {
namespace {

constexpr std::size_t kLongest = 200'003;
constexpr std::size_t kGuard = 512;

// What the two tell each other beside the connection.
struct Introduction {
  QpAddress qp;
  std::uint64_t address;
  std::uint32_t rkey;
};

class Side {
 public:
  Side(const std::string& device, int socket)
      : device_(device), socket_(socket), endpoint_(device_, options()) {
    const Introduction own{endpoint_.address(), target_.address(), target_.rkey()};
    tell(own);
    peer_ = hear<Introduction>();
    endpoint_.connect(peer_.qp);
    synchronize();
  }

  // The one moves data to the other's memory, which then looks at it; then the other way round.
  void transfer(std::size_t length, std::uint64_t seed, bool begins) {
    const std::size_t offset = kGuard + seed % 17;
    const bool sends = seed % 2 != 0;
    fill(target_.bytes(0, target_.size()), kBackground);
    if (sends) endpoint_.post_receive(seed, {target_.segment(offset, length)});
    synchronize();
    for (const bool moves : {begins, !begins}) {
      if (moves) {
        move(length, seed + (begins ? 1000 : 0), offset, sends);
        tell(seed);
      } else {
        require(hear<std::uint64_t>() == seed, "the peer is elsewhere");
        if (sends) expect_success(endpoint_.wait_receive());
        check(length, seed + (begins ? 0 : 1000), offset);
      }
    }
    synchronize();
    read_back(length, seed + (begins ? 1000 : 0), offset);
    synchronize();
  }

 private:
  static constexpr std::uint64_t kBackground = 77;

  static EndpointOptions options() {
    EndpointOptions options;
    options.mtu = IBV_MTU_2048;
    return options;
  }

  static void expect_success(const ibv_wc& completion) {
    require(completion.status == IBV_WC_SUCCESS, "a request ended with: {}",
            ibv_wc_status_str(completion.status));
  }

  template <typename Value>
  void tell(const Value& value) {
    require(write(socket_, &value, sizeof value) == sizeof value, "the peer is gone: {}",
            std::strerror(errno));
  }
  template <typename Value>
  Value hear() {
    Value value;
    require(recv(socket_, &value, sizeof value, MSG_WAITALL) == sizeof value, "the peer is gone");
    return value;
  }
  void synchronize() {
    tell(char{'.'});
    hear<char>();
  }

  void move(std::size_t length, std::uint64_t seed, std::size_t offset, bool sends) {
    fill(source_.bytes(0, length), seed);
    ibv_sge segment = source_.segment(0, length);
    endpoint_.post(sends ? send_request(segment)
                         : rdma_request(IBV_WR_RDMA_WRITE, segment, peer_.address + offset, peer_.rkey));
    expect_success(endpoint_.wait_send());
  }

  void check(std::size_t length, std::uint64_t seed, std::size_t offset) {
    const auto inside = difference(target_.bytes(offset, length), seed);
    require(!inside, "{} bytes: {}", length, inside.value_or(""));
    const auto before = difference(target_.bytes(0, offset), kBackground);
    require(!before, "before the data: {}", before.value_or(""));
    const std::size_t end = offset + length;
    const auto behind = difference(target_.bytes(end, target_.size() - end), kBackground, end);
    require(!behind, "behind the data: {}", behind.value_or(""));
  }

  // What was moved to the peer is read out of its memory again.
  void read_back(std::size_t length, std::uint64_t seed, std::size_t offset) {
    fill(source_.bytes(0, length), kBackground);
    ibv_sge segment = source_.segment(0, length);
    endpoint_.post(rdma_request(IBV_WR_RDMA_READ, segment, peer_.address + offset, peer_.rkey));
    expect_success(endpoint_.wait_send());
    const auto wrong = difference(source_.bytes(0, length), seed);
    require(!wrong, "{} bytes read: {}", length, wrong.value_or(""));
  }

  Device device_;
  int socket_;
  Endpoint endpoint_;
  Memory source_{device_.pd(), kLongest};
  Memory target_{device_.pd(), kLongest + 2 * kGuard};
  Introduction peer_{};
};

void run(const std::string& device, int socket, bool begins) {
  Side side(device, socket);
  std::uint64_t seed = 0;
  for (const std::size_t length :
       {0, 1, 2, 3, 4, 7, 31, 32, 33, 64, 255, 2047, 2048, 2049, 4097, 65536, 200'003}) {
    for (int i = 0; i < 10; ++i) side.transfer(length, ++seed, begins);
  }
}

BOOST_AUTO_TEST_CASE(two_processes) {
  const DeviceNames names = device_names();
  std::array<int, 2> sockets{};
  BOOST_REQUIRE_EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()), 0);
  const pid_t child = fork();
  BOOST_REQUIRE_GE(child, 0);
  if (child == 0) {
    close(sockets[0]);
    int status = 0;
    try {
      run(names.second, sockets[1], false);
    } catch (const std::exception& error) {
      fmt::print(stderr, "the other process: {}\n", error.what());
      status = 1;
    }
    _exit(status);
  }
  close(sockets[1]);
  run(names.first, sockets[0], true);
  int status = 0;
  BOOST_REQUIRE_EQUAL(waitpid(child, &status, 0), child);
  BOOST_TEST(status == 0);
}

}  // namespace
}  // namespace urnic::apps
