// What verbs do to errno: one that fails has set it to its error, one that succeeds has left it as it was.
#include <infiniband/verbs.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <functional>

#include "tests/unit/provider/rig.hpp"

namespace urnic::test {
namespace {

using abi::ControlOpcode;

constexpr int kBefore = 4242;  // no errno
constexpr int kError = EDQUOT;

// An object's removal; a second time if it was refused, which must leave errno as it is.
template <typename Object>
int removed(Object* object, int (*remove)(Object*)) {
  const int error = object == nullptr ? -1 : remove(object);
  if (error > 0) BOOST_TEST(remove(object) == 0);
  return error;
}
// The making of an object that is removed again.
template <typename Object>
int made(Object* object, int (*remove)(Object*)) {
  if (object == nullptr) return -1;
  BOOST_TEST(remove(object) == 0);
  return 0;
}

struct Verb {
  const char* name;
  ControlOpcode request;  // what the device refuses
  // 0; an errno; -1 for a null result.
  std::function<int(Rig&)> call;
};

char memory[4096];
// A number, because the macro `ibv_reg_mr` compares it with flags of another enumeration.
constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE;
ibv_mr* region(Rig& rig) { return ibv_reg_mr(rig.pd, memory, sizeof memory, kAccess); }
ibv_qp* queue_pair(Rig& rig) {
  ibv_qp_init_attr attributes{};
  attributes.send_cq = attributes.recv_cq = rig.cq;
  attributes.cap = {1, 1, 1, 1, 0};
  attributes.qp_type = IBV_QPT_RC;
  return ibv_create_qp(rig.pd, &attributes);
}
ibv_dm* device_memory(Rig& rig) {
  ibv_alloc_dm_attr attributes{64, 0, 0};
  return ibv_alloc_dm(rig.context, &attributes);
}

const Verb kVerbs[] = {
    {"query_port", ControlOpcode::query_port,
     [](Rig& rig) {
       ibv_port_attr attributes;
       return ibv_query_port(rig.context, 1, &attributes);
     }},
    {"alloc_pd", ControlOpcode::allocate_pd,
     [](Rig& rig) { return made(ibv_alloc_pd(rig.context), ibv_dealloc_pd); }},
    {"dealloc_pd", ControlOpcode::deallocate_pd,
     [](Rig& rig) { return removed(ibv_alloc_pd(rig.context), ibv_dealloc_pd); }},
    {"reg_mr", ControlOpcode::register_mr, [](Rig& rig) { return made(region(rig), ibv_dereg_mr); }},
    {"dereg_mr", ControlOpcode::deregister_mr, [](Rig& rig) { return removed(region(rig), ibv_dereg_mr); }},
    {"alloc_mw", ControlOpcode::allocate_mw,
     [](Rig& rig) { return made(ibv_alloc_mw(rig.pd, IBV_MW_TYPE_1), ibv_dealloc_mw); }},
    {"dealloc_mw", ControlOpcode::deallocate_mw,
     [](Rig& rig) { return removed(ibv_alloc_mw(rig.pd, IBV_MW_TYPE_1), ibv_dealloc_mw); }},
    {"alloc_null_mr", ControlOpcode::allocate_null_mr,
     [](Rig& rig) { return made(ibv_alloc_null_mr(rig.pd), ibv_dereg_mr); }},
    {"alloc_dm", ControlOpcode::allocate_dm, [](Rig& rig) { return made(device_memory(rig), ibv_free_dm); }},
    {"free_dm", ControlOpcode::free_dm, [](Rig& rig) { return removed(device_memory(rig), ibv_free_dm); }},
    {"create_cq", ControlOpcode::create_cq,
     [](Rig& rig) { return made(ibv_create_cq(rig.context, 4, nullptr, nullptr, 0), ibv_destroy_cq); }},
    {"destroy_cq", ControlOpcode::destroy_cq,
     [](Rig& rig) { return removed(ibv_create_cq(rig.context, 4, nullptr, nullptr, 0), ibv_destroy_cq); }},
    {"resize_cq", ControlOpcode::resize_cq, [](Rig& rig) { return ibv_resize_cq(rig.cq, 12); }},
    {"create_qp", ControlOpcode::create_qp, [](Rig& rig) { return made(queue_pair(rig), ibv_destroy_qp); }},
    {"destroy_qp", ControlOpcode::destroy_qp,
     [](Rig& rig) { return removed(queue_pair(rig), ibv_destroy_qp); }},
    {"modify_qp", ControlOpcode::modify_qp,
     [](Rig& rig) {
       ibv_qp_attr attributes{};
       attributes.qp_state = IBV_QPS_RTS;
       return ibv_modify_qp(rig.qp, &attributes, IBV_QP_STATE);
     }},
    {"query_qp", ControlOpcode::query_qp,
     [](Rig& rig) {
       ibv_qp_attr attributes;
       ibv_qp_init_attr init;
       return ibv_query_qp(rig.qp, &attributes, IBV_QP_STATE, &init);
     }},
};

BOOST_AUTO_TEST_SUITE(errno_rule)

BOOST_AUTO_TEST_CASE(a_verb_that_fails_sets_it_and_one_that_succeeds_leaves_it) {
  Rig rig;
  ibv_pd* const reserved = ibv_alloc_pd(rig.context);  // the device has given one beforehand
  for (const Verb& verb : kVerbs) {
    rig.device.refuse_next(verb.request, kError);
    errno = kBefore;
    const int refused = verb.call(rig);
    BOOST_TEST(errno == kError, verb.name << ": errno " << errno);
    BOOST_TEST((refused == kError || refused == -1), verb.name << ": " << refused);
    errno = kBefore;
    BOOST_TEST(verb.call(rig) == 0, verb.name);
    BOOST_TEST(errno == kBefore, verb.name << ": errno " << errno);
  }
  ibv_dealloc_pd(reserved);
}

BOOST_AUTO_TEST_CASE(requests_that_cannot_be_posted) {
  Rig rig;
  ibv_send_wr send{};
  ibv_recv_wr receive{};
  send.num_sge = receive.num_sge = 1000;
  errno = kBefore;
  BOOST_TEST(rig.post_send(send) == EINVAL);
  BOOST_TEST(errno == EINVAL);
  errno = kBefore;
  BOOST_TEST(rig.post_receive(receive) == EINVAL);
  BOOST_TEST(errno == EINVAL);
}

// The engine sleeps, and its eventfd takes no more: the write that wakes it fails, which does not matter.
BOOST_AUTO_TEST_CASE(posting_and_polling_leave_it) {
  Rig rig;
  rig.device.set_sleeping(true);
  errno = kBefore;
  rig.post_sends(2, 1);
  rig.post_receives(2, 1);
  BOOST_TEST(errno == kBefore);
  rig.device.set_sleeping(false);
  ibv_wc completion;
  for (int i = 0; i < 5000; ++i) BOOST_REQUIRE(ibv_poll_cq(rig.cq, 1, &completion) == 0);
  BOOST_TEST(ibv_req_notify_cq(rig.cq, 0) == 0);
  BOOST_TEST(errno == kBefore);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::test
