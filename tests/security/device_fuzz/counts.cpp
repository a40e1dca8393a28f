#include "tests/security/device_fuzz/counts.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace urnic::device_fuzz {

Counts& open_counts(const std::string& file) {
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0 || ftruncate(descriptor, sizeof(Counts)) != 0)
    throw std::system_error(errno, std::generic_category(), file);
  void* const data = mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (data == MAP_FAILED) throw std::system_error(errno, std::generic_category(), file);
  return *static_cast<Counts*>(data);
}

}  // namespace urnic::device_fuzz
