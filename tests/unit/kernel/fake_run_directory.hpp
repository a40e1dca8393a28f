// A run directory like a device process's, with only what the stand-in's tests need.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace urnic::kernel::test {

// The handle that the fake device process writes into every completion channel that it gets, and into every
// pipe of asynchronous events that it gives.
inline constexpr std::uint64_t kEventHandle = 0x1122334455667788;

// uverbs0 (231:192, urnic0) answers. uverbs1 (231:193, urnic1) is a socket on which no process listens, as a
// killed device process leaves it. netlink.sock answers each datagram with one that refuses its first message
// (EOPNOTSUPP), so that libibverbs goes on to sysfs. In the class, urnic0 is a folder and urnic1 a link into
// /sys/devices/virtual/infiniband, as in Linux for software devices.
class FakeRunDirectory {
 public:
  // `through_link`: path() contains a symbolic link, above the directory in which the run directory lies.
  explicit FakeRunDirectory(bool through_link = false);
  ~FakeRunDirectory();
  FakeRunDirectory(const FakeRunDirectory&) = delete;
  FakeRunDirectory& operator=(const FakeRunDirectory&) = delete;

  const std::string& path() const { return path_; }

  // The number of correct messages (add_completion_channel with two pipe ends, or async_channel), and of all
  // others. Every second async_channel is refused with EMFILE.
  int good_messages() const { return good_messages_; }
  int other_messages() const { return other_messages_; }

 private:
  void make_sysfs() const;
  void make_pci_bus() const;
  void make_nodes();
  void serve();
  bool take_message(int connection);
  bool refuse_netlink(int connection);
  void answer_async_channel(int connection);

  std::string home_;
  std::string path_;
  int listener_ = -1;
  int netlink_listener_ = -1;
  std::vector<int> netlink_connections_;
  int stop_ = -1;
  std::atomic<int> good_messages_{0};
  std::atomic<int> other_messages_{0};
  int async_channels_ = 0;  // requests
  std::thread server_;
};

}  // namespace urnic::kernel::test
