// Shows device nodes as character devices in struct stat.
#pragma once

#include <sys/stat.h>

#include "provider/kernel/device_node.hpp"

namespace urnic::kernel {

// Turns `status` into that of the character device `number`.
inline void show_as_device(dev_t number, struct stat& status) {
  status.st_mode = kNodeMode;
  status.st_rdev = number;
}

// If the file at `path` is a device node, turns its `status` into that of a character device. Keeps errno.
inline void show_path_status(const char* path, struct stat& status) {
  if (__builtin_expect(!S_ISSOCK(status.st_mode), 1)) return;
  dev_t number = 0;
  if (identify_socket(path, status.st_dev, status.st_ino, number)) show_as_device(number, status);
}

// The same for the file behind an open descriptor.
inline void show_descriptor_status(int descriptor, struct stat& status) {
  if (__builtin_expect(!S_ISSOCK(status.st_mode), 1)) return;
  dev_t number = 0;
  if (identify_descriptor(descriptor, number)) show_as_device(number, status);
}

}  // namespace urnic::kernel
