#include "device_model/memory/copier.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace urnic::memory {

namespace {

// Atomic (IBTA 9.4.5): no other operation comes between, since this copier alone makes them for this program.
void operate(CopierPage& page, ApplicationMemory& memory) {
  const WordOperation& operation = page.operation;
  std::uint64_t word = 0;
  Transfer transfer{
      .address = operation.address, .local = std::as_writable_bytes(std::span{&word, 1}), .failed = false};
  memory.read({&transfer, 1});
  const std::uint64_t original = word;
  const bool changes = !operation.compares || word == operation.compare;
  word = operation.compares ? operation.swap_or_add : word + operation.swap_or_add;
  if (!transfer.failed && changes) memory.write({&transfer, 1});
  page.pieces[0].failed = transfer.failed ? 1 : 0;
  std::memcpy(page.bytes + place_of_piece(0, operation.address), &original, sizeof original);
}

}  // namespace

void copy(CopierPage& page, ApplicationMemory& memory) {
  if (page.kind == CopierPage::Kind::operation) return operate(page, memory);
  std::array<Transfer, WaitingMemory::kMaxPieces> transfers;
  std::size_t used = 0;
  for (std::uint32_t i = 0; i < page.count; ++i) {
    const CopierPage::Piece& piece = page.pieces[i];
    used = place_of_piece(used, piece.address);
    transfers[i] = {.address = piece.address, .local = {page.bytes + used, piece.length}, .failed = false};
    used += piece.length;
  }
  const std::span<Transfer> batch = std::span(transfers).first(page.count);
  if (page.kind == CopierPage::Kind::read) {
    memory.read(batch);
  } else {
    memory.write(batch);
  }
  for (std::uint32_t i = 0; i < page.count; ++i) page.pieces[i].failed = batch[i].failed ? 1 : 0;
}

void run_copier(const CopierDescriptors& descriptors, ApplicationMemory& memory) {
  void* const place =
      mmap(nullptr, sizeof(CopierPage), PROT_READ | PROT_WRITE, MAP_SHARED, descriptors.page.get(), 0);
  if (place == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "copier: mmap");
  CopierPage& page = *static_cast<CopierPage*>(place);
  std::uint64_t requests = 0;
  while (read(descriptors.request.get(), &requests, sizeof requests) == sizeof requests) {
    const std::uint32_t begun = page.begun.load(std::memory_order_acquire);
    if (begun == page.ended.load(std::memory_order_relaxed)) continue;
    copy(page, memory);
    page.ended.store(begun, std::memory_order_release);
    const std::uint64_t one = 1;
    if (write(descriptors.answer.get(), &one, sizeof one) != sizeof one && errno != EAGAIN) return;
  }
}

}  // namespace urnic::memory
