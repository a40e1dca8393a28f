#include "device_model/control/address_map.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "device_model/control/files_in_memory.hpp"
#include "device_model/memory/bytewise_copies.hpp"

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
// And this one is told of.
constexpr std::uint64_t kShared = 8;

struct CloseFile {
  void operator()(FILE* file) const { std::fclose(file); }
};

// Of an entry of /proc/PID/pagemap: the page is there; it is a file's, or shared memory.
constexpr std::uint64_t kPresent = std::uint64_t{1} << 63;
constexpr std::uint64_t kSwapped = std::uint64_t{1} << 62;
constexpr std::uint64_t kOfFile = std::uint64_t{1} << 61;
// More are not looked at: they count as a file's.
constexpr std::uint64_t kMostPages = 4096;

}  // namespace

bool AddressMap::parse(const char* line, Mapping& mapping) {
  unsigned long start = 0;
  unsigned long end = 0;
  unsigned long inode = 0;
  unsigned major = 0;
  unsigned minor = 0;
  char rights[5] = {};
  if (std::sscanf(line, "%lx-%lx %4s %*x %x:%x %lu", &start, &end, rights, &major, &minor, &inode) != 6)
    return false;
  mapping = {.start = start,
             .end = end,
             .readable = rights[0] == 'r',
             .writable = rights[1] == 'w',
             .shared = rights[3] == 's',
             .device = makedev(major, minor),
             .inode = inode};
  return true;
}

AddressMap::AddressMap(pid_t pid, Way way)
    : pid_(pid),
      maps_(open(("/proc/" + std::to_string(pid) + "/maps").c_str(), O_RDONLY | O_CLOEXEC)),
      way_(way) {}

AddressMap::Answer AddressMap::covers(std::uint64_t address, std::uint64_t length, bool writable) {
  const std::uint64_t end = address + length;
  may_wait_ = false;
  if (way_ == Way::query) {
    const Answer answer = ask(address, end, writable);
    if (answer != Answer::unknown || mappings_told_ != 0) return answer;
    way_ = Way::text;  // not even one was told of: the kernel does not know the question
  }
  return read(address, end, writable);
}

AddressMap::Answer AddressMap::query(std::uint64_t address, bool writable, Mapping& mapping) {
  ProcmapQuery query;
  query.flags = kReadable | (writable ? kWritable : 0);
  query.address = address;
  if (ioctl(maps_.get(), kProcmapQuery, &query) != 0)
    return errno == ENOTTY || errno == EINVAL || errno == ENOSYS ? Answer::unknown : Answer::no;
  ++mappings_told_;
  mapping = {.start = query.start,
             .end = query.end,
             .readable = true,
             .writable = writable,
             .shared = (query.rights & kShared) != 0,
             .device = makedev(query.device_major, query.device_minor),
             .inode = query.inode};
  return Answer::yes;
}

AddressMap::Answer AddressMap::ask(std::uint64_t address, std::uint64_t end, bool writable) {
  for (std::uint32_t i = 0; i < kMostMappings; ++i) {
    Mapping mapping;
    const Answer answer = query(address, writable, mapping);
    if (answer != Answer::yes) return answer;
    look_at(mapping, address, end);
    address = mapping.end;
    if (address >= end) return answer;
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
    Mapping map;
    if (getline(&line, &room, maps.get()) <= 0 || !parse(line, map)) {
      answer = Answer::no;
      break;
    }
    ++mappings_told_;
    if (map.end <= address) continue;
    if (map.start > address || !map.readable || (writable && !map.writable)) answer = Answer::no;
    look_at(map, address, end);
    address = map.end;
    if (answer == Answer::unknown && address >= end) answer = Answer::yes;
  }
  std::free(line);
  return answer;
}

void AddressMap::look_at(const Mapping& mapping, std::uint64_t address, std::uint64_t end) {
  const bool anonymous = mapping.device == 0 && mapping.inode == 0;
  if (may_wait_ || anonymous || is_in_memory(mapping.device, pid_)) return;
  may_wait_ = mapping.shared || !is_private_copy(address, std::min(end, mapping.end));
}

bool AddressMap::is_private_copy(std::uint64_t address, std::uint64_t end) const {
  const std::uint64_t first = address / memory::kPageBytes;
  const std::uint64_t pages = (end - 1) / memory::kPageBytes - first + 1;
  const std::string file = "/proc/" + std::to_string(pid_) + "/pagemap";
  const memory::Descriptor pagemap(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!pagemap || pages > kMostPages) return false;
  std::vector<std::uint64_t> entries(pages);
  const std::size_t size = pages * sizeof(std::uint64_t);
  const auto offset = static_cast<off_t>(first * sizeof(std::uint64_t));
  if (pread(pagemap.get(), entries.data(), size, offset) != static_cast<ssize_t>(size)) return false;
  return std::all_of(entries.begin(), entries.end(), [](std::uint64_t entry) {
    return (entry & (kPresent | kSwapped)) != 0 && (entry & kOfFile) == 0;
  });
}

}  // namespace urnic::control
