// What a QP leaves in its device's memory table when it goes.
#include <boost/test/unit_test.hpp>
#include <optional>

#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {

BOOST_FIXTURE_TEST_SUITE(window_release, Fabric)

// Its number comes back some day, for a QP that nobody gave the window to.
BOOST_AUTO_TEST_CASE(type_2_windows_end_with_the_queue_pair_that_bound_them) {
  memory::MemoryTable& table = device0.memory_table();
  memory::RegionSpec spec{
      &program0.memory,    program0.pd, program0.address(0),
      program0.address(0), 4096,        memory::access_local_write | memory::access_window_bind};
  const transport::Lkey region = table.add_region(spec).value();
  const wire::Rkey window = table.add_window(program0.pd, 2).value();
  std::optional<TestQp> queue_pair(std::in_place, program0, 5, QpLayout{});
  const wire::Qpn qpn = queue_pair->qpn();
  const transport::WindowBinding binding{
      window, window, region, program0.address(0), 16, memory::access_remote_read};
  BOOST_REQUIRE((table.bind(binding, program0.pd, qpn) == transport::KeyCheck::ok));
  transport::MemoryRange range;
  const auto check = [&] {
    return table.check_remote(window, program0.pd, qpn, program0.address(0), 1,
                              transport::AccessRight::remote_read, range);
  };
  BOOST_TEST((check() == transport::KeyCheck::ok));
  queue_pair.reset();
  BOOST_TEST((check() == transport::KeyCheck::unknown_key));
  BOOST_TEST(table.remove_region(region));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
