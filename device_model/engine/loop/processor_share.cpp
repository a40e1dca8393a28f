#include "device_model/engine/loop/processor_share.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>

namespace urnic::engine {

ProcessorShareReader::ProcessorShareReader()
    : file_(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}

std::optional<ProcessorShare> ProcessorShareReader::read() const {
  char text[64];
  const ssize_t length = file_ ? pread(file_.get(), text, sizeof text, 0) : -1;
  if (length <= 0) return {};
  std::int64_t ran = 0;
  std::int64_t waited = 0;
  const char* const end = text + length;
  const auto first = std::from_chars(text, end, ran);
  if (first.ec != std::errc() || first.ptr == end) return {};
  if (std::from_chars(first.ptr + 1, end, waited).ec != std::errc()) return {};
  return ProcessorShare{transport::Nanoseconds(ran), transport::Nanoseconds(waited)};
}

}  // namespace urnic::engine
