// How long an M_Key protects a port whose manager is silent (IBTA 14.2.4).
#include "device_model/subnet/m_key.hpp"

#include <boost/test/unit_test.hpp>
#include <chrono>

#include "small_fabric.hpp"

namespace urnic::subnet::test {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr std::uint64_t kKey = 0x1234;
constexpr std::uint16_t kLease = 3;  // seconds

// The own port of node 0 has a key.
struct KeyedPort : SmallFabric {
  KeyedPort() {
    network.set_clock([this] { return now; });
    protect(2, kLease);
  }

  // What the key's owner writes.
  void protect(std::uint8_t protection, std::uint16_t lease) {
    PortInfo info = network.port(kOne);
    info.m_key = kKey;
    info.m_key_protection = protection;
    info.m_key_lease = lease;
    info.state = PortState::no_change;
    info.physical_state = PhysicalState::no_change;
    Smp smp = keyed(Method::set, kKey);
    smp.data = encode_data(info);
    BOOST_REQUIRE(ask(smp).has_value());
  }

  static Smp keyed(Method method, std::uint64_t key) {
    Smp smp = along(question(method, SubnetAttribute::port_info, 1), {});
    smp.m_key = key;
    return smp;
  }

  // What somebody reads of the port; empty: there is no answer.
  std::optional<PortInfo> read(std::uint64_t key = 0) {
    const auto answer = ask(keyed(Method::get, key));
    if (!answer) return {};
    return decode_data<PortInfo>(answer->data);
  }

  nanoseconds now = seconds{100};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(m_key, KeyedPort)

BOOST_AUTO_TEST_CASE(protection_ends_with_the_lease) {
  BOOST_TEST(!read());
  now += seconds{kLease} - nanoseconds{1};
  BOOST_TEST(!read());
  now += nanoseconds{1};
  // Everybody may read the key then, and with it write.
  const auto info = read().value();
  BOOST_TEST(info.m_key_protection == 0);
  BOOST_TEST(info.m_key == kKey);
  BOOST_TEST(info.m_key_violations == 2);
  BOOST_TEST(!ask(keyed(Method::set, 0)));
  BOOST_TEST(network.port(kOne).m_key_violations == 3);
  Smp smp = keyed(Method::set, info.m_key);
  PortInfo taken;
  taken.m_key = 0x77;
  smp.data = encode_data(taken);
  BOOST_TEST(ask(smp).has_value());
  BOOST_TEST(network.port(kOne).m_key == 0x77u);
}

BOOST_AUTO_TEST_CASE(it_begins_with_a_wrong_key_and_not_before) {
  now += seconds{10 * kLease};
  BOOST_TEST(!read());
  BOOST_TEST(network.port(kOne).m_key_protection == 2);
  now += seconds{kLease};
  BOOST_TEST(read().has_value());
}

BOOST_AUTO_TEST_CASE(further_wrong_keys_do_not_prolong_it) {
  for (int i = 0; i < 3; ++i, now += seconds{1}) BOOST_TEST(!read(i + 1));
  BOOST_TEST(read().has_value());
}

BOOST_AUTO_TEST_CASE(a_right_key_renews_it) {
  for (const Method method : {Method::get, Method::trap_repress}) {
    BOOST_TEST(!read());
    now += seconds{kLease} - milliseconds{1};
    Smp smp = keyed(method, kKey);
    ask(smp);
    now += seconds{kLease};
    BOOST_TEST(!read());  // the next one begins here
    ask(smp);
  }
  BOOST_TEST(!read());
  protect(2, kLease);
  now += seconds{kLease};
  BOOST_TEST(!read());
  BOOST_TEST(network.port(kOne).m_key_protection == 2);
}

BOOST_AUTO_TEST_CASE(a_lease_of_nothing_never_ends) {
  protect(3, 0);
  BOOST_TEST(!read());
  now += std::chrono::hours{1000};
  BOOST_TEST(!read());
  BOOST_TEST(network.port(kOne).m_key_protection == 3);
}

BOOST_AUTO_TEST_CASE(what_may_be_read_begins_no_lease) {
  protect(1, kLease);
  BOOST_TEST(read().value().m_key == 0u);
  now += seconds{kLease};
  BOOST_TEST(read().value().m_key_protection == 1);
  BOOST_TEST(network.port(kOne).m_key_violations == 0);
  BOOST_TEST(!ask(keyed(Method::set, 0)));  // what may not be written does
  now += seconds{kLease};
  BOOST_TEST(read().value().m_key == kKey);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::subnet::test
