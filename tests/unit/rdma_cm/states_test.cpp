// Every command in every state of an identifier.
#include <infiniband/verbs.h>

#include <functional>

#include "tests/unit/rdma_cm/rdma_cm_program.hpp"

namespace urnic::control::rdma_cm::test {

namespace {

// Two programs; `id` is the active one's, or the listener's, in the state that a row names.
struct Situation : World {
  Program active{*this};
  Program passive{*this, 2000};
  std::uint32_t request = 0;

  std::uint32_t idle() { return active.create(); }
  std::uint32_t bound() {
    const std::uint32_t id = idle();
    active.bind(id, "192.0.2.1");
    return id;
  }
  std::uint32_t bound_to_all() {
    const std::uint32_t id = idle();
    active.bind(id, "0.0.0.0");
    return id;
  }
  std::uint32_t resolved() {
    const std::uint32_t id = idle();
    active.resolve(id, address("192.0.2.2", 7000), address("192.0.2.1"));
    return id;
  }
  std::uint32_t with_route() {
    const std::uint32_t id = resolved();
    active.resolve_route(id);
    return id;
  }
  std::uint32_t listening() {
    const std::uint32_t id = bound();
    active.listen(id);
    return id;
  }
  std::uint32_t connecting() {
    const std::uint32_t listening_id = listener(passive, "192.0.2.2", 7000);
    const std::uint32_t id = with_route();
    active.connect(id, {});
    deliver();
    BOOST_TEST(passive.event() == static_cast<std::uint32_t>(EventType::connect_request));
    request = passive.last.id;
    BOOST_TEST(request != listening_id);
    return id;
  }
  std::uint32_t replied() {
    const std::uint32_t id = connecting();
    passive.accept(request, rdma_ucm_conn_param{});
    deliver();
    return id;
  }
  std::uint32_t established() {
    const std::uint32_t id = replied();
    active.accept(id, {});
    deliver();
    return id;
  }
  std::uint32_t rejected() {
    const std::uint32_t id = connecting();
    passive.reject(request);
    deliver();
    return id;
  }
  std::uint32_t disconnected() {
    const std::uint32_t id = established();
    passive.disconnect(request);
    deliver();
    active.disconnect(id);
    deliver();
    return id;
  }
};

struct State {
  const char* name;
  std::uint32_t (Situation::*reach)();
};
constexpr State kStates[] = {{"idle", &Situation::idle},
                             {"bound", &Situation::bound},
                             {"bound to all", &Situation::bound_to_all},
                             {"resolved", &Situation::resolved},
                             {"route", &Situation::with_route},
                             {"listening", &Situation::listening},
                             {"connecting", &Situation::connecting},
                             {"replied", &Situation::replied},
                             {"established", &Situation::established},
                             {"rejected", &Situation::rejected},
                             {"disconnected", &Situation::disconnected}};
constexpr std::size_t kCount = std::size(kStates);

struct Row {
  const char* name;
  std::function<int(Program&, std::uint32_t)> command;
  int errors[kCount];  // in the order of kStates
};

constexpr int kNo = EINVAL;

const Row kRows[] = {
    {"bind",
     [](Program& p, std::uint32_t id) { return p.bind(id, "192.0.2.1", 9000); },
     {0, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo}},
    {"resolve address",
     [](Program& p, std::uint32_t id) { return p.resolve(id, address("192.0.2.2", 7000)); },
     {0, 0, 0, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo}},
    {"resolve route",
     [](Program& p, std::uint32_t id) { return p.resolve_route(id); },
     {kNo, kNo, kNo, 0, kNo, kNo, kNo, kNo, kNo, kNo, kNo}},
    {"resolve route without time",
     [](Program& p, std::uint32_t id) { return p.resolve_route(id, 0); },
     {kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo}},
    {"listen",
     [](Program& p, std::uint32_t id) { return p.listen(id); },
     {0, 0, 0, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo}},
    {"connect",
     [](Program& p, std::uint32_t id) { return p.connect(id, {}); },
     {kNo, kNo, kNo, kNo, 0, kNo, kNo, kNo, kNo, kNo, kNo}},
    {"connect without parameters",
     [](Program& p, std::uint32_t id) {
       return p.run(RDMA_USER_CM_CMD_CONNECT, rdma_ucm_connect{{}, id, 0, {}});
     },
     {kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo}},
    {"accept a reply",
     [](Program& p, std::uint32_t id) { return p.accept(id, {}); },
     {kNo, kNo, kNo, kNo, kNo, kNo, kNo, 0, kNo, kNo, kNo}},
    {"reject",
     [](Program& p, std::uint32_t id) { return p.reject(id); },
     {kNo, kNo, kNo, kNo, kNo, kNo, 0, 0, kNo, kNo, kNo}},
    {"reject for a reason that is none",
     [](Program& p, std::uint32_t id) { return p.reject(id, 8); },
     {kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo}},
    {"disconnect",
     [](Program& p, std::uint32_t id) { return p.disconnect(id); },
     {kNo, kNo, kNo, kNo, kNo, 0, 0, 0, 0, 0, 0}},
    {"notify",
     [](Program& p, std::uint32_t id) { return p.notify(id); },
     {kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, EISCONN, kNo, kNo}},
    {"attributes for INIT",
     [](Program& p, std::uint32_t id) { return p.init_qp(id, IBV_QPS_INIT); },
     {kNo, 0, kNo, 0, 0, kNo, 0, 0, 0, kNo, kNo}},
    {"attributes for RTR",
     [](Program& p, std::uint32_t id) { return p.init_qp(id, IBV_QPS_RTR); },
     {kNo, 0, kNo, 0, 0, kNo, kNo, 0, 0, kNo, kNo}},
    {"attributes for a state that is none",
     [](Program& p, std::uint32_t id) { return p.init_qp(id, 7); },
     {kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo}},
    {"join",
     [](Program& p, std::uint32_t id) { return p.join(id, address("239.1.2.3")); },
     {kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo}},  // an RC identifier
    {"type of service",
     [](Program& p, std::uint32_t id) { return p.set(id, RDMA_OPTION_ID_TOS, std::uint8_t{8}); },
     {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {"reuse address",
     [](Program& p, std::uint32_t id) { return p.set(id, RDMA_OPTION_ID_REUSEADDR, std::int32_t{1}); },
     {0, 0, 0, 0, 0, kNo, 0, 0, 0, 0, 0}},
    {"do not reuse address",
     [](Program& p, std::uint32_t id) { return p.set(id, RDMA_OPTION_ID_REUSEADDR, std::int32_t{0}); },
     {0, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo}},
    {"own family only",
     [](Program& p, std::uint32_t id) { return p.set(id, RDMA_OPTION_ID_AFONLY, std::int32_t{1}); },
     {0, 0, 0, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo}},
    {"ACK timeout",
     [](Program& p, std::uint32_t id) { return p.set(id, RDMA_OPTION_ID_ACK_TIMEOUT, std::uint8_t{21}); },
     {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {"destroy",
     [](Program& p, std::uint32_t id) { return p.destroy(id); },
     {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(states)

BOOST_AUTO_TEST_CASE(every_command_in_every_state) {
  for (const Row& row : kRows) {
    for (std::size_t i = 0; i < kCount; ++i) {
      BOOST_TEST_CONTEXT(row.name << " when " << kStates[i].name) {
        Situation situation;
        const std::uint32_t id = (situation.*kStates[i].reach)();
        BOOST_TEST(row.command(situation.active, id) == row.errors[i]);
      }
    }
  }
}

BOOST_FIXTURE_TEST_CASE(options_of_a_wrong_length_or_name_are_refused, World) {
  Program program(*this);
  const std::uint32_t id = program.create();
  BOOST_TEST(program.set(id, RDMA_OPTION_ID_TOS, std::int32_t{1}) == EINVAL);
  BOOST_TEST(program.set(id, RDMA_OPTION_ID_REUSEADDR, std::uint8_t{1}) == EINVAL);
  BOOST_TEST(program.set(id, RDMA_OPTION_ID_AFONLY, std::uint8_t{1}) == EINVAL);
  BOOST_TEST(program.set(id, RDMA_OPTION_ID_ACK_TIMEOUT, std::int32_t{1}) == EINVAL);
  BOOST_TEST(program.set(id, 4, std::uint8_t{1}) == ENOSYS);
  BOOST_TEST(program.set(id, 0, std::uint8_t{1}, 2) == ENOSYS);
  BOOST_TEST(program.set(id, RDMA_OPTION_IB_PATH, std::uint8_t{1}, RDMA_OPTION_IB) == EINVAL);
  const std::uint32_t datagram = program.create(RDMA_PS_UDP);
  BOOST_TEST(program.set(datagram, RDMA_OPTION_ID_ACK_TIMEOUT, std::uint8_t{1}) == EINVAL);
}

BOOST_FIXTURE_TEST_CASE(a_path_of_the_programs_own_makes_the_route, World) {
  Program program(*this);
  const std::uint32_t id = program.create();
  ib_path_rec_data path{};
  BOOST_TEST(program.resolve(id, address("192.0.2.2", 7000)) == 0);
  program.expect(EventType::address_resolved, id);
  BOOST_TEST(program.set(id, RDMA_OPTION_IB_PATH, path, RDMA_OPTION_IB) == EINVAL);
  path.flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
  BOOST_TEST(program.set(id, RDMA_OPTION_IB_PATH, path, RDMA_OPTION_IB) == 0);
  program.expect(EventType::route_resolved, id);
  BOOST_TEST(program.set(id, RDMA_OPTION_IB_PATH, path, RDMA_OPTION_IB) == EINVAL);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::rdma_cm::test
