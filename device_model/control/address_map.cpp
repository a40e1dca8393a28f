#include "device_model/control/address_map.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace urnic::control {
namespace {

// struct procmap_query and its ioctl of linux/fs.h, which headers older than Linux 6.11 do not have.
struct ProcmapQuery {
  std::uint64_t size = sizeof(ProcmapQuery);
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t start = 0;  // from here on the kernel's answer
  std::uint64_t end = 0;
  std::uint64_t rights = 0;
  std::uint64_t page_size = 0;
  std::uint64_t offset = 0;
  std::uint64_t inode = 0;
  std::uint32_t device_major = 0;
  std::uint32_t device_minor = 0;
  std::uint32_t name_size = 0;  // 0: neither name nor build id is asked for
  std::uint32_t build_id_size = 0;
  std::uint64_t name = 0;
  std::uint64_t build_id = 0;
};
static_assert(sizeof(ProcmapQuery) == 104);
static_assert(kProcmapQuery == _IOWR('f', 17, ProcmapQuery));
// Only mappings with these rights are found.
constexpr std::uint64_t kReadable = 1;
constexpr std::uint64_t kWritable = 2;

struct CloseFile {
  void operator()(FILE* file) const { std::fclose(file); }
};

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

}  // namespace

AddressMap::AddressMap(pid_t pid, Way way)
    : maps_(open(("/proc/" + std::to_string(pid) + "/maps").c_str(), O_RDONLY | O_CLOEXEC)), way_(way) {}

AddressMap::Answer AddressMap::covers(std::uint64_t address, std::uint64_t length, bool writable) {
  const std::uint64_t end = address + length;
  if (way_ == Way::query) {
    const Answer answer = ask(address, end, writable);
    if (answer != Answer::unknown || mappings_told_ != 0) return answer;
    way_ = Way::text;  // not even one was told of: the kernel does not know the question
  }
  return read(address, end, writable);
}

AddressMap::Answer AddressMap::query(std::uint64_t address, bool writable, std::uint64_t& end) {
  ProcmapQuery query;
  query.flags = kReadable | (writable ? kWritable : 0);
  query.address = address;
  if (ioctl(maps_.get(), kProcmapQuery, &query) != 0)
    return errno == ENOTTY || errno == EINVAL || errno == ENOSYS ? Answer::unknown : Answer::no;
  ++mappings_told_;
  end = query.end;
  return Answer::yes;
}

AddressMap::Answer AddressMap::ask(std::uint64_t address, std::uint64_t end, bool writable) {
  for (std::uint32_t i = 0; i < kMostMappings; ++i) {
    const Answer answer = query(address, writable, address);
    if (answer != Answer::yes || address >= end) return answer;
  }
  return Answer::unknown;
}

// Follows the mappings upwards, by which they are sorted. The kernel has no way to begin at `address`.
AddressMap::Answer AddressMap::read(std::uint64_t address, std::uint64_t end, bool writable) {
  const int copy = fcntl(maps_.get(), F_DUPFD_CLOEXEC, 0);
  const std::unique_ptr<FILE, CloseFile> maps(copy >= 0 ? fdopen(copy, "r") : nullptr);
  if (maps == nullptr || lseek(copy, 0, SEEK_SET) != 0) return Answer::unknown;
  char* line = nullptr;
  std::size_t room = 0;
  Answer answer = Answer::unknown;
  for (std::uint32_t i = 0; i < kMostMappings && answer == Answer::unknown; ++i) {
    MapLine map;
    if (getline(&line, &room, maps.get()) <= 0 || !parse_map_line(line, map)) {
      answer = Answer::no;
      break;
    }
    ++mappings_told_;
    if (map.end <= address) continue;
    if (map.start > address || !map.readable || (writable && !map.writable)) answer = Answer::no;
    address = map.end;
    if (answer == Answer::unknown && address >= end) answer = Answer::yes;
  }
  std::free(line);
  return answer;
}

}  // namespace urnic::control
