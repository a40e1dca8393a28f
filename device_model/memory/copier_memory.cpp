#include "device_model/memory/copier_memory.hpp"

#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

#include "device_model/memory/checked_call.hpp"
#include "device_model/memory/sealed_memory.hpp"
#include "device_model/memory/transfer_groups.hpp"

namespace urnic::memory {

namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

CopierDescriptors make_copier_descriptors() {
  Descriptor page = make_sealed_memory("urnic-copier", sizeof(CopierPage));
  checked(page.get(), "memory of a copier");
  return {
      .page = std::move(page),
      .request = Descriptor(checked(eventfd(0, EFD_CLOEXEC), "request of a copier: eventfd")),
      .answer = Descriptor(checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "answer of a copier: eventfd")),
  };
}

CopierMemory::CopierMemory(CopierDescriptors&& descriptors, ApplicationMemory& direct)
    : descriptors_(std::move(descriptors)), direct_(direct) {
  void* const place =
      mmap(nullptr, sizeof(CopierPage), PROT_READ | PROT_WRITE, MAP_SHARED, descriptors_.page.get(), 0);
  if (place == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "memory of a copier: mmap");
  }
  page_ = new (place) CopierPage;  // leaves the zeros of `bytes` alone
  descriptors_.page.reset();
  set_owner(direct.owner());
}

CopierMemory::~CopierMemory() { munmap(page_, sizeof(CopierPage)); }

bool CopierMemory::under_way() const {
  return page_->ended.load(std::memory_order_acquire) != page_->begun.load(std::memory_order_relaxed);
}

bool CopierMemory::idle() { return !under_way() || given_up_.load(std::memory_order_relaxed); }

void CopierMemory::begin(CopierPage::Kind kind, std::span<const Transfer> batch) {
  if (under_way()) return;  // a job that was given up
  page_->kind = kind;
  page_->count = static_cast<std::uint32_t>(batch.size());
  std::size_t used = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Transfer& transfer = batch[i];
    page_->pieces[i] = {transfer.address, static_cast<std::uint32_t>(transfer.local.size()), 0};
    used = place_of_piece(used, transfer.address);
    if (kind == CopierPage::Kind::write) {
      std::memcpy(page_->bytes + used, transfer.local.data(), transfer.local.size());
    }
    used += transfer.local.size();
  }
  hand_over();
}

void CopierMemory::hand_over() {
  begun_at_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
  page_->begun.store(page_->begun.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(descriptors_.request.get(), &one, sizeof one);
}

void CopierMemory::begin_read(std::span<const Transfer> batch) { begin(CopierPage::Kind::read, batch); }

void CopierMemory::begin_write(std::span<const Transfer> batch) { begin(CopierPage::Kind::write, batch); }

void CopierMemory::begin_operation(const WordOperation& operation) {
  if (under_way()) return;  // a job that was given up
  page_->kind = CopierPage::Kind::operation;
  page_->count = 1;
  page_->operation = operation;
  page_->pieces[0] = {operation.address, sizeof(std::uint64_t), 0};
  hand_over();
}

bool CopierMemory::end(std::span<Transfer> batch) {
  if (given_up_.load(std::memory_order_relaxed)) {
    fail_all(batch);
    return true;
  }
  if (under_way()) return false;
  std::size_t used = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    Transfer& transfer = batch[i];
    transfer.failed = page_->pieces[i].failed != 0;
    used = place_of_piece(used, transfer.address);
    if (page_->kind != CopierPage::Kind::write) {
      std::memcpy(transfer.local.data(), page_->bytes + used, transfer.local.size());
    }
    used += transfer.local.size();
  }
  return true;
}

std::optional<std::chrono::nanoseconds> CopierMemory::takes_already() const {
  if (!under_way()) return std::nullopt;
  return Clock::now() - Clock::time_point(Clock::duration(begun_at_.load(std::memory_order_relaxed)));
}

}  // namespace urnic::memory
