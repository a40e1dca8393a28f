#include "device_model/in_process/in_process_memory.hpp"

#include <boost/test/unit_test.hpp>
#include <cstring>

namespace urnic::memory::test {

namespace {

std::uint64_t address_of(const void* bytes) { return reinterpret_cast<std::uintptr_t>(bytes); }

}  // namespace

BOOST_AUTO_TEST_SUITE(in_process)

BOOST_AUTO_TEST_CASE(reaches_registered_ranges_and_nothing_else) {
  std::byte bytes[64] = {};
  std::byte here[16] = {};
  InProcessMemory memory;
  memory.add_range(std::span(bytes).subspan(8, 32));
  std::memset(bytes, 0x11, sizeof bytes);
  std::memset(here, 0x22, sizeof here);

  Transfer batch[] = {{address_of(bytes + 8), std::span(here).first(1)},   // first byte
                      {address_of(bytes + 39), std::span(here).first(1)},  // last byte
                      {address_of(bytes + 7), std::span(here).first(1)},   // one byte before
                      {address_of(bytes + 40), std::span(here).first(1)},  // one byte behind
                      {address_of(bytes + 39), std::span(here).first(2)},  // beyond the end
                      {~std::uint64_t{0}, std::span(here).first(2)},       // wraps
                      {12345, std::span(here).first(0)}};                  // no bytes
  const bool expected[] = {false, false, true, true, true, true, false};
  memory.write(batch);
  for (std::size_t i = 0; i < std::size(batch); ++i) BOOST_TEST(batch[i].failed == expected[i]);
  for (std::size_t i = 0; i < std::size(bytes); ++i)
    BOOST_TEST(std::to_integer<int>(bytes[i]) == (i == 8 || i == 39 ? 0x22 : 0x11));
  memory.read(batch);
  for (std::size_t i = 0; i < std::size(batch); ++i) BOOST_TEST(batch[i].failed == expected[i]);
}

BOOST_AUTO_TEST_CASE(read_only_ranges_are_not_written) {
  std::byte bytes[8] = {};
  std::byte value{1};
  InProcessMemory memory;
  memory.add_range(bytes, true);
  Transfer batch[] = {{address_of(bytes), {&value, 1}}};
  memory.write(batch);
  BOOST_TEST(batch[0].failed);
  BOOST_TEST((bytes[0] == std::byte{0}));
  memory.read(batch);
  BOOST_TEST(!batch[0].failed);
  BOOST_TEST((value == std::byte{0}));
}

BOOST_AUTO_TEST_CASE(removed_ranges_are_out_of_reach) {
  std::byte bytes[8] = {};
  std::byte value{1};
  InProcessMemory memory;
  memory.add_range(bytes);
  memory.remove_range(bytes);
  Transfer batch[] = {{address_of(bytes), {&value, 1}}};
  memory.write(batch);
  BOOST_TEST(batch[0].failed);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::memory::test
