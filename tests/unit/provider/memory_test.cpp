#define BOOST_TEST_DYN_LINK
#include <sys/mman.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>

#include "tests/unit/provider/rig.hpp"

namespace urnic::test {

namespace {

struct Memory : OpenDevice {
  ibv_pd* pd = ibv_alloc_pd(context);
  char buffer[8192] = {};
  ~Memory() { BOOST_CHECK_EQUAL(ibv_dealloc_pd(pd), 0); }

  abi::RegisterMrRequest last() {
    return fake_device().last_request<abi::RegisterMrRequest>(abi::ControlOpcode::register_mr);
  }
  // The errno of a registration that must fail.
  int refusal(void* address, std::size_t length, int access) {
    errno = 0;
    ibv_mr* mr = ibv_reg_mr(pd, address, length, access);
    BOOST_CHECK(mr == nullptr);
    return errno;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(memory, Memory)

BOOST_AUTO_TEST_CASE(registration_names_the_memory_and_gets_keys) {
  ibv_mr* mr = ibv_reg_mr(pd, buffer + 3, 100, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  BOOST_REQUIRE(mr != nullptr);
  const abi::RegisterMrRequest request = last();
  BOOST_TEST(request.address == reinterpret_cast<std::uintptr_t>(buffer) + 3);
  BOOST_TEST(request.iova == request.address);
  BOOST_TEST(request.length == 100u);
  BOOST_TEST(request.pd == pd->handle);
  BOOST_TEST(request.access == 3u);
  BOOST_TEST(mr->lkey != 0u);
  BOOST_TEST(mr->rkey == (mr->lkey | 1));
  BOOST_TEST(mr->length == 100u);
  BOOST_TEST(ibv_dereg_mr(mr) == 0);
}

BOOST_AUTO_TEST_CASE(the_iova_may_be_another_address) {
  ibv_mr* mr = ibv_reg_mr_iova(pd, buffer, 100, 0x1234, IBV_ACCESS_REMOTE_READ);
  BOOST_REQUIRE(mr != nullptr);
  BOOST_TEST(last().iova == 0x1234u);
  BOOST_TEST(ibv_dereg_mr(mr) == 0);
  mr = ibv_reg_mr(pd, buffer, 100, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ZERO_BASED);
  BOOST_REQUIRE(mr != nullptr);
  BOOST_TEST(last().iova == 0u);
  BOOST_TEST(ibv_dereg_mr(mr) == 0);
}

// IBTA 10.6.3.1
BOOST_AUTO_TEST_CASE(remote_changes_need_local_write) {
  BOOST_TEST(refusal(buffer, 100, IBV_ACCESS_REMOTE_WRITE) == EINVAL);
  BOOST_TEST(refusal(buffer, 100, IBV_ACCESS_REMOTE_ATOMIC) == EINVAL);
}

BOOST_AUTO_TEST_CASE(unknown_and_unsupported_rights_are_refused_and_optional_ones_left_out) {
  BOOST_TEST(refusal(buffer, 100, 1 << 15) == EINVAL);
  BOOST_TEST(refusal(buffer, 100, IBV_ACCESS_ON_DEMAND) == EOPNOTSUPP);
  ibv_mr* mr = ibv_reg_mr_iova2(pd, buffer, 100, 0, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING);
  BOOST_REQUIRE(mr != nullptr);
  BOOST_TEST(last().access == 1u);
  BOOST_TEST(ibv_dereg_mr(mr) == 0);
}

BOOST_AUTO_TEST_CASE(memory_that_is_not_there_or_not_writable_is_a_fault) {
  void* read_only = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const unsigned before = fake_device().requests(abi::ControlOpcode::register_mr);
  BOOST_TEST(refusal(read_only, 4096, IBV_ACCESS_LOCAL_WRITE) == EFAULT);
  BOOST_TEST(refusal(nullptr, 4096, 0) == EFAULT);
  BOOST_TEST(fake_device().requests(abi::ControlOpcode::register_mr) == before);
  ibv_mr* mr = ibv_reg_mr(pd, read_only, 4096, IBV_ACCESS_REMOTE_READ);
  BOOST_REQUIRE(mr != nullptr);
  BOOST_TEST(ibv_dereg_mr(mr) == 0);
  munmap(read_only, 4096);
}

BOOST_AUTO_TEST_CASE(the_devices_refusal_is_the_callers_errno) {
  fake_device().refuse_next(abi::ControlOpcode::register_mr, EPERM);
  BOOST_TEST(refusal(buffer, 100, 0) == EPERM);
  fake_device().refuse_next(abi::ControlOpcode::deallocate_pd, EBUSY);
  BOOST_TEST(ibv_dealloc_pd(pd) == EBUSY);
}

BOOST_AUTO_TEST_CASE(reregistration_changes_what_its_flags_say) {
  ibv_mr* mr = ibv_reg_mr(pd, buffer, 100, IBV_ACCESS_LOCAL_WRITE);
  BOOST_REQUIRE(mr != nullptr);
  const std::uint32_t old_lkey = mr->lkey;
  BOOST_TEST(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, buffer + 8, 50, 0) == 0);
  const auto request =
      fake_device().last_request<abi::ReregisterMrRequest>(abi::ControlOpcode::reregister_mr);
  BOOST_TEST(request.flags == std::uint32_t{IBV_REREG_MR_CHANGE_TRANSLATION});
  BOOST_TEST(request.change.address == reinterpret_cast<std::uintptr_t>(buffer) + 8);
  BOOST_TEST(request.change.access == 1u);
  BOOST_TEST(mr->lkey != old_lkey);
  BOOST_TEST(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_REMOTE_WRITE) ==
             IBV_REREG_MR_ERR_CMD);
  BOOST_TEST(errno == EINVAL);
  BOOST_TEST(ibv_dereg_mr(mr) == 0);
}

BOOST_AUTO_TEST_CASE(windows_have_keys) {
  ibv_mw* window = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
  BOOST_REQUIRE(window != nullptr);
  BOOST_TEST(window->rkey == 0x4400u);
  BOOST_TEST(window->type == IBV_MW_TYPE_2);
  BOOST_CHECK(window->pd == pd);
  BOOST_TEST(ibv_dealloc_mw(window) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::test
