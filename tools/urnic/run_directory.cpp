#include "tools/urnic/run_directory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "device_model/abi/run_directory.hpp"
#include "tools/urnic/failure.hpp"

namespace urnic::cli {
namespace {

std::filesystem::path choose(const std::string& name) {
  const char* explicit_directory = std::getenv(abi::kRunDirectoryVariable);
  if (name.empty() && explicit_directory != nullptr && *explicit_directory != '\0') {
    return std::filesystem::absolute(explicit_directory);
  }
  const std::string leaf = name.empty() ? "default" : name;
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/' && access(runtime, W_OK) == 0) {
    return std::filesystem::path(runtime) / "urnic" / leaf;
  }
  return fmt::format("/tmp/urnic-{}/{}", getuid(), leaf);
}

}  // namespace

std::filesystem::path run_directory(const std::string& name) {
  if (name.find('/') != std::string::npos || name == "." || name == "..") {
    throw Failure(
        fmt::format("the name '{}' is not usable: give a plain word, it becomes a directory's name", name));
  }
  const std::filesystem::path directory = choose(name).lexically_normal();
  if (directory.string().size() > abi::kMaxRunDirectoryLength) {
    throw Failure(
        fmt::format("the run directory '{}' is longer than {} characters, too long for the sockets in it: "
                    "set URNIC_DIR to a shorter path",
                    directory.string(), abi::kMaxRunDirectoryLength));
  }
  return directory;
}

void add_name_option(CLI::App& command, std::string& name) {
  command.add_option("--name", name, "Which device process, where there are several")->type_name("NAME");
}

}  // namespace urnic::cli
