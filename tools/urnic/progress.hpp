// Tells a person that a command still works: after two seconds a line on standard error says what it is doing
// and how far it is, if that is a terminal. The line goes when the work is done, so scripts and logs never
// see it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace urnic::cli {

// While it exists, the work goes on. There is one line: inside of another one, it says nothing. A thread of
// its own writes the line, so the work may wait; signals should be blocked before, so that they do not come
// to that thread (SignalDescriptor).
class Progress {
 public:
  // `what`: "reading lossy.pcapng".
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // So much of `whole` is done, in any unit; the line has the percentage. Without such a call it has the
  // seconds.
  void reach(std::uint64_t done, std::uint64_t whole);
  // Takes the line away for now: something else is about to be written to the terminal.
  void hide();

 private:
  void show_while_working();
  void draw();
  void erase();

  std::mutex mutex_;
  std::condition_variable ends_;
  const std::string what_;
  bool is_over_ = false;
  bool is_shown_ = false;
  int seconds_ = 0;  // since the beginning, as the line has them
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<std::uint64_t> whole_ = 0;
  std::thread thread_;  // only of one that has the line
};

}  // namespace urnic::cli
