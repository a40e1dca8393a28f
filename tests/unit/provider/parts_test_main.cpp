#define BOOST_TEST_DYN_LINK
#define BOOST_TEST_MODULE provider_parts
#include <boost/test/unit_test.hpp>
