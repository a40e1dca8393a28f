// Receive WQEs as libmlx5 writes them, in queues of their own and in shared ones.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "device_model/engine/mlx5_rings/receive_ring.hpp"
#include "device_model/engine/mlx5_rings/shared_receive_ring.hpp"
#include "tests/unit/mlx5_rings/work_end.hpp"

namespace urnic::engine::mlx5::test {
namespace {

using transport::ReceiveRequest;
using Look = PostedSharedReceives::Look;

struct Ends {
  explicit Ends(std::uint32_t slots = 8, std::uint32_t stride = 64)
      : program(slots, stride),
        device({.ring = program.ring.data(),
                .slots = slots,
                .stride = stride,
                .producer = &program.doorbells.receive}) {}
  ReceiveRequest take() {
    ReceiveRequest request;
    BOOST_REQUIRE(device.next(request));
    return request;
  }

  ReceiveEnd program;
  ReceiveRing device;
};

struct SharedEnds {
  explicit SharedEnds(std::uint32_t slots = 8, std::uint32_t stride = 64)
      : program(slots, stride),
        device({.slots = program.ring.data(),
                .slot_count = slots,
                .stride = stride,
                .producer = &program.record}) {}

  SharedReceiveEnd program;
  SharedReceiveRing device;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(receive_ring)

BOOST_AUTO_TEST_CASE(lists_of_every_length) {
  for (const std::uint32_t stride : {16u, 32u, 64u, 256u}) {
    for (std::uint32_t count = 0; count <= stride / 16; ++count) {
      BOOST_TEST_INFO_SCOPE("stride " << stride << ", " << count << " segments");
      Ends ends(8, stride);
      Bytes list;
      for (std::uint32_t i = 0; i < count; ++i) list += data(10 + i, 0x200 + i, 0x1000000000 + i);
      ends.program.post(list);
      const ReceiveRequest request = ends.take();
      BOOST_TEST(request.index == 0u);
      BOOST_TEST(!request.malformed);
      BOOST_REQUIRE(request.sges.size() == count);
      std::uint64_t length = 0;
      for (std::uint32_t i = 0; i < count; ++i) {
        BOOST_TEST(request.sges[i].length == 10 + i);
        BOOST_TEST(request.sges[i].lkey.value == 0x200 + i);
        BOOST_TEST(request.sges[i].address == 0x1000000000 + i);
        length += 10 + i;
      }
      BOOST_TEST(request.length == length);
    }
  }
}

// libmlx5 posts segments without bytes to shared queues, and not to others.
BOOST_AUTO_TEST_CASE(a_segment_without_bytes_is_not_the_end) {
  Ends ends;
  ends.program.post(data(0, 5, 6) + data(7, 8, 9));
  const ReceiveRequest request = ends.take();
  BOOST_TEST(request.sges.size() == 2u);
  BOOST_TEST(request.length == 7u);
}

BOOST_AUTO_TEST_CASE(a_region_may_have_the_key_that_ends_lists) {
  Ends ends;
  ends.program.post(data(5, 0x100, 6) + data(7, 8, 9));
  const ReceiveRequest request = ends.take();
  BOOST_TEST(request.sges.size() == 2u);
  BOOST_TEST(request.length == 12u);
}

BOOST_AUTO_TEST_CASE(over_several_laps_of_sixteen_bits) {
  Ends ends;
  for (std::uint32_t i = 0; i < 2 * 65536 + 5; ++i) {
    ends.program.post(data(i, 1, 2));
    if (i % 8 != 7 && i % 3 != 0) continue;
    ReceiveRequest request;
    while (ends.device.next(request)) {
      BOOST_REQUIRE(request.length == request.index);
      ends.device.retire(request.index);
    }
  }
  BOOST_TEST(!ends.device.lied());
  BOOST_TEST(ends.device.available() == 0u);
}

BOOST_AUTO_TEST_CASE(available_counts_what_is_not_taken) {
  Ends ends;
  BOOST_TEST(ends.device.available() == 0u);
  for (int i = 0; i < 5; ++i) ends.program.post(data(1, 2, 3));
  BOOST_TEST(ends.device.available() == 5u);
  ends.take();
  BOOST_TEST(ends.device.available() == 4u);
  const QueuedReceives queued = ends.device.queued();
  BOOST_TEST(queued.indices.producer == 5u);
  BOOST_TEST(queued.indices.taken == 1u);
  BOOST_REQUIRE(queued.wqes.size() == 5u);
  BOOST_TEST(queued.wqes[4].index == 4u);
  BOOST_TEST(queued.wqes[4].length == 1u);
  BOOST_TEST(queued.wqes[4].segments == 1u);
}

BOOST_AUTO_TEST_CASE(an_impossible_producer_index_ends_the_queue) {
  const struct {
    std::uint32_t taken, retired, producer;
    bool lied;
  } cases[] = {{0, 0, 8, false}, {0, 0, 9, true}, {0, 0, 0xFFFF, true}, {4, 2, 10, false},
               {4, 2, 11, true}, {4, 2, 3, true}, {4, 4, 3, true},      {4, 4, 12, false}};
  for (const auto& c : cases) {
    BOOST_TEST_INFO_SCOPE(c.taken << ", " << c.retired << ", " << c.producer);
    Ends ends;
    for (std::uint32_t i = 0; i < c.taken; ++i) ends.program.post(data(1, 2, 3));
    for (std::uint32_t i = 0; i < c.taken; ++i) ends.take();
    if (c.retired != 0) ends.device.retire(c.retired - 1);
    ends.program.doorbells.receive.store(c.producer, std::memory_order_relaxed);
    ends.device.available();
    BOOST_TEST(ends.device.lied() == c.lied);
    ReceiveRequest request;
    if (c.lied) BOOST_TEST(!ends.device.next(request));
    ends.device.queued();
  }
}

BOOST_AUTO_TEST_CASE(a_reset_queue_begins_anew_and_clears_the_record) {
  Ends ends;
  for (int i = 0; i < 3; ++i) ends.program.post(data(1, 2, 3));
  ends.take();
  ends.device.reset();
  BOOST_TEST(ends.device.available() == 0u);
  BOOST_TEST(!ends.device.lied());
}

BOOST_AUTO_TEST_CASE(a_queue_without_slots_has_nothing) {
  ReceiveRing none(ReceiveRingConfig{});
  ReceiveRequest request;
  BOOST_TEST(!none.next(request));
  BOOST_TEST(none.available() == 0u);
  BOOST_TEST(none.queued().wqes.empty());
  none.reset();
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(shared_receive_ring)

BOOST_AUTO_TEST_CASE(slots_come_in_the_order_of_posting) {
  SharedEnds ends;
  std::uint32_t slot = 0;
  BOOST_TEST((ends.device.next(slot) == Look::empty));
  std::vector<std::uint32_t> posted;
  std::vector<std::uint32_t> taken;
  std::uint32_t number = 0;
  // Slots are given back in another order than they were taken.
  for (int turn = 0; turn < 40000; ++turn) {
    for (int i = 0; i < 4; ++i) posted.push_back(ends.program.post(data(++number, 1, 2)));
    for (std::uint32_t expected : posted) {
      BOOST_REQUIRE((ends.device.next(slot) == Look::found));
      BOOST_REQUIRE(slot == expected);
      ReceiveRequest request;
      ends.device.read(slot, request);
      BOOST_REQUIRE(request.length == number - posted.size() + 1 + taken.size());
      taken.push_back(slot);
    }
    posted.clear();
    for (std::size_t i : {2, 0, 3, 1}) ends.program.free(taken[i]);
    taken.clear();
  }
  BOOST_TEST((ends.device.next(slot) == Look::empty));
}

BOOST_AUTO_TEST_CASE(lists_of_every_length_behind_the_head) {
  for (std::uint32_t count = 0; count <= 3; ++count) {
    SharedEnds ends;
    Bytes list;
    for (std::uint32_t i = 0; i < count; ++i) list += data(5, i, 7);
    ends.program.post(list);
    std::uint32_t slot = 9;
    BOOST_TEST((ends.device.next(slot) == Look::found));
    ReceiveRequest request;
    ends.device.read(slot, request);
    BOOST_TEST(request.sges.size() == count);
    BOOST_TEST(request.length == 5 * count);
  }
}

BOOST_AUTO_TEST_CASE(count_says_what_is_posted) {
  SharedEnds ends;
  std::uint32_t posted = 9;
  BOOST_TEST((ends.device.count(posted) == Look::empty));
  BOOST_TEST(posted == 0u);
  for (int i = 0; i < 5; ++i) ends.program.post(data(1, 2, 3));
  std::uint32_t slot = 0;
  ends.device.next(slot);
  BOOST_TEST((ends.device.count(posted) == Look::found));
  BOOST_TEST(posted == 4u);
}

BOOST_AUTO_TEST_CASE(hostile_lists_do_no_harm) {
  for (const std::uint32_t next : {0u, 1u, 7u, 8u, 0xFFFFu}) {
    SharedEnds ends;
    for (std::uint32_t i = 0; i < 8; ++i) ends.program.link(i, next);
    ends.program.publish(8);
    for (int i = 0; i < 8; ++i) {
      std::uint32_t slot = 99;
      BOOST_TEST((ends.device.next(slot) == Look::found));
      BOOST_TEST(slot == (i == 0 ? 0 : next));
    }
    std::uint32_t slot = 0;
    BOOST_TEST((ends.device.next(slot) == Look::empty));
  }
}

BOOST_AUTO_TEST_CASE(an_impossible_producer_index_is_a_lie) {
  for (const std::uint16_t posted : std::initializer_list<std::uint16_t>{9, 0x8000, 0xFFFF}) {
    SharedEnds ends;
    ends.program.publish(posted);
    std::uint32_t number = 0;
    BOOST_TEST((ends.device.next(number) == Look::lied));
    BOOST_TEST((ends.device.count(number) == Look::lied));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::mlx5::test
