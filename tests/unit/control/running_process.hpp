// A device process that runs on a thread of the test, and how programs reach its sockets.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "device_model/control/device_process.hpp"
#include "device_model/control/loop/message_socket.hpp"
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

}  // namespace urnic::control::test
