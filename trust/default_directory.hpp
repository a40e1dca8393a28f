// Which run directory to use where no command line names one.
#pragma once

#include <filesystem>
#include <string>

namespace urnic::trust {

// The run directory of the device process `name`, in the first of these that exists:
//   $XDG_RUNTIME_DIR/urnic, if that variable names a directory of this user;
//   /run/user/UID/urnic, which systemd makes when a user logs in;
//   /run/urnic, for root;
//   /tmp/urnic-UID.XXXXXX, a directory of this user, made here if there is none: XXXXXX is 000000, or the
//   next number that nobody has taken, or, where others have taken eight of them, random.
// None of them can be taken by another user beforehand. Throws std::system_error if no directory can be made
// in /tmp.
std::filesystem::path default_run_directory(const std::string& name);

// $URNIC_DIR; if it is unset or empty, the run directory of the device process `default`. Throws like
// `default_run_directory`.
std::filesystem::path chosen_run_directory();

}  // namespace urnic::trust
