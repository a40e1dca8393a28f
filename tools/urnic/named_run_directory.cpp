#include "tools/urnic/named_run_directory.hpp"

#include <fmt/format.h>

#include "device_model/abi/run_directory_layout.hpp"
#include "tools/urnic/failure.hpp"
#include "trust/default_directory.hpp"
#include "trust/directory.hpp"

namespace urnic::cli {
namespace {

std::filesystem::path choose(const std::string& name) {
  if (name.empty()) return std::filesystem::absolute(trust::chosen_run_directory());
  return trust::default_run_directory(name);
}

// One that is not there yet will be made by the device process, which looks again.
void check_owner(const std::filesystem::path& directory) {
  trust::DirectoryFault fault = trust::check_run_directory(directory.c_str());
  if (fault == trust::DirectoryFault::missing) fault = trust::check_parent_of(directory.c_str());
  if (fault == trust::DirectoryFault::none || fault == trust::DirectoryFault::missing) return;
  throw Failure(fmt::format("the run directory {} {}: set {} to a path of your own", directory.string(),
                            trust::describe(fault), abi::kRunDirectoryVariable));
}

}  // namespace

std::filesystem::path named_run_directory(const std::string& name) {
  if (name.find('/') != std::string::npos || name == "." || name == "..") {
    throw Failure(
        fmt::format("the name '{}' is not usable: give a plain word, it becomes a directory's name", name));
  }
  std::filesystem::path directory = choose(name).lexically_normal();
  if (!directory.has_filename()) directory = directory.parent_path();
  if (directory.string().size() > abi::kMaxRunDirectoryLength) {
    throw Failure(
        fmt::format("the run directory '{}' is longer than {} characters, too long for the sockets in it: "
                    "set URNIC_DIR to a shorter path",
                    directory.string(), abi::kMaxRunDirectoryLength));
  }
  check_owner(directory);
  return directory;
}

void add_name_option(command_line::Command& command, std::string& name) {
  command.add_option("--name", name, "Which device process, where there are several")
      .type_name("NAME")
      .suggest("device-process");
}

}  // namespace urnic::cli
