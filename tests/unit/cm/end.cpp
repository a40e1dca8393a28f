#include "tests/unit/cm/end.hpp"

#include <boost/test/unit_test.hpp>

namespace urnic::cm::test {

End::End(std::uint32_t number, const Settings& settings) : manager(*this, *this, settings), number_(number) {}

wire::Gid End::gid(std::uint32_t number) {
  wire::Gid gid;
  gid.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, static_cast<std::uint8_t>(number)};
  return gid;
}

Path End::path_to(const End& peer) const {
  Path path;
  path.own = gid();
  path.peer = peer.gid();
  path.flow_label = 0x2C349;
  return path;
}

Event End::expect(Told told) {
  BOOST_REQUIRE(!events.empty());
  const Event event = events.front();
  events.pop_front();
  BOOST_REQUIRE_EQUAL(static_cast<int>(event.told), static_cast<int>(told));
  return event;
}

void End::add(Event event) {
  events.push_back(event);
  on_event(event);
}

Decision End::requested(const RequestEvent& event) {
  const Decision answer = decision;
  add({Told::requested, event.id, event.message, event.path});
  return answer;
}

Decision End::sidr_requested(const SidrRequestEvent& event) {
  const Decision answer = decision;
  add({Told::sidr_requested, event.id, event.message});
  return answer;
}

void End::unanswered(CommunicationId id, Unanswered message) {
  Event event{Told::unanswered, id};
  event.missing = message;
  add(event);
}

void End::disconnected(CommunicationId id, Disconnected how) {
  Event event{Told::disconnected, id};
  event.how = how;
  add(event);
}

}  // namespace urnic::cm::test
