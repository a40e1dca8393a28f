// Creating an object fails at each of its allocations in turn: nothing stays installed in the engine, and the
// same request succeeds afterwards.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "device_model/engine/device.hpp"
#include "device_model/engine/doorbells/doorbell_set.hpp"
#include "device_model/engine/queue_pair/qp_table.hpp"
#include "tests/unit/control/direct_program.hpp"

namespace {

// Allocations of this thread until one throws; -1: none throws.
thread_local std::int64_t allocations_left = -1;

}  // namespace

// Not inlined: gcc 12 warns of a mismatch where it inlines one of a pair only.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (allocations_left >= 0 && allocations_left-- == 0) throw std::bad_alloc();
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace urnic::control::test {
namespace {

struct WithObjects {
  Machine machine;
  OpenProgram program{machine};
  abi::HandleReply xrcd{};

  WithObjects() {
    BOOST_REQUIRE(program.call(ControlOpcode::open_xrcd, abi::OpenXrcdRequest{abi::xrcd_create, 0}, xrcd) ==
                  0);
  }

  Context& context() { return *program.session().context; }
  ServedDevice& device() { return program.session().device; }

  // QPs that packets find.
  std::uint32_t installed_queue_pairs() {
    std::uint32_t count = 0;
    for (std::uint32_t number = 0; number < 1u << 24; ++number)
      count += device().device->queue_pairs().find(wire::Qpn{number}) != nullptr ? 1 : 0;
    return count;
  }
  // Calls what the doorbells of the first word lead to.
  void ring_doorbells() {
    auto& doorbells = *reinterpret_cast<abi::Doorbells*>(doorbells_.data());
    doorbells.bits[0].store(~std::uint64_t{0});
    doorbells.summary[0].store(1);
    context().doorbells().collect();
  }

  // Sends the request again and again, with one more allocation each time until one fails. Calls `check`
  // after each failure.
  template <class Request, class Check>
  void fail_everywhere(ControlOpcode opcode, const Request& request, Check check) {
    std::int64_t succeeding = 0;
    for (;; ++succeeding) {
      Message message = make_message(opcode, request);
      allocations_left = succeeding;
      Dispatched dispatched = Dispatched::not_yet;
      while (dispatched == Dispatched::not_yet) dispatched = program.dispatch_once(message);
      const bool failed = std::exchange(allocations_left, -1) == -1;
      BOOST_REQUIRE(dispatched == Dispatched::answered);
      abi::ReplyHeader header{};
      std::memcpy(&header, program.reply().storage.data(), sizeof header);
      if (!failed) {
        BOOST_TEST(header.error == 0);
        break;
      }
      BOOST_TEST_CONTEXT("allocation " << succeeding) {
        BOOST_TEST((header.error == ENOMEM || header.error == 0));
        check();
      }
    }
    BOOST_TEST(succeeding >= 2);
  }

 private:
  SharedMapping doorbells_{program.session().context->doorbell_descriptor(), sizeof(abi::Doorbells)};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(allocation_failures, WithObjects)

BOOST_AUTO_TEST_CASE(a_queue_pair_is_installed_as_a_whole_or_not_at_all) {
  const abi::CreateQpRequest request = program.qp_request(program.pd, program.cq);
  fail_everywhere(ControlOpcode::create_qp, request, [this] {
    ring_doorbells();
    // The reply may fail after the installation: then the context has a QP of which the program does not
    // know.
    while (!context().qps.empty()) {
      abi::DestroyReply gone{};
      const abi::HandleRequest last{context().qps.begin()->first, 0};
      BOOST_REQUIRE(program.call(ControlOpcode::destroy_qp, last, gone) == 0);
    }
  });
  BOOST_TEST(context().qps.size() == 1u);
  BOOST_TEST(installed_queue_pairs() == 1u);
}

BOOST_AUTO_TEST_CASE(so_is_the_target_of_an_extended_reliable_connection) {
  abi::CreateQpRequest request{};
  request.type = IBV_QPT_XRC_RECV;
  request.xrcd = xrcd.handle;
  fail_everywhere(ControlOpcode::create_qp, request, [this] { BOOST_TEST(context().qps.size() == 0u); });
  // Those of the failures, too: nothing would have removed them.
  BOOST_TEST(installed_queue_pairs() == 1u);
}

BOOST_AUTO_TEST_CASE(so_are_shared_receive_queues_windows_and_completion_queues) {
  const auto nothing_to_check = [] {};
  fail_everywhere(ControlOpcode::create_srq, abi::CreateSrqRequest{77, program.pd, 4, 1, 0},
                  nothing_to_check);
  fail_everywhere(ControlOpcode::allocate_mw, abi::AllocateMwRequest{program.pd, IBV_MW_TYPE_1},
                  [this] { BOOST_TEST(context().windows.size() == 0u); });
  fail_everywhere(ControlOpcode::create_cq, abi::CreateCqRequest{1, 0, 4, 0}, nothing_to_check);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
