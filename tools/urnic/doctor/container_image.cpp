#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "tools/urnic/doctor/examinations.hpp"

namespace urnic::cli::doctor {
namespace {

namespace fs = std::filesystem;

// Where distributions have libraries of this machine's kind. An image's /lib may be a link that leads out of
// the folder from here, so its usr/lib is looked into by its own name.
#if defined(__aarch64__)
constexpr std::array kFolders{
    "lib/aarch64-linux-gnu", "usr/lib/aarch64-linux-gnu", "lib64", "usr/lib64", "lib", "usr/lib"};
constexpr const char* kLinker = "ld-linux-aarch64.so.1";
#else
constexpr std::array kFolders{
    "lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu", "lib64", "usr/lib64", "lib", "usr/lib"};
constexpr const char* kLinker = "ld-linux-x86-64.so.2";
#endif
constexpr int kOldestRelease = 31;  // of glibc 2: docs/packages.md

// A link counts, too: its target may be absolute, and be somewhere else from here.
bool is_there(const fs::path& file) {
  std::error_code error;
  return fs::symlink_status(file, error).type() != fs::file_type::not_found && !error;
}

std::optional<fs::path> find_library(const fs::path& image, const char* name) {
  for (const char* folder : kFolders)
    if (is_there(image / folder / name)) return image / folder / name;
  return std::nullopt;
}

bool has_musl(const fs::path& image) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(image / "lib", error))
    if (entry.path().filename().string().starts_with("ld-musl-")) return true;
  return false;
}

// Of "GNU C Library (...) stable release version 2.36.", which the library prints when it is run: 36.
std::optional<int> glibc_release(const fs::path& library) {
  std::ifstream file(library, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::string begin = "GNU C Library";
  const std::string before = "version 2.";
  const std::size_t at = bytes.find(before, std::min(bytes.find(begin), bytes.size()));
  if (at == std::string::npos) return std::nullopt;
  int release = 0;
  const char* const digits = bytes.data() + at + before.size();
  if (std::from_chars(digits, bytes.data() + bytes.size(), release).ec != std::errc()) return std::nullopt;
  return release;
}

Finding c_library(const fs::path& image) {
  if (!find_library(image, kLinker)) {
    if (has_musl(image))
      return {Severity::obstacle, "C library",
              "musl: it starts no program with the kernel stand-in, which needs glibc",
              "take an image with glibc"};
    return {Severity::obstacle, "C library", fmt::format("there is no {}: only static programs run", kLinker),
            "take an image with glibc, and link programs dynamically"};
  }
  const auto library = find_library(image, "libc.so.6");
  const std::optional<int> release = library ? glibc_release(*library) : std::nullopt;
  if (!release)
    return {Severity::hint, "C library", "glibc of a release that cannot be told",
            "it must be 2.31 or newer"};
  const std::string seen = fmt::format("glibc 2.{}", *release);
  if (*release >= kOldestRelease) return {Severity::good, "C library", seen, ""};
  return {Severity::obstacle, "C library", seen,
          fmt::format("take an image with glibc 2.{} or newer", kOldestRelease)};
}

Finding verbs_library(const fs::path& image) {
  if (const auto library = find_library(image, "libibverbs.so.1"))
    return {Severity::good, "libibverbs", "/" + library->lexically_relative(image).string(), ""};
  return {Severity::obstacle, "libibverbs", "libibverbs.so.1 is in none of the usual folders",
          "install it in the image: libibverbs1 (Debian, Ubuntu, SUSE), libibverbs (Fedora, RHEL)"};
}

}  // namespace

Findings examine_image(const fs::path& image) {
  if (!fs::is_directory(image)) {
    return {{Severity::obstacle, "image", image.string() + " is no folder",
             "give the folder that 'podman image mount IMAGE' prints"}};
  }
  return {c_library(image), verbs_library(image)};
}

}  // namespace urnic::cli::doctor
