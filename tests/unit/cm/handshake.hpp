// The steps of a connection between two ends, as tests write them down: left is the active side.
#pragma once

#include "tests/unit/cm/fake_wire.hpp"

namespace urnic::cm::test {

inline constexpr wire::Qpn kLeftQpn{0x11};
inline constexpr wire::Qpn kRightQpn{0x22};

// Both ends' ids of one connection.
struct Ids {
  CommunicationId left;
  CommunicationId right;
};

inline ConnectParameters connect_parameters(const FakeWire& wire) {
  ConnectParameters parameters;
  parameters.path = wire.left.path_to(wire.right);
  parameters.service_id = kService;
  parameters.qpn = kLeftQpn;
  parameters.responder_resources = 4;
  parameters.initiator_depth = 2;
  return parameters;
}

inline ReplyParameters reply_parameters() {
  ReplyParameters parameters;
  parameters.qpn = kRightQpn;
  parameters.responder_resources = 3;
  parameters.initiator_depth = 2;
  parameters.rnr_retry_count = 5;
  return parameters;
}

// Left's REQ; right listens if it does not yet.
inline CommunicationId request(FakeWire& wire) {
  wire.right.manager.listen(kService, 16);
  const Started started = wire.left.manager.connect(connect_parameters(wire), wire.now);
  BOOST_REQUIRE(started.result == Result::ok);
  return started.id;
}

// The REQ has arrived.
inline Ids requested(FakeWire& wire) {
  Ids ids;
  ids.left = request(wire);
  wire.settle();
  ids.right = wire.right.expect(Told::requested).id;
  return ids;
}

// The REP, too.
inline Ids replied(FakeWire& wire) {
  const Ids ids = requested(wire);
  BOOST_REQUIRE(wire.right.manager.reply(ids.right, reply_parameters(), wire.now) == Result::ok);
  wire.settle();
  wire.left.expect(Told::replied);
  return ids;
}

// The RTU, too.
inline Ids connected(FakeWire& wire) {
  const Ids ids = replied(wire);
  BOOST_REQUIRE(wire.left.manager.ready(ids.left) == Result::ok);
  wire.settle();
  wire.right.expect(Told::established);
  return ids;
}

// The user of both ends gives its ids up; nothing may be left after a while.
inline void expect_nothing_left(FakeWire& wire, const Ids& ids) {
  wire.left.manager.destroy(ids.left, wire.now);
  wire.right.manager.destroy(ids.right, wire.now);
  wire.run_until_quiet();
  for (const End* end : {&wire.left, &wire.right}) {
    BOOST_TEST(end->entries() == 0u);
    BOOST_TEST(!end->manager.next_deadline().has_value());
  }
}

}  // namespace urnic::cm::test
