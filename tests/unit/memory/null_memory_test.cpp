#include "device_model/memory/null_memory.hpp"

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>

namespace urnic::memory::test {

BOOST_AUTO_TEST_SUITE(null_memory)

// ibv_alloc_null_mr(3)
BOOST_AUTO_TEST_CASE(reads_zeros_everywhere_and_forgets_what_is_written) {
  NullMemory memory;
  for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{4097}, ~std::uint64_t{0}}) {
    std::array<std::byte, 100> here{};
    here.fill(std::byte{0x77});
    std::array<Transfer, 2> batch{Transfer{address, here, true},
                                  Transfer{address, std::span(here).first(0), true}};
    memory.write(batch);
    BOOST_TEST((!batch[0].failed && !batch[1].failed));
    batch[0].failed = batch[1].failed = true;
    memory.read(batch);
    BOOST_TEST((!batch[0].failed && !batch[1].failed));
    BOOST_TEST(std::all_of(here.begin(), here.end(), [](std::byte byte) { return byte == std::byte{0}; }));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::memory::test
