#include "device_model/memory/dma_buf_memory.hpp"

#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#include <cerrno>
#include <system_error>

#include "device_model/memory/descriptor_facts.hpp"
#include "device_model/memory/page_size.hpp"
#include "device_model/memory/transfer_groups.hpp"

namespace urnic::memory {
namespace {

// The kernel looks the remote side of these calls up in page tables, where it cannot look up pages of a
// device. The local side it reaches as any system call reaches its caller's memory, where a missing page is
// an error. So the buffer is the local side, and this process's own bytes are the remote side.
using Call = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);

void copy(std::span<Transfer> batch, Call call) {
  const pid_t self = getpid();
  run_batch(batch, Adjacency::any, [=](const TransferGroup& group, std::size_t k) {
    const auto count = group.count - k;
    return call(self, group.remote + k, count, group.local + k, count, 0);
  });
}

}  // namespace

bool is_dma_buf(int descriptor) {
  // Only dma-bufs have this line. Checked first, since fstatfs of a FUSE file would wait for the daemon's
  // answer.
  if (fdinfo_word(descriptor, "exp_name").empty()) return false;
  struct statfs file_system {};
  return fstatfs(descriptor, &file_system) == 0 && file_system.f_type == DMA_BUF_MAGIC;
}

DmaBufMemory::DmaBufMemory(const Descriptor& buffer, std::uint64_t offset, std::uint64_t length,
                           bool writable) {
  const std::uint64_t page = page_bytes();
  const std::uint64_t begin = offset & ~(page - 1);
  size_ = (offset + length - begin + page - 1) & ~(page - 1);
  mapping_ = mmap(nullptr, size_, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, buffer.get(),
                  static_cast<off_t>(begin));
  if (mapping_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap of a dma-buf");
  address_ = reinterpret_cast<std::uint64_t>(mapping_) + (offset - begin);
}

DmaBufMemory::~DmaBufMemory() { munmap(mapping_, size_); }

void DmaBufMemory::read(std::span<Transfer> batch) { copy(batch, process_vm_writev); }

void DmaBufMemory::write(std::span<Transfer> batch) { copy(batch, process_vm_readv); }

}  // namespace urnic::memory
