#include "device_model/engine/completion/event_pipe.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

namespace urnic::engine {

namespace {

// Events kept for a program that does not read them, beside the thousands in the pipe; more are lost.
constexpr std::size_t kMaxBacklog = 64 * 1024;
// The most to read from a pipe at once; an unprivileged pipe holds at most 1 MiB.
constexpr std::size_t kMaxDrained = 1024 * 1024;

// A new open file description of what `fd` refers to.
memory::Descriptor reopen(int fd, int flags) {
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  return memory::Descriptor(open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK));
}

constexpr std::size_t kTypeAt = 8;
constexpr std::size_t kSourceAt = 12;

template <typename Value>
Value value_at(const std::array<std::byte, 16>& record, std::size_t at) {
  Value value;
  std::memcpy(&value, record.data() + at, sizeof value);
  return value;
}

}  // namespace

EventPipe::EventPipe(memory::Descriptor read_end, memory::Descriptor write_end, std::size_t record)
    : record_size_(record) {
  struct stat ends[2]{};
  if (fstat(read_end.get(), &ends[0]) != 0 || fstat(write_end.get(), &ends[1]) != 0) {
    throw std::system_error(errno, std::generic_category(), "event pipe: fstat");
  }
  if (!S_ISFIFO(ends[0].st_mode) || !S_ISFIFO(ends[1].st_mode) || ends[0].st_ino != ends[1].st_ino ||
      ends[0].st_dev != ends[1].st_dev) {
    throw std::system_error(EINVAL, std::generic_category(), "event pipe: not the two ends of one pipe");
  }
  inode_ = ends[1].st_ino;
  write_end_ = reopen(write_end.get(), O_WRONLY);
  if (!write_end_)
    throw std::system_error(errno, std::generic_category(), "event pipe: cannot be opened anew");
}

void EventPipe::push(std::uint64_t element, std::uint32_t type, std::uint32_t source) {
  Record record{};
  std::memcpy(record.data(), &element, sizeof element);
  std::memcpy(record.data() + kTypeAt, &type, sizeof type);
  std::memcpy(record.data() + kSourceAt, &source, sizeof source);
  if (flush() && write_record(record)) return;
  if (backlog_.size() < kMaxBacklog) backlog_.push_back(record);
}

bool EventPipe::flush() {
  std::size_t written = 0;
  while (written < backlog_.size() && write_record(backlog_[written])) ++written;
  backlog_.erase(backlog_.begin(), backlog_.begin() + static_cast<std::ptrdiff_t>(written));
  return backlog_.empty();
}

// False if the pipe is full. Writes of this size are atomic (POSIX: at most PIPE_BUF bytes). After EPIPE
// nobody can read the record, so it is dropped.
bool EventPipe::write_record(const Record& record) {
  for (;;) {
    if (write(write_end_.get(), record.data(), record_size_) >= 0) return true;
    if (errno == EAGAIN) return false;
    if (errno != EINTR) return true;
  }
}

std::vector<EventPipe::Record> EventPipe::drain() const {
  std::vector<Record> records;
  const memory::Descriptor read_end = reopen(write_end_.get(), O_RDONLY);
  if (!read_end) return records;
  Record record{};
  while (records.size() * record_size_ < kMaxDrained &&
         read(read_end.get(), record.data(), record_size_) == static_cast<ssize_t>(record_size_)) {
    records.push_back(record);
  }
  return records;
}

std::uint32_t EventPipe::purge(std::uint64_t element, std::uint32_t source, std::uint32_t most) {
  if (most == 0) return 0;
  const bool says_source = record_size_ > kSourceAt;
  std::vector<Record> kept = drain();
  kept.insert(kept.end(), backlog_.begin(), backlog_.end());
  std::uint32_t removed = 0;
  std::erase_if(kept, [&](const Record& record) {
    const bool is_its_own = value_at<std::uint64_t>(record, 0) == element &&
                            (!says_source || value_at<std::uint32_t>(record, kSourceAt) == source);
    if (!is_its_own || removed == most) return false;
    ++removed;
    return true;
  });
  backlog_ = std::move(kept);
  flush();
  return removed;
}

bool EventPipe::closed() const {
  pollfd writer{.fd = write_end_.get(), .events = 0, .revents = 0};
  return poll(&writer, 1, 0) > 0 && (writer.revents & POLLERR) != 0;
}

}  // namespace urnic::engine
