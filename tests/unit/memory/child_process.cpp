#include "tests/unit/memory/child_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "device_model/memory/mem_file_memory.hpp"
#include "device_model/memory/vm_process_memory.hpp"

namespace urnic::memory::test {

ChildProcess::ChildProcess(std::function<void()> prepare, std::function<char(char)> obey) {
  if (pipe2(commands_, O_CLOEXEC) != 0 || pipe2(answers_, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork");
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(commands_[1]);
    close(answers_[0]);
    prepare();
    char answer = 'r';
    char which = 0;
    do {
      if (write(answers_[1], &answer, 1) != 1 || read(commands_[0], &which, 1) != 1) _exit(0);
      answer = obey ? obey(which) : 'r';
    } while (true);
  }
  finish();
}

ChildProcess::~ChildProcess() {
  kill_and_reap();
  for (int descriptor : {commands_[0], commands_[1], answers_[0], answers_[1]}) close(descriptor);
}

void ChildProcess::kill_and_reap() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void ChildProcess::start(char which) {
  if (write(commands_[1], &which, 1) != 1) throw std::runtime_error("the child takes no command");
}

char ChildProcess::finish() {
  char answer = 0;
  if (read(answers_[0], &answer, 1) != 1) throw std::runtime_error("the child does not answer");
  return answer;
}

char ChildProcess::command(char which) {
  start(which);
  return finish();
}

Descriptor ChildProcess::open_pidfd() const {
  return Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
}

Descriptor ChildProcess::open_mem() const {
  const std::string path = "/proc/" + std::to_string(pid_) + "/mem";
  return Descriptor(open(path.c_str(), O_RDWR | O_CLOEXEC));
}

std::unique_ptr<ApplicationMemory> reach(const ChildProcess& child, Way way) {
  if (way == Way::mem_file) return std::make_unique<MemFileMemory>(child.open_mem());
  return std::make_unique<VmProcessMemory>(child.pid(), child.open_mem());
}

Pages::Pages(std::size_t count) : count_(count) {
  void* base = mmap(nullptr, count * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) throw std::runtime_error("mmap");
  base_ = static_cast<std::byte*>(base);
}

Pages::~Pages() { munmap(base_, count_ * kBytes); }

std::uint64_t Pages::address(std::size_t index, std::size_t offset) const {
  return reinterpret_cast<std::uintptr_t>(page(index)) + offset;
}

}  // namespace urnic::memory::test
