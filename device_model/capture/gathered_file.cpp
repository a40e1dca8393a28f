#include "device_model/capture/gathered_file.hpp"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace urnic::capture {

namespace {

constexpr std::size_t kCopiedBytes = std::size_t{256} << 10;
constexpr std::size_t kRecordRoom = std::size_t{8} << 10;  // part of it for the copied bytes of one record
constexpr std::size_t kMostPieces = IOV_MAX;
constexpr std::size_t kRecordPieces = 3;  // bytes before the frame, the frame, bytes behind it
// Longest piece that is copied: a piece of its own would cost the kernel more.
constexpr std::size_t kShort = 512;

memory::Descriptor open_file(const std::string& path) {
  if (path == "-") return memory::Descriptor(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  return memory::Descriptor(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
}

// Takes `written` bytes off the pieces from `first` on. Returns the first piece that is left.
std::size_t advance(std::vector<iovec>& pieces, std::size_t first, std::size_t written) {
  for (; first < pieces.size() && written >= pieces[first].iov_len; ++first) written -= pieces[first].iov_len;
  if (written > 0) {
    pieces[first].iov_base = static_cast<std::byte*>(pieces[first].iov_base) + written;
    pieces[first].iov_len -= written;
  }
  return first;
}

}  // namespace

GatheredFile::GatheredFile(const std::string& path)
    : path_(path == "-" ? "standard output" : path), file_(open_file(path)) {
  if (!file_) throw std::system_error(errno, std::system_category(), "capture file " + path_);
  copied_.reserve(kCopiedBytes);
  pieces_.reserve(kMostPieces);
}

GatheredFile::~GatheredFile() {
  try {
    if (error_ == 0) flush();
  } catch (const std::system_error&) {
    // The file has been cut to its whole records; there is nobody left to tell.
  }
}

void GatheredFile::begin_record() {
  if (error_ != 0) fail(error_);
  if (copied_.size() + kRecordRoom > kCopiedBytes || pieces_.size() + kRecordPieces > kMostPieces) flush();
}

void GatheredFile::put(const void* bytes, std::size_t size) {
  if (copied_.size() + size > kCopiedBytes) fail(EMSGSIZE);
  const std::size_t at = copied_.size();
  const auto* first = static_cast<const std::byte*>(bytes);
  copied_.insert(copied_.end(), first, first + size);
  point_to(copied_.data() + at, size);
}

void GatheredFile::refer(std::span<const std::byte> bytes) {
  if (bytes.size() <= kShort) return put(bytes.data(), bytes.size());
  point_to(bytes.data(), bytes.size());
}

// Pieces that follow each other in memory become one.
void GatheredFile::point_to(const std::byte* bytes, std::size_t size) {
  if (size == 0) return;
  if (!pieces_.empty()) {
    iovec& last = pieces_.back();
    if (static_cast<std::byte*>(last.iov_base) + last.iov_len == bytes) {
      last.iov_len += size;
      return;
    }
  }
  pieces_.push_back({const_cast<std::byte*>(bytes), size});
}

void GatheredFile::flush() {
  if (error_ != 0) fail(error_);
  std::uint64_t written = 0;
  for (std::size_t first = 0; first < pieces_.size();) {
    const auto count = static_cast<int>(std::min(pieces_.size() - first, kMostPieces));
    const ssize_t bytes = writev(file_.get(), &pieces_[first], count);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) fail(errno);
    written += static_cast<std::uint64_t>(bytes);
    first = advance(pieces_, first, static_cast<std::size_t>(bytes));
  }
  flushed_ += written;
  pieces_.clear();
  copied_.clear();
}

void GatheredFile::fail(int error) {
  if (error_ == 0) {
    error_ = error;
    pieces_.clear();
    copied_.clear();
    // A pipe cannot be truncated: its reader meets the partial record.
    if (ftruncate(file_.get(), static_cast<off_t>(flushed_)) != 0) errno = 0;
  }
  throw std::system_error(error_, std::system_category(), "capture file " + path_);
}

}  // namespace urnic::capture
