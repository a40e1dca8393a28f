// A forked process whose memory the tests read and write.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "device_model/memory/descriptor.hpp"
#include "device_model/memory/process_memory.hpp"

namespace urnic::memory::test {

class ChildProcess {
 public:
  // Forks. The child runs `prepare`, then `obey` for each command() until this object is destroyed. The
  // constructor returns when `prepare` has run.
  explicit ChildProcess(std::function<void()> prepare, std::function<char(char)> obey = {});
  ~ChildProcess();  // kills and reaps it
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Makes the child run `obey(which)` and returns its result.
  char command(char which);
  // The two halves of command().
  void start(char which);
  char finish();
  // The descriptor by which the child itself can answer command().
  int answer_descriptor() const { return answers_[1]; }
  void kill_and_reap();

  pid_t pid() const { return pid_; }
  Descriptor open_pidfd() const;
  Descriptor open_mem() const;

 private:
  pid_t pid_ = -1;
  int commands_[2];
  int answers_[2];
};

enum class Way { process_vm, mem_file };
inline constexpr Way kWays[] = {Way::process_vm, Way::mem_file};

std::unique_ptr<ApplicationMemory> reach(const ChildProcess& child, Way way);

// Anonymous pages at the same address in parent and child. Each process has its own content once it has
// written there.
class Pages {
 public:
  explicit Pages(std::size_t count);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::byte* page(std::size_t index) const { return base_ + index * kBytes; }
  std::uint64_t address(std::size_t index, std::size_t offset = 0) const;
  std::span<std::byte> all() const { return {base_, count_ * kBytes}; }
  static constexpr std::size_t kBytes = 4096;

 private:
  std::byte* base_;
  std::size_t count_;
};

}  // namespace urnic::memory::test
