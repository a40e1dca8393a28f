#include "tools/urnic/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <string_view>
#include <utility>

namespace urnic::cli {
namespace {

using namespace std::chrono_literals;

// What takes no longer needs no word.
constexpr auto kPatience = 2s;
constexpr auto kInterval = 1s;

std::atomic<bool> is_line_taken = false;

// A longer line would not go away as a whole.
std::size_t most_columns() {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return (known ? size.ws_col : kUsual) - 1;
}

// A terminal that is gone is nothing to complain about.
void write_to_terminal(std::string_view text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

Progress::Progress(std::string what) : what_(std::move(what)) {
  if (isatty(STDERR_FILENO) != 0 && !is_line_taken.exchange(true))
    thread_ = std::thread([this] { show_while_working(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  ends_.notify_one();
  thread_.join();
  is_line_taken = false;
}

void Progress::reach(std::uint64_t done, std::uint64_t whole) {
  done_.store(done, std::memory_order_relaxed);
  whole_.store(whole, std::memory_order_relaxed);
}

void Progress::hide() {
  const std::lock_guard lock(mutex_);
  erase();
}

void Progress::show_while_working() {
  std::unique_lock lock(mutex_);
  auto next = std::chrono::steady_clock::now() + kPatience;
  seconds_ = static_cast<int>(kPatience.count());
  while (!ends_.wait_until(lock, next, [this] { return is_over_; })) {
    draw();
    next += kInterval;
    seconds_ += static_cast<int>(kInterval.count());
  }
  erase();
}

void Progress::draw() {
  const std::uint64_t whole = whole_.load(std::memory_order_relaxed);
  const std::uint64_t done = done_.load(std::memory_order_relaxed);
  const std::string how_far = whole == 0
                                  ? fmt::format("{} s", seconds_)
                                  : fmt::format("{} %", static_cast<int>(100.0 * static_cast<double>(done) /
                                                                         static_cast<double>(whole)));
  std::string line = fmt::format("urnic: {}", what_);
  // How far it is must be seen; of a long name its beginning may do.
  const std::size_t columns = most_columns();
  const std::size_t left = columns > how_far.size() + 2 ? columns - how_far.size() - 2 : 0;
  if (line.size() > left) line.resize(left);
  write_to_terminal(fmt::format("\r{}: {}\x1b[K", line, how_far));
  is_shown_ = true;
}

void Progress::erase() {
  if (is_shown_) write_to_terminal("\r\x1b[K");
  is_shown_ = false;
}

}  // namespace urnic::cli
