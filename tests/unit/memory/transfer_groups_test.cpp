// Groups alone: sizes that no test has the memory for, and a played kernel.
#include "device_model/memory/transfer_groups.hpp"

#include <boost/test/unit_test.hpp>
#include <functional>
#include <vector>

namespace urnic::memory::test {

namespace {

// Bytes that are never touched.
std::span<std::byte> fictitious(std::size_t size) {
  return {reinterpret_cast<std::byte*>(std::uintptr_t{0x1000}), size};
}

struct Piece {
  std::uint64_t address;
  std::size_t size;
  friend bool operator==(const Piece&, const Piece&) = default;
};

// Moves everything but pieces that begin at a bad address; notes the calls.
struct PlayedKernel {
  std::vector<std::uint64_t> bad;
  std::vector<std::vector<Piece>> calls;
  int first_error = EFAULT;

  ssize_t operator()(const TransferGroup& group, std::size_t k) {
    calls.emplace_back();
    std::size_t moved = 0;
    for (; k < group.count; ++k) {
      const Piece piece{reinterpret_cast<std::uintptr_t>(group.remote[k].iov_base), group.local[k].iov_len};
      calls.back().push_back(piece);
      for (const std::uint64_t address : bad) {
        if (address != piece.address) continue;
        errno = first_error;
        return calls.back().size() == 1 ? -1 : static_cast<ssize_t>(moved);
      }
      moved += piece.size;
    }
    return static_cast<ssize_t>(moved);
  }
};

constexpr std::size_t kGiB = std::size_t{1} << 30;

}  // namespace

BOOST_AUTO_TEST_SUITE(transfer_groups)

BOOST_AUTO_TEST_CASE(a_transfer_larger_than_a_group_goes_in_pieces) {
  std::vector<Transfer> batch = {{0x10000, fictitious(100)}, {0x200000, fictitious(2 * kGiB + 5)}};
  PlayedKernel kernel;
  run_batch(batch, Adjacency::any, std::ref(kernel));
  BOOST_REQUIRE_EQUAL(kernel.calls.size(), 3);
  BOOST_TEST((kernel.calls[0] == std::vector<Piece>{{0x10000, 100}, {0x200000, kGiB - 100}}));
  BOOST_TEST((kernel.calls[1] == std::vector<Piece>{{0x200000 + kGiB - 100, kGiB}}));
  BOOST_TEST((kernel.calls[2] == std::vector<Piece>{{0x200000 + 2 * kGiB - 100, 105}}));
  BOOST_TEST(!batch[1].failed);
}

BOOST_AUTO_TEST_CASE(the_rest_of_a_large_transfer_that_failed_is_not_tried) {
  std::vector<Transfer> batch = {{0x200000, fictitious(2 * kGiB)}, {0x10000, fictitious(1)}};
  PlayedKernel kernel;
  kernel.bad = {0x200000};
  run_batch(batch, Adjacency::any, std::ref(kernel));
  BOOST_TEST(batch[0].failed);
  BOOST_TEST(!batch[1].failed);
  BOOST_REQUIRE_EQUAL(kernel.calls.size(), 2);
  BOOST_TEST((kernel.calls[1] == std::vector<Piece>{{0x10000, 1}}));
}

BOOST_AUTO_TEST_CASE(contiguous_groups_end_at_a_gap) {
  std::vector<Transfer> batch = {
      {0x1000, fictitious(16)}, {0x1010, fictitious(16)}, {0x1021, fictitious(16)}, {0x1031, fictitious(1)}};
  PlayedKernel kernel;
  run_batch(batch, Adjacency::contiguous_addresses, std::ref(kernel));
  BOOST_REQUIRE_EQUAL(kernel.calls.size(), 2);
  BOOST_TEST((kernel.calls[0] == std::vector<Piece>{{0x1000, 16}, {0x1010, 16}}));
  BOOST_TEST((kernel.calls[1] == std::vector<Piece>{{0x1021, 16}, {0x1031, 1}}));
}

BOOST_AUTO_TEST_CASE(pieces_that_follow_each_other_there_are_one) {
  std::vector<Transfer> batch = {{0x1000, fictitious(16)},
                                 {0x1010, fictitious(8)},
                                 {0x1018, fictitious(8)},
                                 {0x1021, fictitious(4)},
                                 {0x1025, fictitious(4)}};
  TransferGroup group;
  BatchPosition position;
  fill_group(batch, Adjacency::any, position, group);
  const auto joined = [&](std::size_t from) {
    const JoinedPieces pieces(group, from);
    std::vector<Piece> found;
    for (std::size_t i = 0; i < pieces.count; ++i)
      found.push_back(
          {reinterpret_cast<std::uintptr_t>(pieces.pieces[i].iov_base), pieces.pieces[i].iov_len});
    return found;
  };
  BOOST_TEST((joined(0) == std::vector<Piece>{{0x1000, 32}, {0x1021, 8}}));
  BOOST_TEST((joined(2) == std::vector<Piece>{{0x1018, 8}, {0x1021, 8}}));
  BOOST_TEST((joined(4) == std::vector<Piece>{{0x1025, 4}}));
}

BOOST_AUTO_TEST_CASE(a_call_goes_on_behind_the_piece_that_failed) {
  std::vector<Transfer> batch;
  for (std::uint64_t i = 0; i < 5; ++i) batch.push_back({0x1000 * (i + 1), fictitious(8)});
  PlayedKernel kernel;
  kernel.bad = {0x1000, 0x4000};
  run_batch(batch, Adjacency::any, std::ref(kernel));
  const bool expected[] = {true, false, false, true, false};
  for (std::size_t i = 0; i < 5; ++i) BOOST_TEST(batch[i].failed == expected[i]);
  // Five pieces; then those behind the first; then those behind the fourth.
  BOOST_TEST(kernel.calls.size() == 3);
}

BOOST_AUTO_TEST_CASE(a_lost_process_is_not_asked_again) {
  for (const int error : {ESRCH, EPERM, ENOSYS}) {
    std::vector<Transfer> batch(3000, Transfer{0x1000, fictitious(8)});
    PlayedKernel kernel;
    kernel.bad = {0x1000};
    kernel.first_error = error;
    run_batch(batch, Adjacency::any, std::ref(kernel));
    BOOST_TEST(kernel.calls.size() == 1);
    for (const Transfer& transfer : batch) BOOST_REQUIRE(transfer.failed);
  }
}

BOOST_AUTO_TEST_CASE(marks_of_an_earlier_use_are_cleared) {
  std::vector<Transfer> batch = {{0x1000, fictitious(8), true}, {0x2000, fictitious(0), true}};
  PlayedKernel kernel;
  run_batch(batch, Adjacency::any, std::ref(kernel));
  BOOST_TEST(!batch[0].failed);
  BOOST_TEST(!batch[1].failed);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::memory::test
