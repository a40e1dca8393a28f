// What the kernel says of the process at the other end of a connection.
#include "device_model/control/loop/peer.hpp"

#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <functional>
#include <stdexcept>
#include <vector>

namespace urnic::control::test {
namespace {

constexpr std::uint32_t kNetRaw = 1u << CAP_NET_RAW;

struct Capabilities {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2]{};
  Capabilities() { syscall(SYS_capget, &header, sets); }
  bool set() { return syscall(SYS_capset, &header, sets) == 0; }
};

void set_effective(bool net_raw) {
  Capabilities own;
  own.sets[0].effective = net_raw ? own.sets[0].effective | kNetRaw : own.sets[0].effective & ~kNetRaw;
  if (!own.set()) _exit(1);
}

// A child process that makes one of `changes`, connects, and makes the others one by one.
class Child {
 public:
  explicit Child(const std::vector<std::function<void()>>& changes) {
    // An address that the kernel chooses, without a file that a user could be kept away from.
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socklen_t length = sizeof address.sun_family;
    const memory::Descriptor listening(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    auto* const general = reinterpret_cast<sockaddr*>(&address);
    if (bind(listening.get(), general, length) != 0 || listen(listening.get(), 1) != 0)
      throw std::runtime_error("no listening socket");
    length = sizeof address;
    getsockname(listening.get(), general, &length);
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("no child");
    if (pid_ == 0) run(address, length, changes);
    pollfd waiting{listening.get(), POLLIN, 0};
    if (poll(&waiting, 1, 10'000) == 1)
      connection_ = memory::Descriptor(accept(listening.get(), nullptr, nullptr));
    wait();
  }
  ~Child() { end(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int connection() const { return connection_.get(); }
  // The child makes its next change.
  void next() {
    const char byte = 0;
    if (send(connection_.get(), &byte, 1, MSG_NOSIGNAL) != 1) throw std::runtime_error("the child is gone");
    wait();
  }
  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  void wait() {
    char byte = 0;
    if (recv(connection_.get(), &byte, 1, 0) == 1) return;
    end();
    throw std::runtime_error("the child has failed");
  }
  [[noreturn]] static void run(const sockaddr_un& address, socklen_t length,
                               const std::vector<std::function<void()>>& changes) {
    changes.at(0)();
    const int connection = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    if (connect(connection, reinterpret_cast<const sockaddr*>(&address), length) != 0) _exit(1);
    char byte = 0;
    for (std::size_t i = 1; send(connection, &byte, 1, MSG_NOSIGNAL) == 1; ++i) {
      if (recv(connection, &byte, 1, 0) != 1 || i == changes.size()) break;
      changes[i]();
    }
    _exit(0);
  }

  pid_t pid_ = 0;
  memory::Descriptor connection_;
};

bool has_net_raw() {
  const Capabilities own;
  return (own.sets[0].effective & own.sets[0].permitted & kNetRaw) != 0;
}

boost::test_tools::assertion_result with_net_raw(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(has_net_raw());
  result.message() << "this process has no CAP_NET_RAW to give up";
  return result;
}

boost::test_tools::assertion_result as_root(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(geteuid() == 0 && has_net_raw());
  result.message() << "only root with CAP_NET_RAW can become another user that has it";
  return result;
}

boost::test_tools::assertion_result with_user_namespaces(boost::unit_test::test_unit_id) {
  const pid_t child = fork();
  if (child == 0) _exit(unshare(CLONE_NEWUSER) == 0 ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  boost::test_tools::assertion_result result(status == 0);
  result.message() << "this machine lets nobody make user namespaces";
  return result;
}

const auto kNothing = [] {};

}  // namespace

BOOST_AUTO_TEST_SUITE(peer)

BOOST_AUTO_TEST_CASE(one_without_the_right) {
  Child child({[] { set_effective(false); }});
  BOOST_TEST(!Peer(child.connection()).has_net_raw());
}

BOOST_AUTO_TEST_CASE(the_effective_set_counts_at_the_time_of_asking,
                     *boost::unit_test::precondition(with_net_raw)) {
  Child child({kNothing, [] { set_effective(false); }, [] { set_effective(true); }});
  const Peer peer(child.connection());
  BOOST_TEST(peer.has_net_raw());
  child.next();
  BOOST_TEST(!peer.has_net_raw());  // it is permitted still, and its user is who it was
  child.next();
  BOOST_TEST(peer.has_net_raw());
}

// There, it has every capability.
BOOST_AUTO_TEST_CASE(a_namespace_below_is_another_one,
                     *boost::unit_test::precondition(with_user_namespaces)) {
  Child child({[] {
    if (unshare(CLONE_NEWUSER) != 0 || !has_net_raw()) _exit(1);
  }});
  BOOST_TEST(!Peer(child.connection()).has_net_raw());
}

// An ordinary user with an ambient capability: this process, made ordinary, may not look at its namespace.
BOOST_AUTO_TEST_CASE(one_that_can_do_more_than_this_process, *boost::unit_test::precondition(as_root)) {
  const auto become_ordinary = [](bool keep) {
    if (keep && prctl(PR_SET_KEEPCAPS, 1) != 0) _exit(1);
    if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0) _exit(1);
    Capabilities own;
    own.sets[0].effective = own.sets[0].permitted = keep ? kNetRaw : 0;
    own.sets[1].effective = own.sets[1].permitted = 0;
    if (!own.set() || has_net_raw() != keep) _exit(1);
  };
  for (const bool keep : {true, false}) {
    Child child({[&] { become_ordinary(keep); }});
    const pid_t asker = fork();
    if (asker == 0) {
      become_ordinary(false);
      _exit(Peer(child.connection()).has_net_raw() == keep ? 0 : 1);
    }
    int status = 0;
    waitpid(asker, &status, 0);
    BOOST_TEST(status == 0);
  }
}

BOOST_AUTO_TEST_CASE(one_that_has_ended_has_no_right) {
  Child child({kNothing});
  const Peer peer(child.connection());
  child.end();
  BOOST_TEST(!peer.has_net_raw());
  BOOST_TEST(!Peer(child.connection()).has_net_raw());
}

BOOST_AUTO_TEST_CASE(what_is_no_connection_is_refused) { BOOST_CHECK_THROW(Peer(-1), std::system_error); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
