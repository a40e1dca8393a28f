// fopen and freopen. glibc's functions do not call the interposed open.
#include <fcntl.h>
#include <stdio.h>

#include "provider/kernel/bounded_text.hpp"
#include "provider/kernel/entry_point.hpp"
#include "provider/kernel/path_map.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/unreadable_file.hpp"

namespace urnic::kernel {

namespace {

// The mode to open a file with. As in sysfs, programs cannot create a mapped file, and truncating one does
// nothing, so "w" and "a" become "r+". The other letters stay, except "x".
class StreamMode {
 public:
  StreamMode(const KernelPath& path, const char* mode) : mode_(mode) {
    if (!path.is_mapped() || mode == nullptr || (mode[0] != 'w' && mode[0] != 'a')) return;
    changed_.append("r+");
    for (const char* letter = mode + 1; *letter != '\0'; ++letter)
      if (*letter != '+' && *letter != 'x') changed_.append(letter, 1);
    mode_ = changed_.text();
  }
  StreamMode(const StreamMode&) = delete;
  StreamMode& operator=(const StreamMode&) = delete;
  const char* get() const { return mode_; }

 private:
  const char* mode_;
  BoundedText<64> changed_;
};

FILE* finished(FILE* stream, const KernelPath& path) {
  if (stream != nullptr) make_unreadable_if_empty(fileno(stream), path);
  return stream;
}

}  // namespace

extern "C" {

FILE* entry_fopen(const char* path, const char* mode) URNIC_ENTRY_POINT("fopen");
FILE* entry_fopen(const char* path, const char* mode) {
  const KernelPath kernel_path(AT_FDCWD, path);
  return finished(real::fopen(kernel_path.get(), StreamMode(kernel_path, mode).get()), kernel_path);
}
FILE* entry_fopen64(const char* path, const char* mode) URNIC_ENTRY_ALIAS("fopen64", "fopen");

FILE* entry_freopen(const char* path, const char* mode, FILE* stream) URNIC_ENTRY_POINT("freopen");
FILE* entry_freopen(const char* path, const char* mode, FILE* stream) {
  const KernelPath kernel_path(AT_FDCWD, path);
  return finished(real::freopen(kernel_path.get(), StreamMode(kernel_path, mode).get(), stream), kernel_path);
}
FILE* entry_freopen64(const char* path, const char* mode, FILE* stream)
    URNIC_ENTRY_ALIAS("freopen64", "freopen");

}  // extern "C"

}  // namespace urnic::kernel
