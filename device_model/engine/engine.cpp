#include "device_model/engine/engine.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>

#include "device_model/engine/data_path.hpp"
#include "device_model/engine/doorbells/clock_pages.hpp"
#include "device_model/engine/doorbells/doorbell_set.hpp"
#include "device_model/engine/doorbells/uar_pages.hpp"
#include "device_model/engine/loop/clock_now.hpp"
#include "device_model/engine/loop/short_slice.hpp"
#include "device_model/engine/management/management_traffic.hpp"

namespace urnic::engine {

namespace {

// How often an idle engine retries a full pipe.
constexpr transport::Nanoseconds kBacklogPeriod{10'000'000};
// How late the kernel may end a sleep. Small, since RNR timers begin at 10 us.
constexpr unsigned long kTimerSlackNanoseconds = 1000;
// How often another thread looks whether the engine rests: a microsecond or two. Between two looks, which
// take some hundred nanoseconds each, an idle engine does.
constexpr int kTriesToHold = 64;

// How long an engine goes on looking without yielding where programs poll without yielding: less than it
// takes to fall asleep and be woken by a store.
constexpr transport::Nanoseconds kBriefSpin{8'000};

void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Says that another thread does what the engine's thread would do, until the end of the scope.
class Help {
 public:
  explicit Help(std::atomic<bool>& helped) : helped_(helped) { helped_.store(true); }
  ~Help() { helped_.store(false); }
  Help(const Help&) = delete;
  Help& operator=(const Help&) = delete;

 private:
  std::atomic<bool>& helped_;
};

// The control thread handles signals; SIGPIPE of a channel without reader is ignored.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

}  // namespace

Engine::Engine(const EngineConfig& config) : config_(config), data_path_(std::make_unique<DataPath>()) {
  data_path_->set_now(clock_now());
}

Engine::~Engine() { stop(); }

void Engine::start() {
  if (thread_.joinable()) return;
  stopping_.store(false);
  thread_ = std::thread([this] { run(); });
  pthread_getcpuclockid(thread_.native_handle(), &processor_clock_);
  running_.store(true);
}

void Engine::stop() {
  if (!thread_.joinable()) return;
  stopping_.store(true);
  sleeper_.wake_if_asleep();
  used_ = processor_time();
  running_.store(false);
  thread_.join();
}

void Engine::execute(const std::function<void()>& task) {
  if (!execute_at_rest(task)) execute_on_thread(task);
}

// Empty: the engine is at work, or has to go to work. A doorbell that rang is work, also if nobody has woken
// the engine for it yet: what a program has posted does not wait for what it asks of the control thread
// later.
std::unique_lock<std::mutex> Engine::hold_at_rest() {
  if (!thread_.joinable()) return {};
  std::unique_lock lock(working_, std::try_to_lock);
  for (int tries = 1; !lock && tries < kTriesToHold; ++tries) {
    pause_processor();
    [[maybe_unused]] const bool locked = lock.try_lock();
  }
  if (lock && (data_path_->busy() || mailbox_.has_tasks() || doorbells_.rung())) return {};
  return lock;
}

// To wake the engine's thread and to wait for it would take longer than most tasks do. False: nothing was
// done.
bool Engine::execute_at_rest(const std::function<void()>& task) {
  std::unique_lock lock = hold_at_rest();
  if (!lock) return false;
  const std::optional<transport::Time> before = wake_at();
  begin_turn();
  data_path_->take_back_frames();
  std::optional<Help> help(helped_);
  std::exception_ptr problem;
  try {
    task();
  } catch (...) {
    problem = std::current_exception();
  }
  data_path_->ports_changed();
  const bool settled = data_path_->settle_without_memory();
  help.reset();
  const std::optional<transport::Time> after = wake_at();
  const bool is_earlier = after && (!before || *after < *before);
  const bool has_more = data_path_->busy();
  lock.unlock();
  if (!settled) execute_on_thread([] {});
  if (settled && (has_more || is_earlier)) sleeper_.wake_if_asleep();
  if (problem) std::rethrow_exception(problem);
  return true;
}

void Engine::send_management() {
  if (!send_management_at_rest()) sleeper_.wake_if_asleep();
}

// False: something is left for the engine's thread.
bool Engine::send_management_at_rest() {
  if (woken_by_frames_ || management_ == nullptr) return false;
  const std::unique_lock lock = hold_at_rest();
  if (!lock) return false;
  begin_turn();
  const std::optional<transport::Time> due = wake_at();
  if (due && *due <= data_path_->now()) return false;
  const Help help(helped_);
  if (management_->send()) activity_.fetch_add(1, std::memory_order_relaxed);
  const bool settled = data_path_->settle_without_memory();
  const std::optional<transport::Time> after = wake_at();
  return settled && !data_path_->busy() && !management_->has_to_send(data_path_->now()) &&
         !(after && (!due || *after < *due));
}

void Engine::execute_on_thread(const std::function<void()>& task) {
  Mailbox::Letter letter(task);
  mailbox_.post(letter);
  if (!thread_.joinable()) {
    mailbox_.run([this] { data_path_->settle(); });
  } else {
    sleeper_.wake_if_asleep();
  }
  mailbox_.wait(letter);
}

pid_t Engine::copying_with() const { return data_path_->copying_with(); }

void Engine::add_uplink(link::Uplink& uplink) { data_path_->add_uplink(uplink); }

int Engine::status_descriptor() const { return sleeper_.status_descriptor(); }

transport::Nanoseconds Engine::processor_time() const {
  if (!running_.load()) return used_;
  timespec used{};
  clock_gettime(processor_clock_, &used);
  return transport::Nanoseconds(std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec);
}

void Engine::add_doorbells(DoorbellSet& doorbells) {
  sleeper_.add(doorbells.wake_descriptor());
  doorbells_.add(doorbells);
}

void Engine::remove_doorbells(DoorbellSet& doorbells) {
  sleeper_.remove(doorbells.wake_descriptor());
  doorbells_.remove(doorbells);
}

// A descriptor that its program has, too, is in the epoll descriptor until it is taken out.
std::vector<memory::Descriptor> Engine::out_of_sleeper(std::vector<memory::Descriptor> ended) {
  for (const memory::Descriptor& each : ended) sleeper_.remove(each.get());
  return ended;
}

std::vector<memory::Descriptor> Engine::remove_uar_pages(UarPages& pages) {
  doorbells_.remove(pages);
  return out_of_sleeper(pages.release_all());
}

void Engine::watch_uar_page(UarPages& pages, std::uint32_t page, PageHolder holder,
                            memory::Descriptor& faults, std::uint64_t address) {
  sleeper_.add(faults.get());
  faults = pages.watch(page, holder, std::move(faults), address);
  if (faults) sleeper_.remove(faults.get());
}

std::vector<memory::Descriptor> Engine::remove_clock(ClockPages& clock) {
  doorbells_.remove(clock);
  return out_of_sleeper(clock.release_all());
}

void Engine::watch_clock(ClockPages& clock, PageHolder holder, memory::Descriptor& faults,
                         std::uint64_t address) {
  sleeper_.add(faults.get());
  faults = clock.watch(holder, std::move(faults), address);
  if (faults) sleeper_.remove(faults.get());
}

void Engine::expect_waiting_memory(int answer) {
  sleeper_.add(answer);
  data_path_->expect_waiting_memory();
}

transport::Time Engine::now() const { return data_path_->now(); }

void Engine::run() {
  pthread_setname_np(pthread_self(), config_.thread_name.c_str());
  prctl(PR_SET_TIMERSLACK, kTimerSlackNanoseconds);
  block_signals();
  const std::lock_guard lock(working_);
  data_path_->set_clock(clock_now);
  const ProcessorShareReader reader;
  transport::Time last_work = clock_now();
  while (!stopping_.load(std::memory_order_relaxed)) {
    begin_turn();
    const bool worked = look();
    note_starvation(worked);
    if (woken_by_frames_ && crowding_.is_due(data_path_->now())) leave_crowd(reader);
    if (worked) {
      last_work = data_path_->now();
    } else if (data_path_->now() - last_work < config_.idle_spin && !crowding_.sleeps(data_path_->now())) {
      yield();
    } else if (small_slices_ && data_path_->now() - last_work < kBriefSpin) {
      pause_processor();
    } else {
      sleep();
      starvation_.slept();
      last_work = clock_now();
    }
  }
  mailbox_.run([this] { data_path_->settle(); });
}

void Engine::begin_turn() {
  data_path_->set_now(clock_now());
  heartbeat_.store(static_cast<std::uint64_t>(data_path_->now().time_since_epoch().count()),
                   std::memory_order_relaxed);
}

// Looks once at all sources of work, and does the work. False if there was none.
bool Engine::look() {
  bool worked = doorbells_.show_clocks();
  if (mailbox_.has_tasks()) {
    data_path_->settle();
    data_path_->take_back_frames();
    mailbox_.run([this] { data_path_->settle(); });
    data_path_->ports_changed();
    worked = true;
  }
  worked |= doorbells_.look();
  if (management_ != nullptr && management_->has_to_send(data_path_->now())) worked |= management_->send();
  if (!data_path_->round()) return worked;
  activity_.store(activity_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // one writer
  return true;
}

void Engine::note_starvation(bool worked) {
  const bool before = starvation_.starved();
  starvation_.looked(data_path_->now(), worked);
  if (starvation_.starved() != before) sleeper_.say_starved(!before);
}

// Other processes' packets wake an engine with sockets, and a store a program of the mlx5 face, whose library
// never yields while it polls. Programs of urnic's own face wake an engine by a system call, and yield: for
// them it does not sleep where it is crowded.
void Engine::yield() {
  working_.unlock();
  sched_yield();
  working_.lock();
  if (doorbells_.stores_wake()) {
    crowding_.yielded_to_pollers(data_path_->now(), clock_now());
  } else if (woken_by_frames_) {
    crowding_.yielded(data_path_->now(), clock_now());
  }
}

void Engine::leave_crowd(const ProcessorShareReader& reader) {
  const std::optional<ProcessorShare> share = reader.read();
  if (!share) return;
  const bool chance = (share->ran.count() & 1) != 0;  // nanoseconds
  switch (crowding_.judge(data_path_->now(), *share, chance)) {
    case Crowding::Advice::avoid_this_processor:
      processor_.avoid_this();
      break;
    case Crowding::Advice::avoid_none:
      processor_.avoid_none();
      break;
    case Crowding::Advice::nothing:
      break;
  }
}

// Programs of the mlx5 face poll without yielding: one that has posted would use up its slice before the
// engine, which its store has woken, had a turn.
void Engine::choose_slices() {
  const bool small = doorbells_.stores_wake();
  if (small == small_slices_) return;
  small_slices_ = small;
  ask_for_slices(small ? Slices::small : Slices::ordinary);
}

void Engine::sleep() {
  choose_slices();
  sleeper_.announce();
  data_path_->set_now(clock_now());
  doorbells_.going_to_sleep(data_path_->now());
  if (!look() && !data_path_->busy() && !stopping_.load()) {
    const transport::Time now = data_path_->now();
    const std::optional<transport::Time> deadline = wake_at();
    working_.unlock();
    sleeper_.wait(now, deadline);
    working_.lock();
    data_path_->woken();
  }
  doorbells_.awake(data_path_->now());
  sleeper_.awake();
}

std::optional<transport::Time> Engine::wake_at() const {
  std::optional<transport::Time> earliest = data_path_->wake_at();
  const std::optional<transport::Time> room_at =
      management_ != nullptr ? management_->room_at() : std::nullopt;
  if (room_at && (!earliest || *room_at < *earliest)) earliest = room_at;
  const std::optional<transport::Time> look_again = doorbells_.look_again();
  if (look_again && (!earliest || *look_again < *earliest)) earliest = look_again;
  if (data_path_->has_backlog()) {
    const transport::Time retry = data_path_->now() + kBacklogPeriod;
    if (!earliest || retry < *earliest) earliest = retry;
  }
  // Clears `starved` in time, so that a program that sleeps long is not woken late.
  if (starvation_.starved() && (!earliest || starvation_.until() < *earliest)) earliest = starvation_.until();
  return earliest;
}

}  // namespace urnic::engine
