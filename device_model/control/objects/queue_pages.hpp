// Memory of a program that holds its queues, where the program has made that memory itself: libmlx5's rings
// and doorbell records. The pages become the device's own memory at the same addresses: blocks of the
// context's arenas, which the program maps in their place (abi::QueuePages). So the engine reads them as it
// reads all queues. Memory that the program shares already, in a file in memory, stays where it is: the
// device maps the file (memory::FilePages).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "device_model/control/fabric/loan.hpp"
#include "device_model/control/fabric/quotas.hpp"
#include "device_model/control/objects/arena_allocator.hpp"
#include "device_model/control/objects/process.hpp"
#include "device_model/memory/file_pages.hpp"

namespace urnic::control {

// Whole pages of a process, and the block that takes their place, or what the device has of their file.
struct QueuePageBlock {
  std::shared_ptr<Process> process;
  std::uint64_t address = 0;
  ArenaBlock block{};
  std::unique_ptr<memory::FilePages> file = nullptr;  // instead of the block
  Charge charge{};                                    // for the file's pages
  std::uint32_t held = 0;                             // by queues

  std::uint64_t length() const { return file != nullptr ? file->bytes().size() : block.length(); }
  std::byte* data() const { return file != nullptr ? file->bytes().data() : block.data(); }
  std::uint64_t end() const { return address + length(); }
};

class QueuePages;

struct HeldPlace {
  QueuePageBlock* pages = nullptr;
  std::byte* data = nullptr;
  std::uint64_t length = 0;
};

// A part of a program's memory that the device has, too, as long as this exists. For a queue's object, which
// goes before the context's QueuePages.
class HeldPages : private Loan<QueuePages, HeldPlace> {
 public:
  using Loan::Loan;
  using Loan::operator bool;

  // What the program may write at any time.
  std::byte* data() const { return value().data; }
  std::uint64_t length() const { return value().length; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data());
  }
};

// Control thread only.
class QueuePages {
 public:
  struct Range {
    std::uint64_t address = 0;
    std::uint64_t length = 0;  // not 0

    friend bool operator==(const Range&, const Range&) = default;
  };
  static constexpr std::size_t kMostRanges = 4;

  // `arenas` outlive it.
  explicit QueuePages(ArenaAllocator& arenas) : arenas_(arenas) {}
  QueuePages(const QueuePages&) = delete;
  QueuePages& operator=(const QueuePages&) = delete;

  // Empty: the device does not have all of the range.
  HeldPages hold(const Process& process, const Range& range);

  // The pages of the ranges that the device does not have, each once. 0; EFAULT for addresses outside of user
  // space; EINVAL if the device has some of a range's pages, but not in one piece with the others.
  int find_missing(const Process& process, std::span<const Range> ranges, std::vector<Range>& missing);
  // As ArenaAllocator::prepare, for blocks for at most kMostRanges ranges.
  bool prepare(std::span<const Range> missing);
  // The blocks for them. They hold nothing yet, and the device does not have them until they are added.
  std::vector<QueuePageBlock> make(const std::shared_ptr<Process>& process, std::span<const Range> missing);
  // The program has put them in the place of its own pages.
  void add(std::vector<QueuePageBlock> blocks);

  // Maps the pages of one of those ranges, which lie in one shared mapping of a file that is open for reading
  // and writing, or of a System V segment; `offset`: where in it they begin. The device has them then, and of
  // huge pages all that they are a part of: memory of the program's, of which these pages only are charged.
  // 0; EOPNOTSUPP: it cannot be mapped. Throws std::system_error with ENOMEM when the quota is used up.
  template <class FileOrSegment>
  int add_shared(const std::shared_ptr<Process>& process, const Range& missing, const FileOrSegment& of,
                 std::uint64_t offset, Account& account) {
    Charge charge = account.charge(Resource::shared_memory, missing.length);
    return add_mapped(process, missing, memory::FilePages::map(of, offset, missing.length),
                      std::move(charge));
  }

  // At most `most` blocks of arenas of the process that no queue has any more. Files' pages go for good. The
  // program may still use them: they are given back when it has its own pages again.
  std::vector<QueuePageBlock> take_unused(const Process& process, std::size_t most);

  std::size_t size() const { return blocks_.size(); }

  void give_back(const HeldPlace& place);

 private:
  using Key = std::pair<const Process*, std::uint64_t>;  // the address

  int add_mapped(const std::shared_ptr<Process>& process, const Range& missing,
                 std::unique_ptr<memory::FilePages> mapped, Charge charge);
  // The block that has the address, or the next one of that process; null: none.
  QueuePageBlock* find_from(const Process& process, std::uint64_t address);

  ArenaAllocator& arenas_;
  std::map<Key, std::unique_ptr<QueuePageBlock>> blocks_;
  std::vector<Key> unused_;
};

}  // namespace urnic::control
