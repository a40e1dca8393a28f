// urnic-pvrdma-mux: gives guests of QEMU with pvrdma devices their addresses on a device of urnic, and
// carries their messages of connection management.
#include <fmt/format.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#include "command_line/command_line.hpp"
#include "device_model/abi/run_directory_layout.hpp"
#include "tools/pvrdma_mux/device_gids.hpp"
#include "tools/pvrdma_mux/mux.hpp"
#include "tools/pvrdma_mux/umad_port.hpp"

namespace urnic::pvrdma_mux {
namespace {

// What a mux that was killed has left, and nobody listens on, makes way.
void remove_stale(const sockaddr_un& address) {
  if (!std::filesystem::is_socket(address.sun_path)) return;
  const memory::Descriptor probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto* const where = reinterpret_cast<const sockaddr*>(&address);
  if (connect(probe.get(), where, sizeof address) != 0 && errno == ECONNREFUSED)
    std::filesystem::remove(address.sun_path);
}

// For this user only. Removed with the object.
class ListeningPath {
 public:
  explicit ListeningPath(const std::string& path) : path_(path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
      throw std::runtime_error(fmt::format("--socket {}: a socket's path has at most {} characters", path,
                                           sizeof address.sun_path - 1));
    std::memcpy(address.sun_path, path.data(), path.size());
    remove_stale(address);
    socket_ = memory::Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const mode_t before = umask(077);
    const int bound = bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    const int error = errno;
    umask(before);
    if (bound != 0) throw std::system_error(error, std::generic_category(), "--socket " + path);
    is_there_ = true;
    if (listen(socket_.get(), SOMAXCONN) != 0)
      throw std::system_error(errno, std::generic_category(), "--socket " + path);
  }
  ~ListeningPath() {
    std::error_code ignored;
    if (is_there_) std::filesystem::remove(path_, ignored);
  }
  ListeningPath(const ListeningPath&) = delete;
  ListeningPath& operator=(const ListeningPath&) = delete;

  memory::Descriptor take() { return std::move(socket_); }

 private:
  std::string path_;
  memory::Descriptor socket_;
  bool is_there_ = false;
};

void run(const std::string& directory, const std::string& device, const std::string& path) {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ends, signal);
  sigprocmask(SIG_BLOCK, &ends, nullptr);
  const memory::Descriptor stop(signalfd(-1, &ends, SFD_CLOEXEC));
  DeviceGids gids(directory, device);
  UmadPort port(device);
  ListeningPath listening(path);
  fmt::print("guests of {} find the mux at {}\n", device, path);
  std::fflush(stdout);
  Mux(listening.take(), gids, port).serve_until(stop.get());
}

}  // namespace
}  // namespace urnic::pvrdma_mux

int main(int argc, char** argv) {
  std::string device = "urnic0";
  std::string path;
  urnic::command_line::CommandLine line(
      "What QEMU's pvrdma devices ask of their host; urnic pvrdma-mux starts it", "urnic-pvrdma-mux");
  line.add_option("--device", device, "Whose GIDs guests get").show_default();
  line.add_option("--socket", path, "Where QEMU finds it").required();
  int status = 0;
  if (!line.parse(argc, argv, status)) return status;
  const char* const directory = std::getenv(urnic::abi::kRunDirectoryVariable);
  try {
    if (directory == nullptr)
      throw std::runtime_error("no run directory is named: start it by urnic pvrdma-mux");
    urnic::pvrdma_mux::run(directory, device, path);
  } catch (const std::exception& error) {
    fmt::print(stderr, "urnic-pvrdma-mux: {}\n", error.what());
    return 1;
  }
  return 0;
}
