// What programs see in struct stat.
#pragma once

#include <sys/stat.h>

#include "provider/kernel/device_node.hpp"

namespace urnic::kernel {

inline void show_as_device(dev_t number, struct stat& status) {
  status.st_mode = kNodeMode;
  status.st_rdev = number;
}

// Turns the status of the socket at `path` into that of a character device if it is a device node.
inline void show_path_status(const char* path, struct stat& status) {
  if (__builtin_expect(!S_ISSOCK(status.st_mode), 1)) return;
  dev_t number = 0;
  if (identify_socket(path, status.st_dev, status.st_ino, number)) show_as_device(number, status);
}

// The same for an open descriptor.
inline void show_descriptor_status(int descriptor, struct stat& status) {
  if (__builtin_expect(!S_ISSOCK(status.st_mode), 1)) return;
  dev_t number = 0;
  if (identify_descriptor(descriptor, number)) show_as_device(number, status);
}

}  // namespace urnic::kernel
