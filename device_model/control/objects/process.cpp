#include "device_model/control/objects/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "device_model/control/objects/address_map.hpp"
#include "device_model/memory/descriptor_facts.hpp"
#include "device_model/memory/mem_file_memory.hpp"
#include "terminal/harmless_text.hpp"

namespace urnic::control {
namespace {

// In succession. The memory objects of ended copiers stay until their process ends.
constexpr std::size_t kMostCopiers = 8;

// -1 if `descriptor` is not a pidfd.
pid_t pid_of(int descriptor) {
  const std::string number = memory::fdinfo_word(descriptor, "Pid");
  if (number.empty()) return -1;
  return std::max(static_cast<pid_t>(std::strtol(number.c_str(), nullptr, 10)), 0);
}

bool has_ended(int pidfd) {
  pollfd entry{pidfd, POLLIN, 0};
  return poll(&entry, 1, 0) > 0;
}

}  // namespace

bool is_of_own_process(int pidfd, int mem) {
  const auto is_own_thread = [](pid_t number) {
    return number > 0 && access(("/proc/self/task/" + std::to_string(number)).c_str(), F_OK) == 0;
  };
  if (is_own_thread(pid_of(pidfd))) return true;
  return memory::is_mem_file(mem) && is_own_thread(memory::mem_file_number(mem));
}

Process::Process(memory::Descriptor&& pidfd, memory::Descriptor&& mem, std::string program)
    : program_(std::move(program)) {
  pid_ = pid_of(pidfd.get());
  if (pid_ < 0) throw std::system_error(EINVAL, std::generic_category(), "not a pidfd");
  pidfd_ = memory::Descriptor(fcntl(pidfd.get(), F_DUPFD_CLOEXEC, 0));
  if (!pidfd_) throw std::system_error(errno, std::generic_category(), "pidfd");
  // Keeps nothing else: closing it could block.
  if (memory::is_mem_file(mem.get(), pid_)) {
    mem_ = memory::Descriptor(fcntl(mem.get(), F_DUPFD_CLOEXEC, 0));
  }
  memory_ = memory::open_process_memory(pid_, std::move(pidfd), std::move(mem), memory_problem_);
  if (memory_ != nullptr) memory_->set_owner(pid_);
}

std::optional<Process::Mapped> Process::look_at(std::uint64_t address, std::uint64_t length, bool writable,
                                                std::unique_ptr<AddressMap>& under_way) const {
  if (pid_ <= 0) return probe(address, length);
  if (under_way == nullptr) under_way = std::make_unique<AddressMap>(pid_);
  // Checked last: the map was opened while the process still had its PID.
  if (has_ended(pidfd_.get())) return Mapped{};
  if (!under_way->is_open()) return probe(address, length);
  switch (under_way->covers(address, length, writable)) {
    case AddressMap::Answer::not_yet:
      return std::nullopt;
    case AddressMap::Answer::unknown:  // an error shows at the first access
      return Mapped{.all = true, .may_wait = true};
    case AddressMap::Answer::no:
      return Mapped{};
    case AddressMap::Answer::yes:
      break;
  }
  return Mapped{.all = true,
                .may_wait = under_way->may_wait(),
                .shared_file = under_way->shared_file(),
                .is_private_memory = under_way->is_private_memory()};
}

// Without the process's map, tries to read the ends of the range.
Process::Mapped Process::probe(std::uint64_t address, std::uint64_t length) const {
  std::array<std::byte, 2> bytes;
  std::array<memory::Transfer, 2> ends{
      memory::Transfer{address, std::span(bytes).first(1)},
      memory::Transfer{address + length - 1, std::span(bytes).last(1)},
  };
  memory_->read(ends);
  return {.all = !ends[0].failed && !ends[1].failed};
}

memory::CopierMemory* Process::waiting_memory(CopierParent& parent) {
  if (copier_ != nullptr) return waiting_memories_.back().get();
  if (memory_ == nullptr || !mem_ || waiting_memories_.size() == kMostCopiers) return nullptr;
  memory::CopierDescriptors descriptors = memory::make_copier_descriptors();
  auto copier = parent.make(pid_, pidfd_.get(), mem_.get(), descriptors);
  if (copier == nullptr) return nullptr;
  waiting_memories_.push_back(std::make_unique<memory::CopierMemory>(std::move(descriptors), *memory_));
  copier_ = std::move(copier);
  return waiting_memories_.back().get();
}

void Process::end_copier() {
  if (copier_ == nullptr) return;
  waiting_memories_.back()->give_up();
  copier_.reset();
}

std::optional<std::chrono::nanoseconds> Process::waits_for_memory() const {
  if (copier_ == nullptr) return std::nullopt;
  return waiting_memories_.back()->takes_already();
}

std::string printable_name(const char* name, std::size_t size) {
  return terminal::harmless(std::string(name, strnlen(name, size)));
}

}  // namespace urnic::control
