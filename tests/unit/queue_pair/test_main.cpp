#define BOOST_TEST_DYN_LINK
#define BOOST_TEST_MODULE queue_pair
#include <boost/test/unit_test.hpp>
