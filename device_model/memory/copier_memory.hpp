// A program's memory by way of a copier: a process of its own that copies from and to it, waits where that
// takes its time, and can be killed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "device_model/memory/copier_page.hpp"
#include "device_model/memory/descriptor.hpp"
#include "device_model/memory/waiting_memory.hpp"

namespace urnic::memory {

// The descriptors by which a copier and this process work together; both have them.
struct CopierDescriptors {
  Descriptor page;     // a memfd of one CopierPage
  Descriptor request;  // an eventfd, which the copier reads
  Descriptor answer;   // an eventfd, which wakes the engine
};

// Throws std::system_error.
CopierDescriptors make_copier_descriptors();

class CopierMemory final : public WaitingMemory {
 public:
  // `direct` is the same memory without a copier, and outlives this. Throws std::system_error.
  CopierMemory(CopierDescriptors&& descriptors, ApplicationMemory& direct);
  ~CopierMemory() override;

  // Written when a job has ended.
  int answer_descriptor() const { return descriptors_.answer.get(); }

  bool idle() override;
  void begin_read(std::span<const Transfer> batch) override;
  void begin_write(std::span<const Transfer> batch) override;
  void begin_operation(const WordOperation& operation) override;
  bool end(std::span<Transfer> batch) override;
  // From now on no job begins any more, and each fails at once: the copier is killed.
  void give_up() { given_up_.store(true, std::memory_order_relaxed); }

  bool owner_lives() override { return direct_.owner_lives(); }
  bool heeds_page_protection() const override { return direct_.heeds_page_protection(); }
  const char* way() const override { return "copier"; }

  // Any thread: how long the job that is under way takes already; empty if there is none.
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
