#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "device_model/memory/descriptor.hpp"
#include "tools/urnic/doctor/examinations.hpp"

namespace urnic::cli::doctor {
namespace {

Finding refused(const char* subject, const std::string& call, const char* remedy) {
  return {Severity::obstacle, subject, fmt::format("{} fails: {}", call, std::strerror(errno)), remedy};
}

Finding kernel_release() {
  utsname kernel{};
  uname(&kernel);
  return {Severity::good, "kernel",
          fmt::format("{} {} on {}", kernel.sysname, kernel.release, kernel.machine), ""};
}

// Queues and packet memory are in anonymous memory files whose size is sealed.
Finding memory_files() {
  const memory::Descriptor file(memfd_create("urnic-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const char* const remedy = "allow memfd_create in the container's system call filter";
  if (file.get() < 0) return refused("memory files", "memfd_create", remedy);
  if (ftruncate(file.get(), 4096) != 0) {
    return refused("memory files", "ftruncate of a memory file", "raise the file size limit (ulimit -f)");
  }
  if (fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
    return refused("memory files", "sealing a memory file", "use a kernel that seals memory files");
  }
  return {Severity::good, "memory files", "can be made and sealed", ""};
}

Finding local_sockets() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return refused("sockets", "socketpair(AF_UNIX, SOCK_SEQPACKET)",
                   "allow Unix sockets in the container's system call filter");
  }
  const memory::Descriptor first(ends[0]);
  const memory::Descriptor second(ends[1]);
  return {Severity::good, "sockets", "programs can reach a device process", ""};
}

std::string status_value(const std::string& name) {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.rfind(name + ":\t", 0) == 0) return line.substr(name.size() + 2);
  }
  return {};
}

Finding system_call_filter() {
  if (status_value("Seccomp") != "2") return {Severity::good, "seccomp", "no system call filter", ""};
  return {Severity::good, "seccomp", "a system call filter is in force; the other lines tell what it refuses",
          ""};
}

}  // namespace

Findings examine_kernel() {
  return {kernel_release(), memory_files(), local_sockets(), system_call_filter()};
}

}  // namespace urnic::cli::doctor
