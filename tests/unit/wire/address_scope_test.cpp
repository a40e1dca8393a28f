// Which addresses say only together with an interface what they mean (RFC 4007 6, RFC 4291 2.7).
#include <arpa/inet.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ostream>

#include "wire/network_headers.hpp"

namespace urnic::wire::test {
namespace {

namespace data = boost::unit_test::data;

struct Scope {
  const char* address;
  bool needs_interface;
};

std::ostream& operator<<(std::ostream& stream, const Scope& scope) { return stream << scope.address; }

constexpr Scope kScopes[] = {
    {"fe80::1", true},
    {"febf::1", true},
    {"fec0::1", false},
    {"2001:db8::1", false},
    {"ff01::77", true},
    {"ff02::77", true},
    {"ff12::77", true},
    {"ff03::77", false},
    {"ff05::77", false},
    {"ff0e::77", false},
    {"::ffff:224.0.0.251", false},
    {"ff22::1", true},
    {"::ffff:169.254.0.1", false},
};

}  // namespace

BOOST_DATA_TEST_CASE(scopes_of_addresses, data::make(kScopes), scope) {
  Gid gid;
  BOOST_REQUIRE(inet_pton(AF_INET6, scope.address, gid.bytes.data()) == 1);
  BOOST_TEST(needs_interface(gid) == scope.needs_interface);
}

}  // namespace urnic::wire::test
