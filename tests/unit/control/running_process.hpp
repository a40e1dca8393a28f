// A device process that runs on a thread of the test, and programs that reach it through its sockets.
#pragma once

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "device_model/control/device_process.hpp"
#include "device_model/control/loop/message_socket.hpp"
#include "json/json.hpp"
#include "tests/unit/control/temporary_directory.hpp"

namespace urnic::control::test {

inline memory::Descriptor connect_to(const std::filesystem::path& path, int type) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  memory::Descriptor socket(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw std::system_error(errno, std::generic_category(), "connect");
  }
  return socket;
}

class RunningProcess {
 public:
  explicit RunningProcess(const DeviceProcessOptions& options = {},
                          const Configuration& configuration = default_configuration())
      : directory_(parent_.path() / "run") {
    process_.emplace(directory_, configuration, options);
    thread_ = std::thread([this] { process_->run(); });
  }
  ~RunningProcess() { end(); }

  void end() {
    if (!thread_.joinable()) return;
    process_->stop();
    wait();
  }
  // Until it ends by itself.
  void wait() {
    thread_.join();
    process_.reset();
  }
  const OwnedRunDirectory& directory() const { return directory_; }
  pthread_t thread() { return thread_.native_handle(); }
  // Of the device of that number; nodes need not have the same numbers.
  std::filesystem::path node(int number) const {
    for (const auto& entry :
         std::filesystem::directory_iterator(directory_.sysfs() / "class" / "infiniband_verbs")) {
      if (contents(entry.path() / "ibdev") != "urnic" + std::to_string(number) + "\n") continue;
      return directory_.device_nodes() / entry.path().filename();
    }
    throw std::runtime_error("no such device");
  }
  // What one of the files in the port's folder says.
  std::string port_file(int number, const std::string& name) const {
    const std::string device = "urnic" + std::to_string(number);
    return contents(directory_.sysfs() / "class" / "infiniband" / device / "ports" / "1" / name);
  }

 private:
  TemporaryDirectory parent_;
  OwnedRunDirectory directory_;
  std::optional<DeviceProcess> process_;
  std::thread thread_;
};

// A conversation on the admin socket.
class AdminProgram {
 public:
  explicit AdminProgram(const RunningProcess& process)
      : socket_(connect_to(process.directory().admin_socket(), SOCK_STREAM)) {}

  // Sends anything.
  void send_text(const std::string& text) {
    std::size_t sent = 0;
    while (sent < text.size()) {
      const ssize_t size = ::send(socket_.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (size <= 0) return;
      sent += static_cast<std::size_t>(size);
    }
  }
  // The next line; empty once the conversation is over.
  std::string receive_line() {
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
      for (cmsghdr* rights = CMSG_FIRSTHDR(&header); rights != nullptr;
           rights = CMSG_NXTHDR(&header, rights)) {
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
  nlohmann::json ask(const nlohmann::json& request) {
    send_text(json_text(request) + "\n");
    return parse_json(receive_line());
  }
  int descriptor() const { return socket_.get(); }

  std::vector<memory::Descriptor> descriptors;  // that have come with answers

 private:
  memory::Descriptor socket_;
  std::string received_;
};

}  // namespace urnic::control::test
