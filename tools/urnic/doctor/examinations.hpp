// The examinations of `urnic doctor`. They only look; none throws on what it finds.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/urnic/doctor/finding.hpp"
#include "tools/urnic/installation.hpp"

namespace urnic::cli::doctor {

// The kernel's release, anonymous memory files, their seals, sequenced packets between processes, and system
// call filters.
Findings examine_kernel();

// The limits of processes that this one starts: descriptors, address space, file size; memory and processors
// of the control group.
Findings examine_limits();

// Whether one process of this user may read another's memory, as the device process will, and Yama's part.
Findings examine_program_memory();

// Whether devices can have network interfaces, and where.
Findings examine_network();

// The libibverbs that a program loads which names none of its own.
Findings examine_library();

// A program that is to run: whether the kernel stand-in can be preloaded, and which libibverbs it loads.
// `command` is searched for in PATH.
Findings examine_program(const std::string& command);

// The root file system of a container's image, in a folder of this machine: whether programs in it can have
// the devices.
Findings examine_image(const std::filesystem::path& image);

// Starts a process with `installation`'s environment for `run_directory`, in which libibverbs lists its
// devices. A device process must be running there; `names` are its devices.
Findings examine_devices(const Installation& installation, const std::filesystem::path& run_directory,
                         const std::vector<std::string>& names);

// The child of `examine_devices`: prints a name per line. Returns the exit status of the process.
int list_devices();

}  // namespace urnic::cli::doctor
