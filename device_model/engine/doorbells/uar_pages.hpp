// The doorbells of one context of the mlx5 face: UAR pages, into whose registers the program stores the
// beginning of a WQE.
//
// A store says only "look": libmlx5 writes the queue's doorbell record first (mmio_wc_start in its
// post_send_db), several QPs share a register, and a later store hides an earlier one. So a register that was
// written makes the engine look at the records of all QPs on it.
//
// While the engine is awake it reads the registers in use. Before it sleeps it takes the pages away (a hole
// in their file) and looks at the records once more; the first store of the program into such a page then
// faults, and its userfaultfd wakes the engine, which gives the page back. Other pages stay away: to take one
// away costs an interrupt of every processor that its program uses. Where a program has no userfaultfd, the
// engine sleeps for short times only.
//
// Requests for events are a record, too, of which the last one alone is there. A page that is away is their
// gate (RequestGate): it is given back when the engine has seen what the store is for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "device_model/engine/completion/request_gate.hpp"
#include "device_model/engine/doorbells/watched_page.hpp"
#include "device_model/engine/round/round.hpp"
#include "device_model/memory/descriptor.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::engine {

class CompletionQueue;
class QueuePairContext;

// A register for the doorbells of QPs (a BlueFlame register in libmlx5's words).
struct UarRegister {
  std::uint32_t value = 0;
};

// Engine thread only, after construction.
class UarPages final : public RequestGate {
 public:
  static constexpr std::size_t kPageBytes = WatchedPage::kBytes;
  // As libmlx5 numbers them (NUM_BFREGS_PER_UAR in its mlx5-abi.h), also for a program that has asked for two
  // of each page.
  static constexpr std::uint32_t kRegistersPerPage = 4;
  static constexpr std::size_t kFirstRegister = 0x800;
  static constexpr std::size_t kRegisterBytes = 512;  // two halves, which the program uses by turns
  static constexpr std::size_t kArmRegister = 0x20;   // where requests for completion events are stored

  // `pages` is a shared mapping of `file`, `count` pages long; both belong to the context and outlive this.
  UarPages(std::byte* pages, std::uint32_t count, int file, Round& round);

  std::uint32_t registers() const { return count_ * kRegistersPerPage; }
  // The register with the fewest QPs, of those in the first `pages`.
  UarRegister least_used(std::uint32_t pages) const;
  void attach(UarRegister on, QueuePairContext& queue_pair);
  void detach(UarRegister on, const QueuePairContext& queue_pair);
  // A CQ with a completion channel, whose program stores its requests for events in that page.
  void attach(CompletionQueue& queue, std::uint32_t page);
  void detach(const CompletionQueue& queue);

  // As WatchedPage has them. Of all pages where none is named.
  void hold(std::uint32_t page, PageHolder holder);
  memory::Descriptor watch(std::uint32_t page, PageHolder holder, memory::Descriptor faults,
                           std::uint64_t address);
  std::vector<memory::Descriptor> release(PageHolder holder);
  std::vector<memory::Descriptor> release_all(std::uint32_t page);
  std::vector<memory::Descriptor> release_all();

  // Looks at the registers in use, and at the records of the QPs on those that were written: at most `most`
  // of them. True: a QP had something new, or records are left to look at.
  bool look(std::uint32_t most);
  // A register was written, or records are left to look at.
  bool rung() const;

  // Gives back pages for which a store waits, if it is time for that. While the engine is awake it costs a
  // system call for each page that is away: so only one context at a time.
  void attend();

  // The engine is about to sleep: records are to be looked at once more, and from now on a store wakes it.
  void going_to_sleep(transport::Time now);
  // When the engine must look again although nothing woke it; empty: a store wakes it.
  std::optional<transport::Time> look_again() const { return look_again_; }
  void awake(transport::Time now);

  // RequestGate; a place is a page. Nothing, if no store into the page would wake the engine.
  void close(std::uint32_t page) override;

  // Queues use the pages, and a store into any page in use wakes the engine.
  bool wakes() const { return (!used_.empty() || !queues_.empty()) && can_wake(); }

 private:
  struct Register {
    std::vector<QueuePairContext*> queue_pairs;
    std::uint32_t next = 0;
    std::uint32_t left = 0;  // QPs to look at
  };
  struct Page {
    WatchedPage memory;
    std::uint32_t users = 0;   // QPs on its registers
    std::uint32_t queues = 0;  // CQs
    // A store has waited for the page, and is not seen yet: if the page went again before the program's
    // thread had its turn, the store would wait again.
    bool owes_store = false;
    transport::Nanoseconds store_rest{0};  // how long the engine has slept for it last
  };

  std::uint64_t* word(std::uint32_t page, std::size_t offset) const {
    return reinterpret_cast<std::uint64_t*>(pages_ + page * kPageBytes + offset);
  }
  static bool take(std::uint64_t* word);
  bool was_written(std::uint32_t index) const;
  bool in_use(std::uint32_t page) const { return pages_of_[page].users != 0 || pages_of_[page].queues != 0; }
  bool is_away(std::uint32_t index) const { return is_page_away(index / kRegistersPerPage); }
  bool is_page_away(std::uint32_t page) const { return pages_of_[page].memory.is_away(); }
  // An engine that sleeps has taken away only the pages that were in use: it wakes, and takes away this one,
  // too.
  void look_soon(std::uint32_t page) {
    if (!is_page_away(page)) look_again_ = round_.now();
  }
  void take_requests();
  void look_at_requests();
  void see_requests_on(std::uint32_t page, bool next_may_hide);
  void look_at_queues_on(std::uint32_t page);
  bool can_wake() const;
  bool any_in_error() const;
  bool take_away(std::uint32_t page);
  void give_back(std::uint32_t page);
  void attend_to_stores(transport::Time now);

  std::byte* const pages_;
  const std::uint32_t count_;
  Round& round_;
  std::vector<Register> registers_;
  std::vector<Page> pages_of_;
  std::vector<std::uint32_t> used_;  // registers with QPs
  struct Queue {
    CompletionQueue* queue;
    std::uint32_t page;
  };
  std::vector<Queue> queues_;
  std::vector<std::uint32_t> asked_;  // pages with queues
  std::uint32_t away_ = 0;            // pages
  transport::Time attended_{};
  bool ask_queues_ = false;
  std::optional<transport::Time> look_again_;
  transport::Nanoseconds rest_{0};  // how long the engine sleeps at most
};

}  // namespace urnic::engine
