// A program's memory through a copier: a separate process that copies from and to it, may block meanwhile,
// and can be killed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "device_model/memory/copier_page.hpp"
#include "device_model/memory/descriptor.hpp"
#include "device_model/memory/waiting_memory.hpp"

namespace urnic::memory {

// The descriptors that a copier and this process share.
struct CopierDescriptors {
  Descriptor page;     // a memfd of one CopierPage
  Descriptor request;  // an eventfd, which the copier reads
  Descriptor answer;   // an eventfd, which wakes the engine
};

// Throws std::system_error.
CopierDescriptors make_copier_descriptors();

class CopierMemory final : public WaitingMemory {
 public:
  // `direct` is the same memory without a copier, and must outlive this. Throws std::system_error.
  CopierMemory(CopierDescriptors&& descriptors, ApplicationMemory& direct);
  ~CopierMemory() override;

  // The eventfd that is written when a job has ended. Stays this object's.
  int answer_descriptor() const { return descriptors_.answer.get(); }

  bool idle() override;
  void begin_read(std::span<const Transfer> batch) override;
  void begin_write(std::span<const Transfer> batch) override;
  void begin_operation(const WordOperation& operation) override;
  bool end(std::span<Transfer> batch) override;
  // For a copier that is killed: from now on no job begins, and each fails at once.
  void give_up() { given_up_.store(true, std::memory_order_relaxed); }

  bool owner_lives() override { return direct_.owner_lives(); }
  bool heeds_page_protection() const override { return direct_.heeds_page_protection(); }
  const char* way() const override { return "copier"; }

  // Any thread: how long the job under way has taken so far; empty if there is none.
  std::optional<std::chrono::nanoseconds> takes_already() const;

 private:
  void begin(CopierPage::Kind kind, std::span<const Transfer> batch);
  void hand_over();
  bool under_way() const;

  CopierDescriptors descriptors_;
  ApplicationMemory& direct_;
  CopierPage* page_ = nullptr;
  std::atomic<bool> given_up_{false};
  std::atomic<std::chrono::steady_clock::rep> begun_at_{0};
};

}  // namespace urnic::memory
