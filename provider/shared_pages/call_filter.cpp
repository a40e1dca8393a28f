#include "provider/shared_pages/call_filter.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "provider/freestanding/calls.hpp"
#include "provider/freestanding/descriptor.hpp"

namespace urnic::provider {

bool has_filter_of_calls() {
  const Descriptor file(open_file("/proc/self/status", O_RDONLY | O_CLOEXEC));
  char text[4096];
  const ssize_t got = file.valid() ? read_file(file.get(), text, sizeof text - 1) : -1;
  if (got <= 0) return true;
  text[got] = '\0';
  const char* const line = std::strstr(text, "\nSeccomp:");
  return line == nullptr || std::strncmp(line, "\nSeccomp:\t0", std::strlen("\nSeccomp:\t0")) != 0;
}

}  // namespace urnic::provider
