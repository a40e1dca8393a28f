// The engine: one thread that runs whole devices — doorbells, timers, links, completions.
//
// What the engine works on has one lock. The engine's thread holds it, and gives it up only while it rests:
// when it yields and when it sleeps. The control thread builds objects and has them installed, changed and
// removed by `execute`, between two batches: itself while the engine rests, else on the engine's thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "device_model/engine/doorbells/doorbell_turns.hpp"
#include "device_model/engine/loop/crowding.hpp"
#include "device_model/engine/loop/mailbox.hpp"
#include "device_model/engine/loop/processor_choice.hpp"
#include "device_model/engine/loop/processor_share.hpp"
#include "device_model/engine/loop/sleeper.hpp"
#include "device_model/engine/loop/starvation.hpp"
#include "device_model/memory/descriptor.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::link {
class Uplink;
}

namespace urnic::engine {

class ClockPages;
class DataPath;
class DoorbellSet;
class ManagementTraffic;
class UarPages;
struct PageHolder;

struct EngineConfig {
  // How long an idle engine polls, yielding the processor each time, before it sleeps.
  transport::Nanoseconds idle_spin{50'000};
  std::string thread_name = "urnic-engine";  // at most 15 characters
};

class Engine {
 public:
  explicit Engine(const EngineConfig& config);
  ~Engine();  // stops the thread
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void start();
  void stop();

  // Runs `task` between two batches and returns when it has run: on the caller's thread while the engine
  // rests and nothing waits for it, or before `start`; else on the engine thread. Between two tasks the
  // engine looks at the doorbells that rang before the first. Not from the engine thread. Rethrows an
  // exception of `task`.
  void execute(const std::function<void()>& task);

  // A descriptor of the EngineStatus page, read-only for its receiver; belongs to the engine.
  int status_descriptor() const;

  // Processor time that the engine thread has used.
  transport::Nanoseconds processor_time() const;

  // Changes whenever packets or work requests have moved. From any thread, without waking the engine: shows
  // whether counters may have changed.
  std::uint64_t activity() const { return activity_.load(std::memory_order_relaxed); }

  // The time at which the present round began; changes each time that the engine looks for work. From any
  // thread, for a watchdog.
  std::uint64_t heartbeat() const { return heartbeat_.load(std::memory_order_relaxed); }
  // Whether the heartbeat must change: the engine is awake, or a thread waits or works in `execute`.
  bool has_to_move() const {
    return running_.load() && (!sleeper_.asleep() || mailbox_.has_tasks() || helped_.load());
  }
  // The process whose memory is being copied (memory_batch.hpp), or 0.
  pid_t copying_with() const;

  // From any thread, after storing something for the engine: wakes it if it sleeps.
  void wake() { sleeper_.wake_if_asleep(); }
  // The same after management datagrams were posted. Sends them on the caller's thread while the engine
  // rests, and delivers those to devices of this engine. Not from the engine thread.
  void send_management();

  // The following from inside `execute` only (or before `start`).
  // Carries the frames of its devices; outlives this.
  void add_uplink(link::Uplink& uplink);
  // Readable when frames come from outside of this process: wakes the engine. Closing it removes it. Throws
  // std::system_error.
  void wake_on(int descriptor) {
    sleeper_.add(descriptor);
    woken_by_frames_ = true;
  }
  // The same for frames of this host. In a crowd the engine goes on as without them: no other engine waits
  // for its answers.
  void wake_on_host(int descriptor) { sleeper_.add(descriptor); }
  // The management datagrams of its devices; outlives this. Whoever posts one calls `send_management`.
  void set_management(ManagementTraffic& traffic) { management_ = &traffic; }
  // From now on the engine takes these doorbells, and their eventfd wakes it, until they are removed.
  void add_doorbells(DoorbellSet& doorbells);
  void remove_doorbells(DoorbellSet& doorbells);
  // The same of UAR pages.
  void add_uar_pages(UarPages& pages) { doorbells_.add(pages); }
  // The userfaultfds that were watched are for somebody to close who may wait.
  std::vector<memory::Descriptor> remove_uar_pages(UarPages& pages);
  // A process's stores into a page wake the engine through its userfaultfd `faults`, whose place the one
  // takes that was watched before. Throws std::system_error; then nothing has changed.
  void watch_uar_page(UarPages& pages, std::uint32_t page, PageHolder holder, memory::Descriptor& faults,
                      std::uint64_t address);
  // The clock of a context of the mlx5 face goes from now on, until it is removed; its userfaultfds are then
  // as those of UAR pages.
  void add_clock(ClockPages& clock) { doorbells_.add(clock); }
  std::vector<memory::Descriptor> remove_clock(ClockPages& clock);
  // As watch_uar_page, of a process's reads of the clock.
  void watch_clock(ClockPages& clock, PageHolder holder, memory::Descriptor& faults, std::uint64_t address);
  // Userfaultfds that pages have given up wake the engine no more.
  std::vector<memory::Descriptor> out_of_sleeper(std::vector<memory::Descriptor> ended);
  transport::Time now() const;
  // From now on some region's memory may not answer (memory/waiting_memory.hpp); the eventfd `answer` tells
  // that a copy has ended. Closing it removes it. Throws std::system_error.
  void expect_waiting_memory(int answer);

  // For devices.
  DataPath& data_path() { return *data_path_; }
  const DataPath& data_path() const { return *data_path_; }

 private:
  void run();
  std::unique_lock<std::mutex> hold_at_rest();
  bool execute_at_rest(const std::function<void()>& task);
  void execute_on_thread(const std::function<void()>& task);
  bool send_management_at_rest();
  void begin_turn();
  bool look();
  void note_starvation(bool worked);
  void yield();
  void leave_crowd(const ProcessorShareReader& reader);
  void choose_slices();
  void sleep();
  std::optional<transport::Time> wake_at() const;

  const EngineConfig config_;
  std::mutex working_;               // see the beginning of this file
  std::atomic<bool> helped_{false};  // another thread does what the engine's thread would do
  const std::unique_ptr<DataPath> data_path_;
  Mailbox mailbox_;
  Sleeper sleeper_;
  Starvation starvation_;
  DoorbellTurns doorbells_;
  ManagementTraffic* management_ = nullptr;
  bool woken_by_frames_ = false;
  bool small_slices_ = false;
  Crowding crowding_;
  ProcessorChoice processor_;
  std::atomic<std::uint64_t> activity_{0};
  std::atomic<std::uint64_t> heartbeat_{0};
  std::atomic<bool> stopping_{false};
  clockid_t processor_clock_{};
  transport::Nanoseconds used_{0};  // processor time of threads that have ended
  std::atomic<bool> running_{false};
  std::thread thread_;
};

}  // namespace urnic::engine
