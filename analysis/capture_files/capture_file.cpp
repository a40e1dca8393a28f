#include "analysis/capture_files/capture_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "analysis/capture_files/capture_error.hpp"

namespace urnic::analysis {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;

int open_or_fail(const std::string& path) {
  const int descriptor =
      path == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw CaptureError(path + ": " + std::strerror(errno));
  return descriptor;
}

std::uint64_t size_of(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)
             ? static_cast<std::uint64_t>(status.st_size)
             : 0;
}

}  // namespace

CaptureFile::CaptureFile(const std::string& path)
    : path_(path), descriptor_(open_or_fail(path)), whole_(size_of(descriptor_)) {}

CaptureFile::~CaptureFile() { close(descriptor_); }

bool CaptureFile::next(CapturedPacket& packet) { return take(packet, true); }

bool CaptureFile::next_there(CapturedPacket& packet) { return take(packet, false); }

bool CaptureFile::take(CapturedPacket& packet, bool may_read) {
  try {
    while (!parser_.next(packet))
      if (!may_read || !read_more()) return false;
    return true;
  } catch (const CaptureError& error) {
    throw CaptureError((path_ == "-" ? "standard input" : path_) + ": " + error.what());
  }
}

bool CaptureFile::read_more() {
  std::array<std::byte, kReadBytes> buffer;
  ssize_t got = 0;
  do got = read(descriptor_, buffer.data(), buffer.size());
  while (got < 0 && errno == EINTR);
  if (got < 0) throw CaptureError(std::strerror(errno));
  read_ += static_cast<std::uint64_t>(got);
  parser_.feed(std::span(buffer).first(static_cast<std::size_t>(got)));
  return got > 0;
}

}  // namespace urnic::analysis
