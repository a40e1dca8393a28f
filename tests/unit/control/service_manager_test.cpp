// What a service manager hears of the device process (sd_notify(3)).
#include "device_model/control/service_manager.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "device_model/memory/descriptor.hpp"
#include "tests/unit/control/temporary_directory.hpp"

namespace {

using urnic::control::tell_service_manager_ready;
using urnic::memory::Descriptor;

struct Variable {
  explicit Variable(const std::string& value) { setenv("NOTIFY_SOCKET", value.c_str(), 1); }
  ~Variable() { unsetenv("NOTIFY_SOCKET"); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
};

// A manager's socket; '@' before the name of an abstract one, as in NOTIFY_SOCKET.
Descriptor manager_at(const std::string& name) {
  Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  BOOST_REQUIRE_LT(name.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, name.data(), name.size());
  if (name[0] == '@') address.sun_path[0] = '\0';
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  BOOST_REQUIRE_EQUAL(bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), length), 0);
  return socket;
}

std::string received_at(const Descriptor& manager) {
  std::array<char, 64> text{};
  const ssize_t length = recv(manager.get(), text.data(), text.size(), 0);
  return length < 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(length));
}

BOOST_AUTO_TEST_SUITE(service_manager)

BOOST_AUTO_TEST_CASE(it_is_told_that_the_service_has_started) {
  const urnic::control::test::TemporaryDirectory directory;
  const std::string path = (directory.path() / "notify").string();
  for (const std::string& name : {path, "@urnic-test-notify-" + std::to_string(getpid())}) {
    BOOST_TEST_CONTEXT(name) {
      const Descriptor manager = manager_at(name);
      const Variable variable(name);
      BOOST_TEST(tell_service_manager_ready() == "");
      BOOST_TEST(received_at(manager) == "READY=1");
    }
  }
}

BOOST_AUTO_TEST_CASE(nobody_is_told_without_one) {
  unsetenv("NOTIFY_SOCKET");
  BOOST_TEST(tell_service_manager_ready() == "");
  const Variable empty("");
  BOOST_TEST(tell_service_manager_ready() == "");
}

BOOST_AUTO_TEST_CASE(one_that_cannot_be_told_is_named) {
  for (const std::string& name :
       {std::string("/nowhere/notify"), std::string("vsock:2:1234"), "/" + std::string(107, 'x')}) {
    BOOST_TEST_CONTEXT(name) {
      const Variable variable(name);
      BOOST_TEST(tell_service_manager_ready().find(name) != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
