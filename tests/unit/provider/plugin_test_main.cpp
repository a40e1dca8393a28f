#define BOOST_TEST_DYN_LINK
#define BOOST_TEST_MODULE provider_plugin
#include <boost/test/unit_test.hpp>
