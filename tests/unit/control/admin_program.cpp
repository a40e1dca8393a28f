#include "tests/unit/control/admin_program.hpp"

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstring>

#include "json/json.hpp"

namespace urnic::control::test {

AdminProgram::AdminProgram(const RunningProcess& process)
    : socket_(connect_to(process.directory().admin_socket(), SOCK_STREAM)) {}

void AdminProgram::send_text(const std::string& text) {
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t size = ::send(socket_.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (size <= 0) return;
    sent += static_cast<std::size_t>(size);
  }
}

std::string AdminProgram::receive_line() {
  while (received_.find('\n') == std::string::npos) {
    std::array<char, 4096> bytes;
    iovec part{bytes.data(), bytes.size()};
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(4 * sizeof(int))> ancillary;
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = ancillary.data();
    header.msg_controllen = ancillary.size();
    const ssize_t size = recvmsg(socket_.get(), &header, MSG_CMSG_CLOEXEC);
    if (size <= 0) return "";
    for (cmsghdr* rights = CMSG_FIRSTHDR(&header); rights != nullptr; rights = CMSG_NXTHDR(&header, rights)) {
      const std::size_t count = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < count; ++i) {
        int descriptor = -1;
        std::memcpy(&descriptor, CMSG_DATA(rights) + i * sizeof(int), sizeof descriptor);
        descriptors.emplace_back(descriptor);
      }
    }
    received_.append(bytes.data(), static_cast<std::size_t>(size));
  }
  const std::string line = received_.substr(0, received_.find('\n'));
  received_.erase(0, line.size() + 1);
  return line;
}

nlohmann::json AdminProgram::ask(const nlohmann::json& request) {
  send_text(json_text(request) + "\n");
  return parse_json(receive_line());
}

}  // namespace urnic::control::test
