#include "provider/plugin/memory_map.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "provider/plugin/descriptor.hpp"

namespace urnic::provider {
namespace {

struct Mapping {
  std::uint64_t begin;
  std::uint64_t end;
  bool readable;
  bool writable;
};

// Reads "begin-end rwxp ..." lines one by one.
class MapReader {
 public:
  explicit MapReader(int file) : file_(file) {}

  // False at the end of the file, or after an error (then `error` is not 0).
  bool next(Mapping& mapping) {
    mapping.begin = hex();
    mapping.end = hex();
    mapping.readable = get() == 'r';
    mapping.writable = get() == 'w';
    int c;
    while ((c = get()) != '\n' && c >= 0) {
    }
    return c >= 0;
  }

  int error() const { return error_; }

 private:
  int get() {
    if (position_ == size_ && !refill()) return -1;
    return static_cast<unsigned char>(buffer_[position_++]);
  }

  bool refill() {
    ssize_t got;
    while ((got = read(file_, buffer_, sizeof buffer_)) < 0 && errno == EINTR) {
    }
    if (got < 0) error_ = errno;
    position_ = 0;
    size_ = got > 0 ? static_cast<std::size_t>(got) : 0;
    return size_ != 0;
  }

  // Up to and with the character behind the number.
  std::uint64_t hex() {
    std::uint64_t value = 0;
    for (;;) {
      const int c = get();
      if (c >= '0' && c <= '9') {
        value = value * 16 + static_cast<std::uint64_t>(c - '0');
      } else if (c >= 'a' && c <= 'f') {
        value = value * 16 + static_cast<std::uint64_t>(c - 'a' + 10);
      } else {
        return value;
      }
    }
  }

  int file_;
  int error_ = 0;
  char buffer_[4096];
  std::size_t position_ = 0;
  std::size_t size_ = 0;
};

// The map is in rising order.
int check_covered(MapReader& reader, std::uint64_t begin, std::uint64_t end, bool writable) {
  Mapping mapping;
  while (begin < end && reader.next(mapping)) {
    if (mapping.end <= begin) continue;
    if (mapping.begin > begin || !mapping.readable || (writable && !mapping.writable)) return EFAULT;
    begin = mapping.end;
  }
  if (reader.error() != 0) return reader.error();
  return begin < end ? EFAULT : 0;
}

}  // namespace

int check_mapped(std::uint64_t address, std::size_t length, bool writable) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t end = address + length;
  if (end < address || end > end + page - 1) return EINVAL;
  const std::uint64_t first = address & ~(page - 1);
  const std::uint64_t last = (end + page - 1) & ~(page - 1);
  if (first == last) return EINVAL;
  const Descriptor file(open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return errno;
  MapReader reader(file.get());
  return check_covered(reader, first, last, writable);
}

}  // namespace urnic::provider
