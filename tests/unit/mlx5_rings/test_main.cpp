#define BOOST_TEST_DYN_LINK
#define BOOST_TEST_MODULE mlx5_rings
#include <boost/test/unit_test.hpp>
