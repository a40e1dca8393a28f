#define BOOST_TEST_MODULE pvrdma_mux
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
