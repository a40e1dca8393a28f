#include "provider/plugin/library/file_release.hpp"

#include <cctype>
#include <cstring>

namespace urnic::provider {
namespace {

// Reads the number at `text` and moves behind it; -1 if there is none.
int take_number(const char*& text) {
  if (std::isdigit(static_cast<unsigned char>(*text)) == 0) return -1;
  int number = 0;
  for (; std::isdigit(static_cast<unsigned char>(*text)) != 0 && number < 1'000'000; ++text) {
    number = number * 10 + (*text - '0');
  }
  return number;
}

}  // namespace

int release_in_file_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  const char* name = slash != nullptr ? slash + 1 : path;
  if (std::strncmp(name, "libibverbs", std::strlen("libibverbs")) != 0) return 0;
  const char* version = std::strstr(name, ".so.");
  if (version == nullptr) return 0;
  version += std::strlen(".so.");
  // The third number is the release.
  for (int i = 0; i < 2; ++i) {
    if (take_number(version) < 0 || *version != '.') return 0;
    ++version;
  }
  const int release = take_number(version);
  return release > 0 ? release : 0;
}

}  // namespace urnic::provider
