// A thousand connections over a bad wire: each is established at both ends or reported as failed, and in the
// end nothing is left.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <map>

#include "tests/unit/cm/handshake.hpp"

namespace urnic::cm::test {
namespace {

// What one end has heard of one connection.
struct Course {
  bool established = false;
  bool failed = false;
  bool disconnected = false;
};

// The programs at one end: they answer everything after a while, and give every id back.
class Programs {
 public:
  struct Habits {
    std::uint32_t reject = 0;  // chance to reject a REQ or a REP, in thousandths
    std::uint32_t destroy =
        0;  // chance to destroy the id instead of each answer, and some time after its beginning
  };

  Programs(FakeWire& wire, End& end, const Habits& habits, std::uint64_t seed)
      : wire_(wire), end_(end), habits_(habits), random_(seed) {
    end.on_event = [this](const Event& event) { take(event); };
  }

  void connect(const ConnectParameters& parameters, std::uint32_t number) {
    std::array<std::byte, 4> private_data;
    std::memcpy(private_data.data(), &number, sizeof number);
    ConnectParameters with_number = parameters;
    with_number.private_data = private_data;
    const Started started = end_.manager.connect(with_number, wire_.now);
    BOOST_REQUIRE((started.result == Result::ok));
    active_[started.id] = number;
    limit_life(started.id);
  }

  // By the number of the connection. A REQ that came late may have begun a second one.
  std::map<std::uint32_t, Course> active_courses;
  std::multimap<std::uint32_t, Course> passive_courses;
  std::size_t ids_held() const { return active_.size() + passive_.size(); }

 private:
  void later(Nanoseconds span, std::function<void()> action) {
    wire_.at(wire_.now + span, std::move(action));
  }
  // Mostly at once, sometimes after the peer has repeated itself.
  Nanoseconds a_while() { return chance(50) ? Nanoseconds(random_() % 10'000'000'000) : Nanoseconds(1000); }
  bool chance(std::uint32_t thousandths) { return random_() % 1000 < thousandths; }
  // Nobody waits for ever, and some lose patience in any state.
  void limit_life(CommunicationId id) {
    const Nanoseconds limit = chance(habits_.destroy) ? Nanoseconds(random_() % 200'000) : 200s;
    later(limit, [this, id] { destroy(id); });
  }

  void take(const Event& event) {
    const CommunicationId id = event.id;
    switch (event.told) {
      case Told::requested:
        passive_[id] = {number_of(std::get<Req>(event.message)), {}};
        limit_life(id);
        return later(a_while(), [this, id] { answer_request(id); });
      case Told::replied:
        return later(a_while(), [this, id] { answer_reply(id); });
      case Told::established:
        course(id)->established = true;
        return later(a_while(), [this, id] { end_connection(id); });
      case Told::rejected:
      case Told::unanswered:
        course(id)->failed = true;
        return later(a_while(), [this, id] { destroy(id); });
      case Told::disconnect_requested:
        course(id)->disconnected = true;
        return later(a_while(), [this, id] { end_connection(id); });
      case Told::disconnected:
        course(id)->disconnected = true;
        return;
      case Told::time_wait_over:
        return destroy(id);
      default:
        BOOST_FAIL("an event that nobody asked for");
    }
  }

  static std::uint32_t number_of(const Req& req) {
    std::uint32_t number = 0;
    std::memcpy(&number, req.private_data.data(), sizeof number);
    return number;
  }

  Course* course(CommunicationId id) {
    if (const auto found = passive_.find(id); found != passive_.end()) return &found->second.course;
    if (const auto found = active_.find(id); found != active_.end()) return &active_courses[found->second];
    BOOST_FAIL("an event of an id that was destroyed");
    return nullptr;
  }

  void answer_request(CommunicationId id) {
    if (chance(habits_.destroy)) return destroy(id);
    if (chance(habits_.reject)) return reject(id);
    ReplyParameters parameters = reply_parameters();
    parameters.qpn = wire::Qpn{++qpn_};
    end_.manager.reply(id, parameters, wire_.now);
  }

  void answer_reply(CommunicationId id) {
    if (!active_.contains(id)) return;
    if (chance(habits_.destroy)) return destroy(id);
    if (chance(habits_.reject)) return reject(id);
    if (end_.manager.ready(id) != Result::ok) return;
    course(id)->established = true;
    later(a_while() + 3ms, [this, id] { end_connection(id); });
  }

  void reject(CommunicationId id) {
    if (end_.manager.reject(id, {}, wire_.now) != Result::ok) return;
    course(id)->failed = true;
    destroy(id);
  }

  void end_connection(CommunicationId id) {
    if (chance(habits_.destroy)) return destroy(id);
    end_.manager.disconnect(id, wire_.now);
  }

  void destroy(CommunicationId id) {
    end_.manager.destroy(id, wire_.now);
    if (const auto found = passive_.find(id); found != passive_.end()) {
      passive_courses.emplace(found->second.number, found->second.course);
      passive_.erase(found);
    }
    if (const auto found = active_.find(id); found != active_.end()) {
      active_courses[found->second];
      active_.erase(found);
    }
  }

  struct Passive {
    std::uint32_t number = 0;
    Course course;
  };
  FakeWire& wire_;
  End& end_;
  Habits habits_;
  std::mt19937_64 random_;
  std::uint32_t qpn_ = 0x100000;
  std::map<CommunicationId, std::uint32_t> active_;
  std::map<CommunicationId, Passive> passive_;
};

struct Run {
  Run(const WireSetup& setup, const Programs::Habits& habits, std::uint32_t connections)
      : wire(setup),
        left(wire, wire.left, habits, setup.seed),
        right(wire, wire.right, habits, setup.seed + 1) {
    wire.left.manager.listen(kService, 64);
    wire.right.manager.listen(kService, 64);
    for (std::uint32_t number = 0; number < connections; ++number) {
      wire.at(Time{} + number * 20ms, [this, number] { connect(number); });
    }
    wire.run_until_quiet();
    wire.left.manager.stop_listening(kService);
    wire.right.manager.stop_listening(kService);
  }

  bool from_left(std::uint32_t number) const { return number % 2 == 0; }

  void connect(std::uint32_t number) {
    ConnectParameters parameters = connect_parameters(wire);
    if (!from_left(number)) parameters.path = wire.right.path_to(wire.left);
    parameters.qpn = wire::Qpn{1 + number};
    (from_left(number) ? left : right).connect(parameters, number);
  }

  void expect_nothing_left() const {
    BOOST_TEST((wire.left.manager.usage() == Usage{}));
    BOOST_TEST((wire.right.manager.usage() == Usage{}));
    BOOST_TEST(left.ids_held() == 0u);
    BOOST_TEST(right.ids_held() == 0u);
  }

  // Both ends' views of each connection agree.
  void expect_agreement(std::uint32_t connections) {
    for (std::uint32_t number = 0; number < connections; ++number) {
      BOOST_TEST_CONTEXT("connection " << number) {
        Programs& active = from_left(number) ? left : right;
        Programs& passive = from_left(number) ? right : left;
        const Course& course = active.active_courses.at(number);
        BOOST_TEST(course.established != course.failed);
        established += course.established;
        const auto [begin, end] = passive.passive_courses.equal_range(number);
        bool heard = false;
        for (auto other = begin; other != end; ++other) {
          // A DREQ that overtakes the RTU establishes and ends it at once.
          const bool connected = other->second.established || other->second.disconnected;
          BOOST_TEST((connected || other->second.failed));
          heard = heard || connected;
        }
        BOOST_TEST(heard == course.established);
      }
    }
  }

  FakeWire wire;
  Programs left;
  Programs right;
  std::uint32_t established = 0;
};

constexpr std::uint32_t kConnections = 1000;

BOOST_AUTO_TEST_SUITE(lossy)

BOOST_AUTO_TEST_CASE(good_wire_needs_no_repetition) {
  Run run({}, {}, 100);
  run.expect_nothing_left();
  run.expect_agreement(100);
  BOOST_TEST(run.established == 100u);
}

BOOST_AUTO_TEST_CASE(ten_percent_loss) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Run run({.seed = seed, .faults = {.lose = 100}}, {}, kConnections);
    run.expect_nothing_left();
    run.expect_agreement(kConnections);
    BOOST_TEST(run.established == kConnections);
    // A third of the handshakes and of the disconnections have lost one of their messages.
    for (const Message kind : {Message::req, Message::rep, Message::dreq}) {
      BOOST_TEST(run.wire.left.manager.counters({}).repeated[static_cast<std::size_t>(kind)] > 30u);
    }
  }
}

BOOST_AUTO_TEST_CASE(loss_duplicates_and_overtaking) {
  for (std::uint64_t seed = 11; seed <= 15; ++seed) {
    Run run({.seed = seed, .faults = {.lose = 100, .duplicate = 100, .delay = 100}}, {}, kConnections);
    run.expect_nothing_left();
    run.expect_agreement(kConnections);
    BOOST_TEST(run.established == kConnections);
  }
}

BOOST_AUTO_TEST_CASE(programs_that_reject) {
  for (std::uint64_t seed = 21; seed <= 25; ++seed) {
    Run run({.seed = seed, .faults = {.lose = 100, .duplicate = 50, .delay = 50}}, {.reject = 200},
            kConnections);
    run.expect_nothing_left();
    BOOST_TEST(run.wire.left.count(Message::rej) > 0u);
  }
}

BOOST_AUTO_TEST_CASE(programs_that_give_up_in_every_state) {
  for (std::uint64_t seed = 31; seed <= 35; ++seed) {
    Run run({.seed = seed, .faults = {.lose = 100, .duplicate = 50, .delay = 50}},
            {.reject = 50, .destroy = 300}, kConnections);
    run.expect_nothing_left();
  }
}

BOOST_AUTO_TEST_CASE(damaged_datagrams_hurt_nobody_for_long) {
  for (std::uint64_t seed = 41; seed <= 45; ++seed) {
    Run run({.seed = seed, .faults = {.lose = 50, .duplicate = 50, .delay = 50, .damage = 100}},
            {.destroy = 50}, kConnections);
    run.expect_nothing_left();
    BOOST_TEST(run.wire.left.manager.counters({}).malformed > 0u);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::cm::test
