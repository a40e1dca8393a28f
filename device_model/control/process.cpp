#include "device_model/control/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "device_model/control/address_map.hpp"

namespace urnic::control {
namespace {

// -1 if `descriptor` is no pidfd.
pid_t pid_of(int descriptor) {
  std::ifstream info("/proc/self/fdinfo/" + std::to_string(descriptor));
  std::string word;
  while (info >> word) {
    pid_t pid = 0;
    if (word == "Pid:" && info >> pid) return pid < 0 ? 0 : pid;
  }
  return -1;
}

bool has_ended(int pidfd) {
  pollfd entry{pidfd, POLLIN, 0};
  return poll(&entry, 1, 0) > 0;
}

}  // namespace

bool is_pidfd(int descriptor) { return pid_of(descriptor) >= 0; }

Process::Process(memory::Descriptor pidfd, memory::Descriptor mem, std::string program)
    : program_(std::move(program)) {
  pid_ = pid_of(pidfd.get());
  if (pid_ < 0) throw std::system_error(EINVAL, std::generic_category(), "not a pidfd");
  pidfd_ = memory::Descriptor(fcntl(pidfd.get(), F_DUPFD_CLOEXEC, 0));
  if (!pidfd_) throw std::system_error(errno, std::generic_category(), "pidfd");
  memory_ = memory::open_process_memory(pid_, std::move(pidfd), std::move(mem), memory_problem_);
}

int Process::check_mapped(std::uint64_t address, std::uint64_t length, bool writable) const {
  if (pid_ > 0) {
    AddressMap map(pid_);
    // Only now: the number was the process's own while the map was being opened.
    if (has_ended(pidfd_.get())) return EFAULT;
    const auto covered = map.is_open() ? map.covers(address, length, writable) : AddressMap::Answer::unknown;
    if (covered != AddressMap::Answer::unknown) return covered == AddressMap::Answer::yes ? 0 : EFAULT;
  }
  return probe(address, length);
}

// Without /proc's view of the process, or where it would take too long, the ends at least can be tried.
int Process::probe(std::uint64_t address, std::uint64_t length) const {
  std::array<std::byte, 2> bytes;
  std::array<memory::Transfer, 2> ends{
      memory::Transfer{address, std::span(bytes).first(1)},
      memory::Transfer{address + length - 1, std::span(bytes).last(1)},
  };
  memory_->read(ends);
  return ends[0].failed || ends[1].failed ? EFAULT : 0;
}

std::string printable_name(const char* name, std::size_t size) {
  std::string text(name, strnlen(name, size));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return text;
}

}  // namespace urnic::control
