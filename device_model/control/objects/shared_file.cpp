#include "device_model/control/objects/shared_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "device_model/control/objects/shared_pages.hpp"

namespace urnic::control {
namespace {

// Of a folder; each costs a microsecond or two of the control thread.
constexpr int kMostEntries = 512;

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

// O_PATH: nothing of the file but its name is touched yet. It may not be what it was a moment ago.
memory::Descriptor if_it_is(memory::Descriptor found, const memory::FileNumber& file) {
  struct statfs system {};
  struct stat status {};
  if (!found || memory::file_number(found.get()) != file) return {};
  if (fstatfs(found.get(), &system) != 0) return {};
  if (system.f_type != TMPFS_MAGIC && system.f_type != HUGETLBFS_MAGIC) return {};
  return fstat(found.get(), &status) == 0 && S_ISREG(status.st_mode) ? std::move(found)
                                                                     : memory::Descriptor();
}

// The text of the link says what it leads to without a look at that, which might belong to a file system that
// does not answer.
bool leads_into_memory(int folder, const char* name) {
  std::array<char, 64> text;
  const ssize_t length = readlinkat(folder, name, text.data(), text.size());
  const std::string_view target(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  constexpr std::string_view kMemfd = "/memfd:";
  // Where huge pages are mounted: "/dev/hugepages", and further sizes beside it, such as "/dev/hugepages1G".
  if (target.rfind("/dev/shm/", 0) == 0 || target.rfind("/dev/hugepages", 0) == 0) return true;
  // The device process's own files become private memory again when no region needs them (shared_pages.hpp).
  return target.rfind(kMemfd, 0) == 0 && target.rfind(kSharedPagesName, kMemfd.size()) != kMemfd.size();
}

memory::Descriptor among_descriptors(pid_t pid, const memory::FileNumber& file) {
  const Folder folder(opendir(("/proc/" + std::to_string(pid) + "/fd").c_str()));
  if (folder == nullptr) return {};
  for (int i = 0; i < kMostEntries; ++i) {
    const dirent* const entry = readdir(folder.get());
    if (entry == nullptr) break;
    if (!leads_into_memory(dirfd(folder.get()), entry->d_name)) continue;
    auto found =
        if_it_is(memory::Descriptor(openat(dirfd(folder.get()), entry->d_name, O_PATH | O_CLOEXEC)), file);
    if (found) return found;
  }
  return {};
}

memory::Descriptor in_shared_memory_folder(const memory::FileNumber& file) {
  const Folder folder(opendir("/dev/shm"));
  if (folder == nullptr) return {};
  for (int i = 0; i < kMostEntries; ++i) {
    const dirent* const entry = readdir(folder.get());
    if (entry == nullptr) break;
    if (entry->d_ino != file.inode || entry->d_type != DT_REG) continue;
    return if_it_is(
        memory::Descriptor(openat(dirfd(folder.get()), entry->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC)),
        file);
  }
  return {};
}

}  // namespace

memory::Descriptor open_shared_file(pid_t pid, const memory::FileNumber& file, bool writable) {
  memory::Descriptor found = among_descriptors(pid, file);
  if (!found) found = in_shared_memory_folder(file);
  if (!found) return {};
  const std::string again = "/proc/self/fd/" + std::to_string(found.get());
  return memory::Descriptor(open(again.c_str(), (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC));
}

bool shares_segment_identifiers(pid_t pid) {
  std::array<char, 64> theirs;
  std::array<char, 64> own;
  const std::string link = "/proc/" + std::to_string(pid) + "/ns/ipc";
  const ssize_t length = readlink(link.c_str(), theirs.data(), theirs.size());
  return length > 0 && readlink("/proc/self/ns/ipc", own.data(), own.size()) == length &&
         std::equal(own.begin(), own.begin() + length, theirs.begin());
}

}  // namespace urnic::control
