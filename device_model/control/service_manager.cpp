#include "device_model/control/service_manager.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

std::string tell_service_manager_ready() {
  const char* const variable = std::getenv("NOTIFY_SOCKET");
  if (variable == nullptr || *variable == '\0') return {};
  const std::string_view name = variable;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const bool is_abstract = name[0] == '@';
  if (!is_abstract && name[0] != '/') return "NOTIFY_SOCKET is no UNIX socket: " + std::string(name);
  if (name.size() >= sizeof address.sun_path) return "NOTIFY_SOCKET is too long: " + std::string(name);
  std::memcpy(address.sun_path, name.data(), name.size());
  if (is_abstract) address.sun_path[0] = '\0';
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());

  constexpr std::string_view kReady = "READY=1";
  const memory::Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const bool told = socket && sendto(socket.get(), kReady.data(), kReady.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                                     reinterpret_cast<const sockaddr*>(&address), length) > 0;
  return told ? std::string() : "NOTIFY_SOCKET " + std::string(name) + ": " + std::strerror(errno);
}

}  // namespace urnic::control
