#include "device_model/control/objects/address_map.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device_model/control/confinement/procmap_query.hpp"
#include "device_model/control/objects/files_in_memory.hpp"
#include "device_model/memory/page_size.hpp"

namespace urnic::control {
namespace {

// A mapping must have these rights.
constexpr std::uint64_t kReadable = 1;
constexpr std::uint64_t kWritable = 2;
// This one is reported as well.
constexpr std::uint64_t kShared = 8;

// Bits of /proc/PID/pagemap entries: the page is present, or swapped out; it is a file's, or shared memory.
constexpr std::uint64_t kPresent = std::uint64_t{1} << 63;
constexpr std::uint64_t kSwapped = std::uint64_t{1} << 62;
constexpr std::uint64_t kOfFile = std::uint64_t{1} << 61;
// Further pages are not checked and count as a file's.
constexpr std::uint64_t kMostPages = 4096;
// The cost of checking a file's pages, in mappings.
constexpr std::uint32_t kMappingsPerFile = 8;
constexpr std::uint32_t kPagesPerMapping = 64;

// How the kernel calls the segments of System V; their key follows. A file of a program's may have such a
// name, too.
constexpr std::string_view kSegmentName = "/SYSV";

}  // namespace

bool AddressMap::parse(const char* line, Mapping& mapping) {
  unsigned long start = 0;
  unsigned long end = 0;
  unsigned long inode = 0;
  unsigned long offset = 0;
  unsigned major = 0;
  unsigned minor = 0;
  char rights[5] = {};
  int name = 0;
  if (std::sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %n", &start, &end, rights, &offset, &major, &minor, &inode,
                  &name) != 7)
    return false;
  mapping = {.start = start,
             .end = end,
             .readable = rights[0] == 'r',
             .writable = rights[1] == 'w',
             .shared = rights[3] == 's',
             .device = makedev(major, minor),
             .inode = inode,
             .offset = offset,
             .is_segment = std::string_view(line + name).substr(0, kSegmentName.size()) == kSegmentName};
  return true;
}

AddressMap::AddressMap(pid_t pid, Way way)
    : pid_(pid),
      maps_(open(("/proc/" + std::to_string(pid) + "/maps").c_str(), O_RDONLY | O_CLOEXEC)),
      way_(way) {}

AddressMap::Answer AddressMap::covers(std::uint64_t address, std::uint64_t length, bool writable) {
  if (!question_) {
    question_ = Question{.begin = address, .next = address, .end = address + length, .writable = writable};
    may_wait_ = false;
    shared_file_.reset();
    is_private_memory_ = false;
    text_.reset();
  }
  const Answer answer = go_on();
  if (answer != Answer::not_yet) question_.reset();
  return answer;
}

AddressMap::Answer AddressMap::go_on() {
  question_->cost = 0;
  while (question_->cost < kMappingsPerPortion) {
    Mapping mapping;
    if (const Answer answer = next(mapping); answer != Answer::yes) return answer;
    ++question_->cost;
    if (mapping.end <= question_->next) continue;  // below the range
    if (mapping.start > question_->next || !mapping.readable || (question_->writable && !mapping.writable))
      return Answer::no;
    look_at(mapping);
    const bool is_whole = question_->next == question_->begin && mapping.end >= question_->end;
    if (is_whole && mapping.shared && mapping.inode != 0)
      shared_file_ = {{mapping.device, mapping.inode},
                      mapping.offset + (question_->begin - mapping.start),
                      mapping.is_segment ? page_bytes_of_kernel_mount(mapping.device).value_or(0) : 0};
    is_private_memory_ =
        is_whole && !mapping.shared && mapping.writable && mapping.inode == 0 && mapping.device == 0;
    question_->next = mapping.end;
    if (question_->next >= question_->end) return Answer::yes;
  }
  return Answer::not_yet;
}

AddressMap::Answer AddressMap::next(Mapping& mapping) {
  if (way_ == Way::query) {
    const Answer answer = next_by_query(mapping);
    if (answer != Answer::unknown) return answer;
    way_ = Way::text;
  }
  return next_by_text(mapping);
}

AddressMap::Answer AddressMap::next_by_query(Mapping& mapping) {
  ProcmapQuery query;
  query.flags = kReadable | (question_->writable ? kWritable : 0);
  query.address = question_->next;
  if (ioctl(maps_.get(), kProcmapQuery, &query) != 0)
    return errno == ENOTTY || errno == EINVAL || errno == ENOSYS ? Answer::unknown : Answer::no;
  ++mappings_told_;
  mapping = {.start = query.start,
             .end = query.end,
             .readable = true,
             .writable = (query.rights & kWritable) != 0,
             .shared = (query.rights & kShared) != 0,
             .device = makedev(query.device_major, query.device_minor),
             .inode = query.inode,
             .offset = query.offset};
  mapping.is_segment = mapping.shared && mapping.inode != 0 && is_called_segment(mapping.start);
  return Answer::yes;
}

// A name that does not fit is another one.
bool AddressMap::is_called_segment(std::uint64_t address) const {
  std::array<char, 64> name{};
  ProcmapQuery query;
  query.address = address;
  query.name = reinterpret_cast<std::uintptr_t>(name.data());
  query.name_size = name.size();
  return ioctl(maps_.get(), kProcmapQuery, &query) == 0 &&
         std::string_view(name.data(), kSegmentName.size()) == kSegmentName;
}

// Reads the mappings upwards; they are sorted. The kernel cannot begin at an address.
AddressMap::Answer AddressMap::next_by_text(Mapping& mapping) {
  if (text_ == nullptr && !open_text()) return Answer::unknown;
  std::array<char, 512> line;
  bool begins = false;
  while (!begins) {  // skips the rest of a line, a file's name with any text
    if (std::fgets(line.data(), line.size(), text_.get()) == nullptr) return Answer::no;
    begins = std::exchange(line_begins_, std::strchr(line.data(), '\n') != nullptr);
  }
  if (!parse(line.data(), mapping)) return Answer::no;
  ++mappings_told_;
  return Answer::yes;
}

bool AddressMap::open_text() {
  const int copy = fcntl(maps_.get(), F_DUPFD_CLOEXEC, 0);
  text_.reset(copy >= 0 ? fdopen(copy, "r") : nullptr);
  line_begins_ = true;
  return text_ != nullptr && lseek(copy, 0, SEEK_SET) == 0;
}

void AddressMap::look_at(const Mapping& mapping) {
  const bool anonymous = mapping.device == 0 && mapping.inode == 0;
  if (may_wait_ || anonymous || is_in_memory(mapping.device, pid_)) return;
  const std::uint64_t end = std::min(question_->end, mapping.end);
  const std::uint64_t pages = (end - question_->next) / memory::page_bytes();
  question_->cost +=
      kMappingsPerFile + static_cast<std::uint32_t>(std::min(pages, kMostPages)) / kPagesPerMapping;
  may_wait_ = mapping.shared || !is_private_copy(question_->next, end);
}

bool AddressMap::is_private_copy(std::uint64_t address, std::uint64_t end) const {
  const std::uint64_t first = address / memory::page_bytes();
  const std::uint64_t pages = (end - 1) / memory::page_bytes() - first + 1;
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
