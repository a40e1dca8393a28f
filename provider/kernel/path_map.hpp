// Maps paths of /sys and /dev into the run directory RUN.
//
//     /sys/class/infiniband, infiniband_verbs, infiniband_cm, infiniband_mad  ->  RUN/sysfs/class/…
//     /sys/class/misc/rdma_cm                                                 -> RUN/sysfs/class/misc/rdma_cm
//     /sys/devices/virtual/infiniband                                         ->  RUN/sysfs/devices/virtual/…
//     /sys/devices/pci7572:00                                                 ->  RUN/sysfs/devices/…
//     /dev/infiniband                                                         ->  RUN/dev
//     /dev/char/MAJOR:MINOR of a node here                                    ->  RUN/dev/uverbsN
//     /run/ibacm.port                                                         ->  nothing
//
// Everything below these directories is mapped too. Into RUN/sysfs lead also, but only if they are there:
//
//     /sys/bus/pci, /sys/module/mlx5_core, /sys/module/mlx5_ib
//     /sys/class/net/NAME/device, /sys/devices/virtual/net/NAME/device
#pragma once

#include "provider/kernel/bounded_text.hpp"

namespace urnic::kernel {

// Appends to `mapped` the path to use for the absolute path `path`. False, with nothing appended, if that is
// `path` itself. A path that climbs out of a mapped directory with ".." gets its plain form, because the
// kernel may not have the mapped directory. Only while stand_in_active().
bool map_absolute_path(const char* path, PathText& mapped);

// The opposite: sets the empty `path` to the path under /sys or /dev that leads to `actual`, an absolute path
// without "..". False if there is none; `path` is then undefined. `run` is the run directory, spelled as in
// `actual`. Only while stand_in_active().
bool find_program_path(const char* run, const char* actual, PathText& path);

// The path to give to the kernel for the program's `path`, which is relative to the descriptor `directory` as
// in openat (AT_FDCWD: the working directory). Valid while the object and `path` live.
class KernelPath {
 public:
  KernelPath(int directory, const char* path) : path_(path) {
    if (may_be_mapped(path)) look_up(directory);
  }
  KernelPath(const KernelPath&) = delete;
  KernelPath& operator=(const KernelPath&) = delete;

  const char* get() const { return path_; }
  bool is_mapped() const { return is_mapped_; }  // false: get() is the program's path

 private:
  // A test of a few instructions; false for nearly every path that other programs use.
  static bool may_be_mapped(const char* path) {
    if (path == nullptr) return false;
    if (path[0] != '/') return may_lead_there(path);
    if (begins_with("/sys/", path)) return may_be_below("bcdm", path[5]);
    if (begins_with("/dev/", path)) return may_be_below("ic", path[5]);
    if (begins_with("/run/", path)) return begins_with("ibacm.", path + 5);
    return path[1] == '/' || path[1] == '.';
  }
  // `letters`: the first letters of mapped names. "/" and "." begin other spellings of them.
  template <std::size_t kSize>
  static bool may_be_below(const char (&letters)[kSize], char first) {
    for (std::size_t i = 0; i + 1 < kSize; ++i)
      if (first == letters[i]) return true;
    return first == '/' || first == '.';
  }
  // A relative path may start in any directory above a mapped one: /sys/class, /dev, / and others.
  static bool may_lead_there(const char* path) {
    switch (path[0]) {
      case '.':
        return true;
      case 'i':
        return begins_with("infiniband", path);
      case 's':
        return begins_with("sys/", path);
      case 'd':
        return begins_with("dev", path);
      case 'c':
        return begins_with("class/", path);
      case 'm':
        return begins_with("misc/", path) || begins_with("module/", path) || begins_with("mlx5", path);
      case 'b':
        return begins_with("bus/", path);
      case 'p':
        return begins_with("pci", path);
      case 'n':
        return begins_with("net/", path);
      default:
        return false;
    }
  }
  static bool begins_with(const char* beginning, const char* path) {
    return std::strncmp(path, beginning, std::strlen(beginning)) == 0;
  }
  void look_up(int directory);

  const char* path_;
  bool is_mapped_ = false;
  PathText mapped_;
};

}  // namespace urnic::kernel
