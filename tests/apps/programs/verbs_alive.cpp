// A fresh pair of queue pairs moves data: a SEND, an RDMA WRITE and an RDMA READ, every byte checked. For use
// behind whatever may have stopped a device: one that is stuck never completes them, and the program fails.
#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <chrono>

#include "tests/apps/programs/transfer.hpp"

namespace urnic::apps {
namespace {

constexpr std::size_t kLength = 100'000;

BOOST_AUTO_TEST_CASE(a_fresh_pair_moves_data) {
  Pair pair;
  TransferBench bench(pair, kLength + 64);
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t seed = 0;
  for (const Operation operation : {Operation::send, Operation::write, Operation::read}) {
    bench.run({operation, kLength, 1, 3, 1, 1, false, ++seed});
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  fmt::print("data moved in {:.6f} seconds\n", taken.count());
}

}  // namespace
}  // namespace urnic::apps
