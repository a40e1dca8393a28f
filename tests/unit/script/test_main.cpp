#define BOOST_TEST_MODULE script
#include <boost/test/unit_test.hpp>
