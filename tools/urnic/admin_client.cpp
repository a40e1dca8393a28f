#include "tools/urnic/admin_client.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "device_model/abi/run_directory_layout.hpp"
#include "json/json.hpp"
#include "tools/urnic/failure.hpp"
#include "trust/peer.hpp"

namespace urnic::cli {
namespace {

constexpr std::size_t kMaxDescriptors = 4;

void take_rights(const msghdr& message, std::vector<memory::Descriptor>& descriptors) {
  for (cmsghdr* control = CMSG_FIRSTHDR(&message); control != nullptr;
       control = CMSG_NXTHDR(const_cast<msghdr*>(&message), control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(control) + i * sizeof(int), sizeof fd);
      descriptors.emplace_back(fd);
    }
  }
}

}  // namespace

std::optional<AdminClient> AdminClient::connect(const std::filesystem::path& run_directory) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = (run_directory / abi::kAdminSocket).string();
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  memory::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) throw Failure(fmt::format("no socket can be made: {}", std::strerror(errno)));
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    if (!trust::peer_is_own_user(socket.get())) {
      throw Failure(fmt::format("the device process at {} is another user's: set {} to a path of your own",
                                path, abi::kRunDirectoryVariable));
    }
    return AdminClient(std::move(socket));
  }
  if (errno == ENOENT || errno == ECONNREFUSED || errno == ENOTDIR) return std::nullopt;
  throw Failure(fmt::format("the device process at {} cannot be reached: {}", path, std::strerror(errno)));
}

bool AdminClient::receive_some(std::chrono::steady_clock::time_point deadline, const std::string& what) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  pollfd answer{socket_.get(), POLLIN, 0};
  const int ready = poll(&answer, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
  if (ready < 0 && errno == EINTR) return true;
  if (ready == 0) {
    ucred process{};
    socklen_t length = sizeof process;
    getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &process, &length);
    throw Failure(
        fmt::format("the device process (pid {}) has not answered '{}' for {} s: try 'urnic status', which "
                    "says whether an engine is stuck, or end it with 'urnic down'",
                    process.pid, what, kPatience.count()));
  }
  std::array<char, 16384> bytes;
  iovec part{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t size = 0;
  do {
    size = recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size <= 0) return false;
  take_rights(message, descriptors_);
  received_.append(bytes.data(), static_cast<std::size_t>(size));
  return true;
}

nlohmann::json AdminClient::ask(const nlohmann::json& request) {
  const std::string line = json_text(request) + "\n";
  if (send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size())) {
    throw ConversationEnded();
  }
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  const std::string what = request.value("cmd", "");
  std::size_t end = received_.find('\n');
  while (end == std::string::npos) {
    if (!receive_some(deadline, what)) throw ConversationEnded();
    end = received_.find('\n');
  }
  nlohmann::json answer = parse_json(received_.substr(0, end));
  received_.erase(0, end + 1);
  if (!answer.is_object())
    throw Failure("the device process answered with something that is not a JSON object");
  if (answer.contains("error")) throw RequestRefused(answer["error"].get<std::string>());
  return answer;
}

AdminClient connect_or_fail(const std::filesystem::path& run_directory) {
  std::optional<AdminClient> client = AdminClient::connect(run_directory);
  if (!client) {
    throw Failure(fmt::format("no device process runs in {}: start one with 'urnic up', or use 'urnic run'",
                              run_directory.string()),
                  exit_not_running);
  }
  return std::move(*client);
}

}  // namespace urnic::cli
