#include "device_model/engine/completion/event_pipe.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

namespace urnic::engine {

namespace {

// Events kept for a program that does not read them, beside the thousands in the pipe; more are lost.
constexpr std::size_t kMaxBacklog = 64 * 1024;

// A new open file description of what `fd` refers to.
memory::Descriptor reopen(int fd, int flags) {
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  return memory::Descriptor(open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK));
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

void EventPipe::push(std::uint32_t source, std::uint64_t element, std::uint32_t type) {
  Record record{{}, source};
  std::memcpy(record.bytes.data(), &element, sizeof element);
  std::memcpy(record.bytes.data() + sizeof element, &type, sizeof type);
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
  if (!written_.make_room([this] { return unread(); })) return false;
  for (;;) {
    if (write(write_end_.get(), record.bytes.data(), record_size_) >= 0) {
      written_.add(record.source);
      return true;
    }
    if (errno == EAGAIN) return false;
    if (errno != EINTR) return true;
  }
}

std::size_t EventPipe::unread() const {
  int bytes = 0;
  if (ioctl(write_end_.get(), FIONREAD, &bytes) != 0 || bytes < 0) return 0;
  return static_cast<std::size_t>(bytes) / record_size_;
}

// All in one read: the program may read at the same time, and what is left must be the newest records
// (Linux holds the pipe's lock from the first byte of a read to the last).
std::vector<EventPipe::Record> EventPipe::drain() {
  std::vector<Record> records;
  std::vector<std::byte> bytes(unread() * record_size_);
  if (bytes.empty()) return records;
  const memory::Descriptor read_end = reopen(write_end_.get(), O_RDONLY);
  const ssize_t length = read_end ? read(read_end.get(), bytes.data(), bytes.size()) : 0;
  if (length <= 0) return records;
  records.resize(static_cast<std::size_t>(length) / record_size_);
  const std::vector<std::uint32_t> sources = written_.take_newest(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    std::memcpy(records[i].bytes.data(), bytes.data() + i * record_size_, record_size_);
    records[i].source = sources[i];
  }
  return records;
}

std::uint32_t EventPipe::take_back(const EventsTold& told) {
  if (told.count == 0) return 0;
  std::vector<Record> kept = drain();
  kept.insert(kept.end(), backlog_.begin(), backlog_.end());
  const std::size_t removed =
      std::erase_if(kept, [&](const Record& record) { return record.source == told.source; });
  backlog_ = std::move(kept);
  flush();
  return told.count - static_cast<std::uint32_t>(removed);
}

bool EventPipe::closed() const {
  pollfd writer{.fd = write_end_.get(), .events = 0, .revents = 0};
  return poll(&writer, 1, 0) > 0 && (writer.revents & POLLERR) != 0;
}

}  // namespace urnic::engine
