// Which devices a program is to see: those that URNIC_SHOW_0, URNIC_SHOW_1 and so on name, or all
// (device_model/abi/run_directory_layout.hpp). Others are left out of listings, and nothing else: their files
// and nodes can be opened by name.
#pragma once

#include <dirent.h>
#include <sys/stat.h>

namespace urnic::kernel {

// Whether any device is left out. Reads the environment when it is first asked.
bool some_devices_are_hidden();

// Whether `entry` of the directory with this status is a folder or a node of a device that is left out. Only
// while some_devices_are_hidden().
bool is_hidden_entry(const struct stat& directory, const char* entry);

// The next entry that is not left out, as readdir(3).
struct dirent* read_shown_entry(DIR* directory);

}  // namespace urnic::kernel
