// A run directory as a device process would keep it, with as little in it as the stand-in's tests need.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace urnic::kernel::test {

// The handle that the fake device process puts into every completion channel it is told of, and into the pipe
// that it gives to who asks for asynchronous events.
inline constexpr std::uint64_t kEventHandle = 0x1122334455667788;

// uverbs0 (231:192, urnic0) answers; uverbs1 (231:193, urnic1) is what a killed device process leaves behind:
// a socket on which nobody listens. urnic0 is a folder of the class, urnic1 a link to
// /sys/devices/virtual/infiniband, as Linux has it for software devices.
class FakeRunDirectory {
 public:
  // `through_link`: path() leads there by way of a symbolic link (above the directory that it lies in).
  explicit FakeRunDirectory(bool through_link = false);
  ~FakeRunDirectory();
  FakeRunDirectory(const FakeRunDirectory&) = delete;
  FakeRunDirectory& operator=(const FakeRunDirectory&) = delete;

  const std::string& path() const { return path_; }

  // Messages that were add_completion_channel to the letter, with two pipe ends, or async_channel; and all
  // others. Of async_channel every second one is refused for want of descriptors.
  int good_messages() const { return good_messages_; }
  int other_messages() const { return other_messages_; }

 private:
  void make_sysfs() const;
  void make_nodes();
  void serve();
  bool take_message(int connection);
  void answer_async_channel(int connection);

  std::string home_;
  std::string path_;
  int listener_ = -1;
  int stop_ = -1;
  std::atomic<int> good_messages_{0};
  std::atomic<int> other_messages_{0};
  int async_channels_ = 0;  // asked for
  std::thread server_;
};

}  // namespace urnic::kernel::test
