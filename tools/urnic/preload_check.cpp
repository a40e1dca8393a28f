#include "tools/urnic/preload_check.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

namespace urnic::cli {
namespace {

#if defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
constexpr const char* kMachineName = "arm64";
#else
constexpr Elf64_Half kMachine = EM_X86_64;
constexpr const char* kMachineName = "x86-64";
#endif

constexpr int kMaxInterpreterDepth = 4;  // the kernel's limit for scripts whose interpreter is a script

bool is_executable_file(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

std::optional<std::string> privilege_obstacle(const std::filesystem::path& program) {
  struct stat status {};
  if (stat(program.c_str(), &status) != 0) return std::nullopt;
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) {
    return fmt::format(
        "{} is setuid: the dynamic linker ignores LD_PRELOAD for it; run a copy without the bit",
        program.string());
  }
  if ((status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0 && status.st_gid != getegid()) {
    return fmt::format(
        "{} is setgid: the dynamic linker ignores LD_PRELOAD for it; run a copy without the bit",
        program.string());
  }
  if (geteuid() != 0 && getxattr(program.c_str(), "security.capability", nullptr, 0) > 0) {
    return fmt::format(
        "{} has file capabilities: the dynamic linker ignores LD_PRELOAD for it; run a copy without them",
        program.string());
  }
  return std::nullopt;
}

// The path after "#!", empty if the file is not a script.
std::string script_interpreter(std::ifstream& file) {
  std::array<char, 256> line{};
  file.seekg(0);
  file.getline(line.data(), line.size());
  if (line[0] != '#' || line[1] != '!') return {};
  std::istringstream words(line.data() + 2);
  std::string interpreter;
  words >> interpreter;
  return interpreter;
}

// The program interpreter (the dynamic linker) of an ELF file; empty if there is none.
std::string elf_interpreter(std::ifstream& file, const Elf64_Ehdr& header) {
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    file.clear();
    file.seekg(static_cast<std::streamoff>(header.e_phoff + std::uint64_t{i} * sizeof segment));
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) return {};
    if (segment.p_type != PT_INTERP) continue;
    std::vector<char> path(std::min<std::uint64_t>(segment.p_filesz, 4096));
    file.seekg(static_cast<std::streamoff>(segment.p_offset));
    file.read(path.data(), static_cast<std::streamsize>(path.size()));
    return std::string(path.data(), strnlen(path.data(), path.size()));
  }
  return {};
}

std::optional<std::string> elf_obstacle(const std::filesystem::path& program, std::ifstream& file) {
  Elf64_Ehdr header{};
  file.clear();
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return std::nullopt;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kMachine) {
    return fmt::format("{} is no {} program: the kernel stand-in cannot be loaded into it", program.string(),
                       kMachineName);
  }
  const std::string linker = elf_interpreter(file, header);
  if (linker.empty()) {
    return fmt::format("{} is statically linked: nothing can be preloaded into it; link it dynamically",
                       program.string());
  }
  if (linker.find("musl") != std::string::npos) {
    return fmt::format("{} uses the musl C library: the kernel stand-in needs glibc", program.string());
  }
  return std::nullopt;
}

std::optional<std::string> obstacle(const std::filesystem::path& program, int depth) {
  std::ifstream file(program, std::ios::binary);
  if (!file) return std::nullopt;  // an executable file need not be readable
  const std::string interpreter = script_interpreter(file);
  if (!interpreter.empty()) {
    // A script's own setuid bit and capabilities have no effect: those of its interpreter have.
    return depth < kMaxInterpreterDepth ? obstacle(interpreter, depth + 1) : std::nullopt;
  }
  if (auto privilege = privilege_obstacle(program)) return privilege;
  return elf_obstacle(program, file);
}

// Debian has opensm and infiniband-diags there, where an ordinary user's PATH does not lead.
constexpr const char* kSystemFolders = ":/usr/local/sbin:/usr/sbin:/sbin";

}  // namespace

std::optional<std::filesystem::path> find_command(const std::string& command) {
  if (command.find('/') != std::string::npos) {
    if (std::filesystem::exists(command)) return command;
    return std::nullopt;
  }
  const char* search = std::getenv("PATH");
  std::istringstream folders(std::string(search != nullptr ? search : "/usr/bin:/bin") + kSystemFolders);
  std::string folder;
  while (std::getline(folders, folder, ':')) {
    const std::filesystem::path candidate = std::filesystem::path(folder.empty() ? "." : folder) / command;
    if (is_executable_file(candidate)) return candidate;
  }
  return std::nullopt;
}

std::optional<std::string> preload_obstacle(const std::filesystem::path& program) {
  return obstacle(program, 0);
}

}  // namespace urnic::cli
