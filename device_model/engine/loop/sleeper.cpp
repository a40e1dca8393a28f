#include "device_model/engine/loop/sleeper.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <string>
#include <system_error>

#include "device_model/memory/checked_call.hpp"

namespace urnic::engine {

namespace {

constexpr std::size_t kPageBytes = 4096;

timespec to_timespec(transport::Nanoseconds span) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(span);
  return {.tv_sec = seconds.count(), .tv_nsec = (span - seconds).count()};
}

// The C library has epoll_pwait2 from glibc 2.35 on.
long wait_precisely(int epoll, epoll_event* events, int count, const timespec& timeout) {
  return syscall(__NR_epoll_pwait2, epoll, events, count, &timeout, nullptr, 0);
}

}  // namespace

Sleeper::Sleeper()
    : status_(memory::checked(memfd_create("urnic-engine-status", MFD_CLOEXEC | MFD_ALLOW_SEALING),
                              "engine status page: memfd_create")),
      epoll_(memory::checked(epoll_create1(EPOLL_CLOEXEC), "engine: epoll_create1")),
      own_wake_(memory::checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "engine: eventfd")) {
  memory::checked(ftruncate(status_.get(), kPageBytes), "engine status page: ftruncate");
  void* const page = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, status_.get(), 0);
  if (page == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "engine status page: mmap");
  page_ = new (page) abi::EngineStatus{};
  // This mapping stays writable; no new mapping can be.
  memory::checked(
      fcntl(status_.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL),
      "engine status page: F_ADD_SEALS");
  const std::string self = "/proc/self/fd/" + std::to_string(status_.get());
  read_only_status_ = memory::Descriptor(
      memory::checked(open(self.c_str(), O_RDONLY | O_CLOEXEC), "engine status page: open"));
  add(own_wake_.get());
}

Sleeper::~Sleeper() {
  if (page_ != nullptr) munmap(page_, kPageBytes);
}

// Edge-triggered, so that nobody reads the counters: each write is one wake-up. A program that shares the
// descriptor could otherwise make that read block.
void Sleeper::add(int descriptor) {
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.fd = descriptor}};
  memory::checked(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event), "engine: epoll_ctl");
}

void Sleeper::remove(int descriptor) { epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr); }

void Sleeper::announce() {
  page_->sleeping.store(1);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void Sleeper::awake() { page_->sleeping.store(0, std::memory_order_relaxed); }

void Sleeper::wait(transport::Time now, std::optional<transport::Time> deadline) {
  constexpr int kEvents = 16;
  epoll_event events[kEvents];
  if (!deadline) {
    epoll_wait(epoll_.get(), events, kEvents, -1);
    return;
  }
  if (*deadline <= now) return;
  const timespec timeout = to_timespec(*deadline - now);
  if (wait_precisely(epoll_.get(), events, kEvents, timeout) >= 0 || errno != ENOSYS) return;
  // Kernels before 5.11 have only milliseconds.
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(*deadline - now);
  epoll_wait(epoll_.get(), events, kEvents, static_cast<int>(std::min<long>(milliseconds.count(), 60'000)));
}

void Sleeper::wake_if_asleep() {
  if (!abi::must_wake(*page_)) return;
  const std::uint64_t one = 1;
  // If the counter is full, a wake-up is pending already.
  [[maybe_unused]] const ssize_t written = write(own_wake_.get(), &one, sizeof one);
}

}  // namespace urnic::engine
