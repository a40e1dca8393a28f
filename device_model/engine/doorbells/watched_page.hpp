// A page of the device that processes have mapped: the engine takes it away, and the next access of a process
// waits in its userfaultfd until the page is there again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device_model/memory/descriptor.hpp"

namespace urnic::engine {

// A process that has a context open. Only compared.
struct PageHolder {
  const void* process = nullptr;

  friend bool operator==(PageHolder, PageHolder) = default;
};

// Engine thread only, after construction.
class WatchedPage {
 public:
  static constexpr std::size_t kBytes = 4096;

  // The page with this number in `file`, which outlives this.
  WatchedPage(int file, std::size_t number) : file_(file), number_(number) {}

  // The process maps the page, perhaps once more. It has no watch yet: its access would put an empty page in
  // the place of one that is away. So the caller gives the page back before, and it stays until `watch`.
  void hold(PageHolder holder);
  // It watches the page, which it has at `address`, by this userfaultfd. Returns the one that it had there,
  // or this one if there are too many: then the page is not taken any more. The process can make it block
  // whoever closes it.
  [[nodiscard]] memory::Descriptor watch(PageHolder holder, memory::Descriptor faults, std::uint64_t address);
  // It has the page no more. Returns its userfaultfds.
  [[nodiscard]] std::vector<memory::Descriptor> release(PageHolder holder);
  // Nobody has it any more. Returns all userfaultfds. The page must be there.
  [[nodiscard]] std::vector<memory::Descriptor> release_all();

  bool is_held() const { return !holds_.empty(); }
  bool is_away() const { return away_; }
  // Each who has the page watches it.
  bool can_be_taken() const;
  // Takes it away. False: the kernel does not do it.
  bool take();
  // Somebody waits for the page, which is away.
  bool is_awaited() const;
  // It is there again: the caller has stored something into it. Ends all waits.
  void given_back();

 private:
  struct Hold {
    PageHolder holder;
    memory::Descriptor faults;  // empty: it does not watch
    std::uint64_t address = 0;
  };
  // A context's program, and children of it that go on with the context.
  static constexpr std::size_t kMostHolds = 64;

  int file_;
  std::size_t number_;
  bool away_ = false;
  std::vector<Hold> holds_;
};

}  // namespace urnic::engine
