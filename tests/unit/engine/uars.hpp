// UAR pages that a test's programs and the engine have mapped.
#pragma once

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <memory>
#include <vector>

#include "device_model/engine/doorbells/uar_pages.hpp"
#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {

inline constexpr std::uint32_t kUarPages = 2;
inline constexpr std::size_t kUarBytes = kUarPages * UarPages::kPageBytes;

// A mapping of the pages; the device's and the program's are two.
class Mapped {
 public:
  explicit Mapped(int file)
      : at_(static_cast<std::byte*>(mmap(nullptr, kUarBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0))) {
    BOOST_REQUIRE(at_ != MAP_FAILED);
  }
  ~Mapped() { munmap(at_, kUarBytes); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  std::byte* data() const { return at_; }

 private:
  std::byte* at_;
};

inline memory::Descriptor make_uar_file() {
  memory::Descriptor file(memfd_create("uar", MFD_CLOEXEC));
  BOOST_REQUIRE(ftruncate(file.get(), kUarBytes) == 0);
  return file;
}

inline memory::Descriptor open_userfaultfd() {
  memory::Descriptor faults(
      static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY)));
  if (!faults) return faults;
  uffdio_api api{};
  api.api = UFFD_API;
  if (ioctl(faults.get(), UFFDIO_API, &api) != 0) return {};
  return faults;
}

inline boost::test_tools::assertion_result may_watch(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result allowed(static_cast<bool>(open_userfaultfd()));
  allowed.message() << "userfaultfd(2) is refused here: a program's stores cannot wake the engine";
  return allowed;
}

// Two connected QPs of one program each; the first posts without the bitmap, as on the mlx5 face.
struct Uars {
  explicit Uars(std::uint32_t queue_pairs = 1) {
    for (std::uint32_t i = 0; i < queue_pairs; ++i) {
      senders.push_back(std::make_unique<TestQp>(fabric.program0, i, QpLayout{}));
      receivers.push_back(std::make_unique<TestQp>(fabric.program1, i, QpLayout{}));
      Fabric::connect(*senders[i], *receivers[i]);
    }
    fabric.engine.execute([this] {
      fabric.engine.add_uar_pages(pages);
      for (std::uint32_t page = 0; page < kUarPages; ++page) pages.hold(page, program);
    });
  }
  ~Uars() {
    fabric.engine.execute([this] { fabric.engine.remove_uar_pages(pages); });
  }

  void watch() { watch(programs, program); }
  void watch(const Mapped& mapped, PageHolder holder) {
    for (std::uint32_t page = 0; page < kUarPages; ++page) {
      memory::Descriptor faults = open_userfaultfd();
      const auto at = reinterpret_cast<std::uintptr_t>(mapped.data() + page * UarPages::kPageBytes);
      uffdio_register range{};
      range.range = {.start = at, .len = UarPages::kPageBytes};
      range.mode = UFFDIO_REGISTER_MODE_MISSING;
      BOOST_REQUIRE(ioctl(faults.get(), UFFDIO_REGISTER, &range) == 0);
      fabric.engine.execute([&] { fabric.engine.watch_uar_page(pages, page, holder, faults, at); });
    }
  }

  // Posts a WRITE of `value` to the beginning of the other program's memory, without a doorbell.
  void post(std::uint32_t sender, std::uint64_t value) {
    abi::SendWqe head = wqe(abi::SendOpcode::rdma_write);
    head.flags |= abi::send_inline;
    head.inline_length = sizeof value;
    head.remote_address = fabric.program1.address(sender * sizeof value);
    head.rkey = fabric.program1.key.value;
    TestQp& qp = *senders[sender];
    qp.write_send(head, std::as_bytes(std::span(&value, 1)));
    qp.indices.send_producer.store(qp.send_producer, std::memory_order_release);
  }
  void store(UarRegister in, std::uint64_t word, bool second_half = false) {
    store(programs, in, word, second_half);
  }
  static void store(const Mapped& mapped, UarRegister in, std::uint64_t word, bool second_half = false) {
    std::byte* const at = mapped.data() + in.value / UarPages::kRegistersPerPage * UarPages::kPageBytes +
                          UarPages::kFirstRegister +
                          in.value % UarPages::kRegistersPerPage * UarPages::kRegisterBytes +
                          (second_half ? UarPages::kRegisterBytes / 2 : 0);
    reinterpret_cast<std::atomic<std::uint64_t>*>(at)->store(word, std::memory_order_release);
  }
  void request(std::uint32_t page) {
    std::byte* const at = programs.data() + page * UarPages::kPageBytes + UarPages::kArmRegister;
    reinterpret_cast<std::atomic<std::uint64_t>*>(at)->store(1);
  }
  std::uint64_t arrived(std::uint32_t receiver) const {
    std::uint64_t value = 0;
    std::memcpy(&value, fabric.program1.bytes.data() + receiver * sizeof value, sizeof value);
    return value;
  }
  void attach(UarRegister on, std::uint32_t sender) {
    fabric.engine.execute([&] { pages.attach(on, senders[sender]->device_end()); });
  }
  void detach(UarRegister on, std::uint32_t sender) {
    fabric.engine.execute([&] { pages.detach(on, senders[sender]->device_end()); });
  }

  const PageHolder program{this};
  Fabric fabric;
  memory::Descriptor file = make_uar_file();
  Mapped devices{file.get()};
  Mapped programs{file.get()};
  UarPages pages{devices.data(), kUarPages, file.get(), fabric.engine.data_path()};
  std::vector<std::unique_ptr<TestQp>> senders;
  std::vector<std::unique_ptr<TestQp>> receivers;
};

}  // namespace urnic::engine::test
