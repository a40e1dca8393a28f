#include "device_model/control/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "device_model/memory/descriptor_facts.hpp"
#include "device_model/memory/mem_file_memory.hpp"

namespace urnic::control {
namespace {

struct CloseFile {
  void operator()(FILE* file) const { std::fclose(file); }
};

// -1 if `descriptor` is no pidfd.
pid_t pid_of(int descriptor) {
  const std::string number = memory::fdinfo_word(descriptor, "Pid");
  if (number.empty()) return -1;
  return std::max(static_cast<pid_t>(std::strtol(number.c_str(), nullptr, 10)), 0);
}

bool has_ended(int pidfd) {
  pollfd entry{pidfd, POLLIN, 0};
  return poll(&entry, 1, 0) > 0;
}

struct MapLine {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  bool readable = false;
  bool writable = false;
};

bool parse_map_line(const char* line, MapLine& map) {
  unsigned long start = 0;
  unsigned long end = 0;
  char rights[5] = {};
  if (std::sscanf(line, "%lx-%lx %4s", &start, &end, rights) != 3) return false;
  map = {start, end, rights[0] == 'r', rights[1] == 'w'};
  return true;
}

// Follows the mappings upwards from `address`, which they are sorted by.
bool covered(FILE* maps, std::uint64_t address, std::uint64_t end, bool writable) {
  char* line = nullptr;
  std::size_t room = 0;
  bool whole = false;
  while (!whole && getline(&line, &room, maps) > 0) {
    MapLine map;
    if (!parse_map_line(line, map) || map.end <= address) continue;
    if (map.start > address || !map.readable || (writable && !map.writable)) break;
    address = map.end;
    whole = address >= end;
  }
  std::free(line);
  return whole;
}

}  // namespace

bool is_of_own_process(int pidfd, int mem) {
  const auto is_own_thread = [](pid_t number) {
    return number > 0 && access(("/proc/self/task/" + std::to_string(number)).c_str(), F_OK) == 0;
  };
  if (is_own_thread(pid_of(pidfd))) return true;
  return memory::is_mem_file(mem) && is_own_thread(memory::mem_file_number(mem));
}

bool is_pidfd(int descriptor) { return pid_of(descriptor) >= 0; }

Process::Process(memory::Descriptor&& pidfd, memory::Descriptor&& mem, std::string program)
    : program_(std::move(program)) {
  pid_ = pid_of(pidfd.get());
  if (pid_ < 0) throw std::system_error(EINVAL, std::generic_category(), "not a pidfd");
  pidfd_ = memory::Descriptor(fcntl(pidfd.get(), F_DUPFD_CLOEXEC, 0));
  if (!pidfd_) throw std::system_error(errno, std::generic_category(), "pidfd");
  memory_ = memory::open_process_memory(pid_, std::move(pidfd), std::move(mem), memory_problem_);
  if (memory_ != nullptr) memory_->set_owner(pid_);
}

int Process::check_mapped(std::uint64_t address, std::uint64_t length, bool writable) const {
  if (pid_ > 0) {
    const std::string path = "/proc/" + std::to_string(pid_) + "/maps";
    const std::unique_ptr<FILE, CloseFile> maps(std::fopen(path.c_str(), "re"));
    // Only now: the number was the process's own while the file was being opened.
    if (has_ended(pidfd_.get())) return EFAULT;
    if (maps != nullptr) return covered(maps.get(), address, address + length, writable) ? 0 : EFAULT;
  }
  return probe(address, length);
}

// Without /proc's view of the process, the ends at least can be tried.
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
