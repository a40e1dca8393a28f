#include "device_model/control/rdma_cm/identifier_changes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <string>
#include <system_error>

#include "device_model/memory/checked_call.hpp"

namespace urnic::control::rdma_cm {
IdentifierChanges::IdentifierChanges()
    : memory_(memory::checked(memfd_create("urnic-identifier-changes", MFD_CLOEXEC | MFD_ALLOW_SEALING),
                              "identifier changes: memfd_create")) {
  memory::checked(ftruncate(memory_.get(), abi::kIdentifierChangesBytes), "identifier changes: ftruncate");
  void* const page =
      mmap(nullptr, abi::kIdentifierChangesBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_.get(), 0);
  if (page == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "identifier changes: mmap");
  page_ = new (page) abi::IdentifierChanges{};
  // This mapping stays writable; no new mapping can be.
  memory::checked(
      fcntl(memory_.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL),
      "identifier changes: F_ADD_SEALS");
  const std::string self = "/proc/self/fd/" + std::to_string(memory_.get());
  read_only_ = memory::Descriptor(
      memory::checked(open(self.c_str(), O_RDONLY | O_CLOEXEC), "identifier changes: open"));
}

IdentifierChanges::~IdentifierChanges() {
  if (page_ != nullptr) munmap(page_, abi::kIdentifierChangesBytes);
}

// The control thread alone writes, so that two steps are enough.
void IdentifierChanges::note(std::uint32_t identifier) {
  std::atomic<std::uint32_t>& counter = page_->counters[identifier % page_->counters.size()];
  counter.store(counter.load(std::memory_order_relaxed) + 1);
}

// Seen by every program before the device process looks what is unread.
void IdentifierChanges::note_withdrawal() { page_->withdrawals.fetch_add(1); }

}  // namespace urnic::control::rdma_cm
