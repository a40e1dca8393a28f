// Memory that is not simply registered: the null region, memory on demand, device memory, zero-based regions.
#include <sys/mman.h>
#include <sys/shm.h>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "tests/apps/programs/endpoint.hpp"
#include "tests/apps/programs/requests.hpp"

namespace urnic::apps {
namespace {

constexpr std::size_t kLength = 3 * 4096;

struct FreeDm {
  void operator()(ibv_dm* dm) const { ibv_free_dm(dm); }
};
using DmOwner = std::unique_ptr<ibv_dm, FreeDm>;

struct MemoryBench {
  Pair pair;
  Memory left{pair.left_device.pd(), kLength};
  Memory right{pair.right_device.pd(), kLength};

  ibv_wc_status write(ibv_sge from, std::uint64_t to, std::uint32_t rkey) {
    pair.left.post(rdma_request(IBV_WR_RDMA_WRITE, from, to, rkey));
    return pair.left.wait_send().status;
  }
  ibv_wc_status read(ibv_sge to, std::uint64_t from, std::uint32_t rkey) {
    pair.left.post(rdma_request(IBV_WR_RDMA_READ, to, from, rkey));
    return pair.left.wait_send().status;
  }
  // What the left end gets for a send, with the status of the receive that takes it.
  ibv_wc_status send(ibv_sge from, ibv_sge to, ibv_wc_status& received) {
    pair.right.post_receive(1, {to});
    pair.left.post(send_request(from));
    const ibv_wc_status sent = pair.left.wait_send().status;
    received = pair.right.wait_receive().status;
    return sent;
  }
};

// ibv_alloc_null_mr(3)
BOOST_FIXTURE_TEST_CASE(null_region_sends_zeros_and_takes_anything, MemoryBench) {
  const MrOwner left_null(ibv_alloc_null_mr(pair.left_device.pd()));
  const MrOwner right_null(ibv_alloc_null_mr(pair.right_device.pd()));
  BOOST_REQUIRE(left_null != nullptr);
  BOOST_REQUIRE(right_null != nullptr);
  fill(right.bytes(0, kLength), 1);
  ibv_sge zeros{0x1234'5678'9ABC, kLength, left_null->lkey};
  BOOST_REQUIRE_EQUAL(write(zeros, right.address(), right.rkey()), IBV_WC_SUCCESS);
  const auto bytes = right.bytes(0, kLength);
  BOOST_TEST(std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; }));
  // Of a message, the null region takes a part that nobody wants; long ones and ones that fit in a
  // completion.
  for (const std::uint32_t length : {8u, 40u, 5000u}) {
    fill(left.bytes(0, length), 2);
    fill(right.bytes(0, kLength), 3);
    pair.right.post_receive(1, {{0, length / 2, right_null->lkey}, right.segment(100, length)});
    ibv_sge from = left.segment(0, length);
    pair.left.post(send_request(from));
    BOOST_REQUIRE_EQUAL(pair.left.wait_send().status, IBV_WC_SUCCESS);
    BOOST_REQUIRE_EQUAL(pair.right.wait_receive().status, IBV_WC_SUCCESS);
    BOOST_TEST(!difference(right.bytes(100, length - length / 2), 2, length / 2));
    BOOST_TEST(!difference(right.bytes(0, 100), 3));
  }
  ibv_sge sink{0, kLength, left_null->lkey};
  BOOST_REQUIRE_EQUAL(read(sink, right.address(), right.rkey()), IBV_WC_SUCCESS);
  BOOST_REQUIRE_EQUAL(read(left.segment(0, 8), 0, right_null->lkey), IBV_WC_REM_ACCESS_ERR);
}

// A segment of System V, registered. It ends with its last user.
struct SegmentBench : MemoryBench {
  int segment = shmget(IPC_PRIVATE, kLength, IPC_CREAT | 0600);
  std::byte* bytes = static_cast<std::byte*>(shmat(segment, nullptr, 0));

  SegmentBench() {
    shmctl(segment, IPC_RMID, nullptr);
    BOOST_REQUIRE(bytes != reinterpret_cast<void*>(-1));
  }
  ~SegmentBench() { shmdt(bytes); }

  shmatt_t attached() const {
    shmid_ds facts{};
    BOOST_REQUIRE(shmctl(segment, IPC_STAT, &facts) == 0);
    return facts.shm_nattch;
  }
};

BOOST_FIXTURE_TEST_CASE(segment_of_system_v_is_attached_by_the_device_process, SegmentBench) {
  {
    const MrOwner region(ibv_reg_mr(pair.left_device.pd(), bytes, kLength, IBV_ACCESS_LOCAL_WRITE));
    BOOST_REQUIRE(region != nullptr);
    BOOST_TEST(attached() == 2u);
    fill({bytes, kLength}, 5);
    const auto address = reinterpret_cast<std::uint64_t>(bytes);
    BOOST_REQUIRE_EQUAL(write({address, kLength, region->lkey}, right.address(), right.rkey()),
                        IBV_WC_SUCCESS);
    BOOST_TEST(std::memcmp(bytes, right.bytes(0, kLength).data(), kLength) == 0);
    std::memset(bytes, 0, kLength);
    BOOST_REQUIRE_EQUAL(read({address, kLength, region->lkey}, right.address(), right.rkey()),
                        IBV_WC_SUCCESS);
    BOOST_TEST(std::memcmp(bytes, right.bytes(0, kLength).data(), kLength) == 0);
  }
  BOOST_TEST(attached() == 1u);
}

// Pages that are mapped after registration, taken away and mapped again: no other registration is needed.
BOOST_FIXTURE_TEST_CASE(memory_on_demand_follows_its_mappings, MemoryBench) {
  void* const place = mmap(nullptr, kLength, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  BOOST_REQUIRE(munmap(place, kLength) == 0);
  const MrOwner region(ibv_reg_mr(pair.right_device.pd(), place, kLength, kAllAccess | IBV_ACCESS_ON_DEMAND));
  BOOST_REQUIRE(region != nullptr);
  for (std::uint64_t round = 1; round <= 2; ++round) {
    BOOST_REQUIRE(mmap(place, kLength, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                       0) == place);
    fill(left.bytes(0, kLength), round);
    const auto address = reinterpret_cast<std::uintptr_t>(place);
    BOOST_REQUIRE_EQUAL(write(left.segment(0, kLength), address, region->rkey), IBV_WC_SUCCESS);
    BOOST_TEST(!difference({static_cast<std::byte*>(place), kLength}, round));
    BOOST_REQUIRE(munmap(place, kLength) == 0);
  }
}

constexpr int kNotMapped = -1;

struct NoMemory {
  const char* name;
  int protection;
  bool may_be_read;
};
constexpr std::array kNoMemory{NoMemory{"not mapped", kNotMapped, false},
                               NoMemory{"inaccessible", PROT_NONE, false},
                               NoMemory{"read only", PROT_READ, true}};

// Pages that are kept free for it while others map memory, and become what is asked for then.
class BadPages {
 public:
  explicit BadPages(const NoMemory& kind)
      : place_(mmap(nullptr, kLength, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)), kind_(kind) {}
  ~BadPages() {
    if (kind_.protection != kNotMapped) munmap(place_, kLength);
  }
  BadPages(const BadPages&) = delete;
  BadPages& operator=(const BadPages&) = delete;

  void become() const {
    if (kind_.protection == kNotMapped) {
      munmap(place_, kLength);
    } else {
      mprotect(place_, kLength, kind_.protection);
    }
  }
  ibv_sge segment(std::uint32_t lkey) const { return {reinterpret_cast<std::uintptr_t>(place_), 16, lkey}; }
  void* data() const { return place_; }

 private:
  void* place_;
  const NoMemory& kind_;
};

// What is wrong shows when it is used, at the end where it is wrong.
struct BadMemoryBench : MemoryBench {
  MrOwner on_demand(const Device& device, void* place, std::size_t length, int access) {
    MrOwner region(ibv_reg_mr(device.pd(), place, length, access | IBV_ACCESS_ON_DEMAND));
    BOOST_REQUIRE(region != nullptr);
    return region;
  }
};

BOOST_AUTO_TEST_CASE(bad_memory_on_demand_fails_as_the_target_of_a_write) {
  for (const NoMemory& missing : kNoMemory) {
    BOOST_TEST_CONTEXT(missing.name) {
      const BadPages pages(missing);
      BadMemoryBench bench;
      const MrOwner region = bench.on_demand(bench.pair.right_device, pages.data(), kLength, kAllAccess);
      pages.become();
      BOOST_TEST(bench.write(bench.left.segment(0, 16), pages.segment(0).addr, region->rkey) ==
                 IBV_WC_REM_OP_ERR);
      BOOST_TEST(bench.pair.right.state() == IBV_QPS_ERR);
    }
  }
}

// Also where the completion could have carried the bytes.
BOOST_AUTO_TEST_CASE(bad_memory_on_demand_fails_as_the_place_of_a_receive) {
  for (const NoMemory& missing : kNoMemory) {
    BOOST_TEST_CONTEXT(missing.name) {
      const BadPages pages(missing);
      BadMemoryBench bench;
      const MrOwner region =
          bench.on_demand(bench.pair.right_device, nullptr, SIZE_MAX, IBV_ACCESS_LOCAL_WRITE);
      pages.become();
      ibv_wc_status received{};
      BOOST_TEST(bench.send(bench.left.segment(0, 16), pages.segment(region->lkey), received) ==
                 IBV_WC_REM_OP_ERR);
      BOOST_TEST(received == IBV_WC_LOC_PROT_ERR);
    }
  }
}

BOOST_AUTO_TEST_CASE(bad_memory_on_demand_fails_as_the_source_of_a_write) {
  for (const NoMemory& missing : kNoMemory) {
    BOOST_TEST_CONTEXT(missing.name) {
      const BadPages pages(missing);
      BadMemoryBench bench;
      const MrOwner region = bench.on_demand(bench.pair.left_device, pages.data(), kLength, kAllAccess);
      pages.become();
      BOOST_TEST(bench.write(pages.segment(region->lkey), bench.right.address(), bench.right.rkey()) ==
                 (missing.may_be_read ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR));
    }
  }
}

BOOST_FIXTURE_TEST_CASE(whole_address_space_on_demand, MemoryBench) {
  const MrOwner region(
      ibv_reg_mr(pair.right_device.pd(), nullptr, SIZE_MAX, kAllAccess | IBV_ACCESS_ON_DEMAND));
  BOOST_REQUIRE(region != nullptr);
  fill(left.bytes(0, kLength), 4);
  BOOST_REQUIRE_EQUAL(write(left.segment(0, kLength), right.address(), region->rkey), IBV_WC_SUCCESS);
  BOOST_TEST(!difference(right.bytes(0, kLength), 4));
  ibv_sge range{right.address(), kLength, region->lkey};
  BOOST_TEST(ibv_advise_mr(pair.right_device.pd(), IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
                           IBV_ADVISE_MR_FLAG_FLUSH, &range, 1) == 0);
  range.addr = 0;
  BOOST_TEST(ibv_advise_mr(pair.right_device.pd(), IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH,
                           &range, 1) == EFAULT);
}

struct DeviceMemoryBench : MemoryBench {
  ibv_alloc_dm_attr attributes{kLength, 6, 0};
  DmOwner dm{ibv_alloc_dm(pair.right_device.context(), &attributes)};
  MrOwner region{
      ibv_reg_dm_mr(pair.right_device.pd(), dm.get(), 64, kLength - 64, kAllAccess | IBV_ACCESS_ZERO_BASED)};
  std::vector<std::byte> copy = std::vector<std::byte>(kLength);

  std::span<const std::byte> contents() {
    BOOST_REQUIRE(ibv_memcpy_from_dm(copy.data(), dm.get(), 0, kLength) == 0);
    return copy;
  }
};

// ibv_alloc_dm(3)
BOOST_FIXTURE_TEST_CASE(device_memory_is_written_read_and_received_into, DeviceMemoryBench) {
  BOOST_REQUIRE(region != nullptr);
  fill(copy, 5);
  BOOST_REQUIRE(ibv_memcpy_to_dm(dm.get(), 0, copy.data(), kLength) == 0);
  BOOST_REQUIRE_EQUAL(read(left.segment(0, kLength - 64), 0, region->rkey), IBV_WC_SUCCESS);
  BOOST_TEST(!difference(left.bytes(0, kLength - 64), 5, 64));
  fill(left.bytes(0, 5000), 6);
  BOOST_REQUIRE_EQUAL(write(left.segment(0, 5000), 3, region->rkey), IBV_WC_SUCCESS);
  BOOST_TEST(!difference(contents().subspan(67, 5000), 6));
  BOOST_TEST(!difference(contents().subspan(0, 67), 5));
  BOOST_TEST(!difference(contents().subspan(5067), 5, 5067));
  for (const std::uint32_t length : {8u, 4000u}) {
    fill(left.bytes(0, length), 7);
    ibv_wc_status received{};
    BOOST_REQUIRE_EQUAL(send(left.segment(0, length), {0, length, region->lkey}, received), IBV_WC_SUCCESS);
    BOOST_REQUIRE_EQUAL(received, IBV_WC_SUCCESS);
    BOOST_TEST(!difference(contents().subspan(64, length), 7));
  }
  BOOST_TEST(ibv_free_dm(dm.get()) == EBUSY);
  BOOST_REQUIRE_EQUAL(write(left.segment(0, 1), kLength - 64, region->rkey), IBV_WC_REM_ACCESS_ERR);
}

BOOST_FIXTURE_TEST_CASE(atomics_on_device_memory, DeviceMemoryBench) {
  BOOST_REQUIRE(region != nullptr);
  for (std::uint64_t expected = 0; expected < 10; ++expected) {
    ibv_sge segment = left.segment(0, 8);
    pair.left.post(fetch_add_request(segment, 16, region->rkey));
    BOOST_REQUIRE_EQUAL(pair.left.wait_send().status, IBV_WC_SUCCESS);
    std::uint64_t original = 0, value = 0;
    std::memcpy(&original, left.data(), sizeof original);
    std::memcpy(&value, contents().data() + 80, sizeof value);
    BOOST_TEST(original == expected);
    BOOST_TEST(value == expected + 1);
  }
}

BOOST_FIXTURE_TEST_CASE(zero_based_region_counts_from_its_beginning, MemoryBench) {
  const MrOwner region(ibv_reg_mr(pair.right_device.pd(), right.data() + 100, 1000,
                                  kAllAccess | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_RELAXED_ORDERING));
  BOOST_REQUIRE(region != nullptr);
  fill(left.bytes(0, 900), 8);
  fill(right.bytes(0, kLength), 9);
  BOOST_REQUIRE_EQUAL(write(left.segment(0, 900), 50, region->rkey), IBV_WC_SUCCESS);
  BOOST_TEST(!difference(right.bytes(150, 900), 8));
  BOOST_TEST(!difference(right.bytes(0, 150), 9));
  for (const std::uint32_t length : {8u, 500u}) {
    ibv_wc_status received{};
    BOOST_REQUIRE_EQUAL(send(left.segment(0, length), {500, length, region->lkey}, received), IBV_WC_SUCCESS);
    BOOST_TEST(!difference(right.bytes(600, length), 8));
  }
  BOOST_REQUIRE_EQUAL(write(left.segment(0, 2), 999, region->rkey), IBV_WC_REM_ACCESS_ERR);
}

}  // namespace
}  // namespace urnic::apps
