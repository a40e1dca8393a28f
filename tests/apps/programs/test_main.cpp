// The main function of the programs that are tests: the linker takes it where a program has none.
#define BOOST_TEST_DYN_LINK
#define BOOST_TEST_MODULE verbs
#include <boost/test/unit_test.hpp>
