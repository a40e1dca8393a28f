#include "trust/access_token.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "device_model/memory/descriptor.hpp"

namespace urnic::trust {
namespace {

constexpr std::size_t kShortestToken = 16;
constexpr std::size_t kLongestToken = 128;

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& why) {
  throw std::runtime_error(fmt::format("the token's file {} {}", file.string(), why));
}

bool is_usable(std::string_view token) {
  return token.size() >= kShortestToken && token.size() <= kLongestToken &&
         std::all_of(token.begin(), token.end(),
                     [](char character) { return character > ' ' && character < 0x7F; });
}

std::string make_file(const std::filesystem::path& file) {
  const memory::Descriptor made(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!made) refuse(file, fmt::format("cannot be made: {}", std::generic_category().message(errno)));
  std::string token = new_token();
  const std::string line = token + "\n";
  if (write(made.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    refuse(file, "cannot be written");
  return token;
}

}  // namespace

std::string new_token() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::system_error(errno, std::generic_category(), "getrandom");
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

std::string token_in(const std::filesystem::path& file) {
  const memory::Descriptor opened(open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!opened && errno == ENOENT) return make_file(file);
  if (!opened) refuse(file, fmt::format("cannot be read: {}", std::generic_category().message(errno)));
  struct stat about {};
  if (fstat(opened.get(), &about) != 0 || !S_ISREG(about.st_mode)) refuse(file, "is no file");
  if (about.st_uid != geteuid()) refuse(file, "belongs to another user");
  if ((about.st_mode & 077) != 0) refuse(file, "can be read by others: chmod 600");
  std::array<char, kLongestToken + 2> bytes{};
  const ssize_t size = read(opened.get(), bytes.data(), bytes.size());
  std::string_view token(bytes.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  if (!token.empty() && token.back() == '\n') token.remove_suffix(1);
  if (!is_usable(token)) {
    refuse(file, fmt::format("does not hold a token: {} to {} characters in one line", kShortestToken,
                             kLongestToken));
  }
  return std::string(token);
}

bool same_token(std::string_view given, std::string_view token) {
  if (given.size() != token.size()) return false;
  unsigned different = 0;
  for (std::size_t i = 0; i < given.size(); ++i)
    different |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(token[i]);
  return different == 0;
}

}  // namespace urnic::trust
