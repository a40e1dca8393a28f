#define BOOST_TEST_DYN_LINK
#define BOOST_TEST_MODULE rdma_cm
#include <spdlog/spdlog.h>

#include <boost/test/unit_test.hpp>

namespace {

// Log lines about what tests do wrong on purpose help nobody.
struct NoLog {
  NoLog() { spdlog::set_level(spdlog::level::off); }
};
BOOST_TEST_GLOBAL_FIXTURE(NoLog);

}  // namespace
