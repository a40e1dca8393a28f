// The clock of one context of the mlx5 face (abi/mlx5/clock.hpp), which its program reads in its memory.
//
// While the engine is awake it stores the time in each round. Before it sleeps it takes the page away (a hole
// in its file), as it does with doorbell pages; a program that reads then waits in its userfaultfd, which
// wakes the engine. Where a program has no userfaultfd the engine wakes now and then. Programs that do not
// read the clock cost nothing: a page that is away stays away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "device_model/abi/mlx5/clock.hpp"
#include "device_model/engine/completion/completion_clock.hpp"
#include "device_model/engine/doorbells/watched_page.hpp"
#include "device_model/engine/round/round.hpp"
#include "device_model/memory/descriptor.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::engine {

// Engine thread only, after construction.
class ClockPages final : public CompletionClock {
 public:
  static constexpr std::size_t kPageBytes = WatchedPage::kBytes;
  // The pages in the file.
  static constexpr std::size_t kClockPage = 0;
  static constexpr std::size_t kInfoPage = 1;
  static constexpr std::size_t kPages = 2;
  using Clock = transport::Time (*)();

  // `pages` is a shared mapping of `file`, kPages long; both belong to the context and outlive this. `clock`
  // is the one whose time the round has.
  ClockPages(std::byte* pages, int file, Round& round, Clock clock);

  // The clock's page has these functions of WatchedPage. From the first `hold` on the clock goes.
  void hold(PageHolder holder);
  memory::Descriptor watch(PageHolder holder, memory::Descriptor faults, std::uint64_t address);
  std::vector<memory::Descriptor> release(PageHolder holder);
  std::vector<memory::Descriptor> release_all();

  // A round has begun. True: a program waits for its turn to read; the engine must not sleep now.
  bool show();
  // Around the engine's sleep, as UarPages has them.
  void going_to_sleep(transport::Time now);
  std::optional<transport::Time> look_again() const { return look_again_; }
  void awake();

  // CompletionClock
  std::uint64_t now() override;
  std::uint64_t of_round() override;

 private:
  static std::uint64_t ticks(transport::Time time) {
    return static_cast<std::uint64_t>(time.time_since_epoch().count());
  }
  abi::mlx5::SharedClock& clock_page() const {
    return *reinterpret_cast<abi::mlx5::SharedClock*>(pages_ + kClockPage * kPageBytes);
  }
  void store_wall_time();
  void attend();
  bool take_away(transport::Time now);
  void give_back();

  std::byte* const pages_;
  WatchedPage page_;
  Round& round_;
  const Clock clock_;
  transport::Time taken_{};     // when the page was taken away last
  transport::Time attended_{};  // when a reader was asked for last
  transport::Time kept_until_{};
  transport::Nanoseconds kept_for_{0};
  transport::Time wall_time_at_{};
  std::optional<transport::Time> look_again_;
};

}  // namespace urnic::engine
