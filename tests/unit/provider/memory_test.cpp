#define BOOST_TEST_DYN_LINK
#include <sys/mman.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "device_model/abi/memory_messages.hpp"
#include "tests/unit/provider/may_freeze.hpp"
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

// The permissions of the mapping that begins at `begin`, as in /proc/self/maps; empty: none begins there.
std::string permissions(const void* begin) {
  std::ostringstream start;
  start << std::hex << reinterpret_cast<std::uintptr_t>(begin) << '-';
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.starts_with(start.str())) return line.substr(line.find(' ') + 1, 4);
  return {};
}

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

BOOST_AUTO_TEST_CASE(memory_that_was_shared_in_vain_is_private_again,
                     *boost::unit_test::precondition(may_freeze)) {
  constexpr std::size_t kBytes = 16 * 4096;
  // Neighbours of other kinds, so that the mapping stays one of its own.
  char* const around = static_cast<char*>(
      mmap(nullptr, kBytes + 2 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  char* const bytes = around + 4096;
  BOOST_REQUIRE(mprotect(bytes, kBytes, PROT_READ | PROT_WRITE) == 0);
  std::memset(bytes, 7, kBytes);
  fake_device().offer_next({reinterpret_cast<std::uintptr_t>(bytes), kBytes}, ENOMEM);
  BOOST_TEST(refusal(bytes, kBytes, IBV_ACCESS_LOCAL_WRITE) == ENOMEM);
  BOOST_TEST((last().sharing == abi::Sharing::shared));
  BOOST_TEST(permissions(bytes) == "rw-p");
  BOOST_TEST(std::string(bytes, kBytes) == std::string(kBytes, 7));
  munmap(around, kBytes + 2 * 4096);
}

BOOST_AUTO_TEST_CASE(the_iova_may_be_another_address) {
  ibv_mr* mr = ibv_reg_mr_iova(pd, buffer, 100, 0x1234, int{IBV_ACCESS_REMOTE_READ});
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
  ibv_mr* mr = ibv_reg_mr_iova2(pd, buffer, 100, 0, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING);
  BOOST_REQUIRE(mr != nullptr);
  BOOST_TEST(last().access == 1u);
  BOOST_TEST(ibv_dereg_mr(mr) == 0);
}

// ibv_reg_mr(3): programs give these two values for the whole address space.
BOOST_AUTO_TEST_CASE(memory_on_demand_is_not_looked_at) {
  ibv_mr* mr = ibv_reg_mr(pd, nullptr, SIZE_MAX, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_LOCAL_WRITE);
  BOOST_REQUIRE(mr != nullptr);
  BOOST_TEST(last().length == SIZE_MAX);
  BOOST_TEST(last().access == unsigned{IBV_ACCESS_ON_DEMAND | IBV_ACCESS_LOCAL_WRITE});
  BOOST_TEST(ibv_dereg_mr(mr) == 0);
  BOOST_TEST(refusal(buffer, 100, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB) == EINVAL);  // small pages
}

BOOST_AUTO_TEST_CASE(advice_brings_pages_in) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto* const memory =
      static_cast<char*>(mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const auto is_there = [&](std::size_t number) {
    unsigned char resident = 0;
    return mincore(memory + number * page, page, &resident) == 0 && (resident & 1) != 0;
  };
  const auto advise = [&](ibv_advise_mr_advice advice, std::uint32_t flags, std::size_t first) {
    ibv_sge range{reinterpret_cast<std::uintptr_t>(memory) + first * page + 8, 16, 0x77};
    return ibv_advise_mr(pd, advice, flags, &range, 1);
  };
  BOOST_TEST(advise(IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, IBV_ADVISE_MR_FLAG_FLUSH, 0) == 0);
  BOOST_TEST(!is_there(0));
  BOOST_TEST(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH, 1) == 0);
  BOOST_TEST(is_there(1));
  BOOST_TEST(advise(IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, IBV_ADVISE_MR_FLAG_FLUSH, 2) == 0);
  BOOST_TEST(is_there(2));
  BOOST_TEST(!is_there(3));
  const auto request = fake_device().last_request<abi::AdviseMrRequest>(abi::ControlOpcode::advise_mr);
  BOOST_TEST(request.lkey == 0x77u);
  BOOST_TEST(request.length == 16u);
  BOOST_TEST(request.advice == unsigned{IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE});
  munmap(memory, 4 * page);
  BOOST_TEST(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH, 1) == EFAULT);
  BOOST_TEST(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, 0, 1) == 0);  // without FLUSH, errors are not reported
  BOOST_TEST(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, 2, 1) == EINVAL);
  BOOST_TEST(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, nullptr, 0) == EINVAL);
  fake_device().refuse_next(abi::ControlOpcode::advise_mr, EPERM);
  BOOST_TEST(advise(IBV_ADVISE_MR_ADVICE_PREFETCH, 0, 1) == EPERM);
}

// ibv_alloc_null_mr(3)
BOOST_AUTO_TEST_CASE(the_null_region_has_all_the_length_there_is_and_no_rkey) {
  ibv_mr* mr = ibv_alloc_null_mr(pd);
  BOOST_REQUIRE(mr != nullptr);
  BOOST_TEST(mr->length == SIZE_MAX);
  BOOST_TEST(mr->lkey != 0u);
  BOOST_TEST(mr->rkey == 0u);
  BOOST_CHECK(mr->pd == pd);
  BOOST_CHECK(mr->context == context);
  BOOST_TEST(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, 0) == IBV_REREG_MR_ERR_INPUT);
  BOOST_TEST(ibv_dereg_mr(mr) == 0);
  fake_device().refuse_next(abi::ControlOpcode::allocate_null_mr, ENOMEM);
  BOOST_CHECK(ibv_alloc_null_mr(pd) == nullptr);
  BOOST_TEST(errno == ENOMEM);
}

// ibv_alloc_dm(3)
BOOST_AUTO_TEST_CASE(device_memory_is_copied_in_words_within_its_bounds) {
  ibv_alloc_dm_attr attributes{102, 6, 0};
  ibv_dm* dm = ibv_alloc_dm(context, &attributes);
  BOOST_REQUIRE(dm != nullptr);
  const auto request = fake_device().last_request<abi::AllocateDmRequest>(abi::ControlOpcode::allocate_dm);
  BOOST_TEST(request.length == 102u);
  BOOST_TEST(request.log_alignment == 6u);
  char there[8] = "abcdefg", back[8] = {};
  BOOST_TEST(ibv_memcpy_to_dm(dm, 92, there, 8) == 0);
  BOOST_TEST(ibv_memcpy_from_dm(back, dm, 92, 8) == 0);
  BOOST_TEST(std::string(back) == "abcdefg");
  BOOST_TEST(ibv_memcpy_to_dm(dm, 1, there, 4) == EINVAL);
  BOOST_TEST(ibv_memcpy_to_dm(dm, 0, there, 3) == EINVAL);
  BOOST_TEST(ibv_memcpy_to_dm(dm, 96, there, 8) == EINVAL);
  BOOST_TEST(ibv_memcpy_to_dm(dm, 104, there, 0) == EINVAL);
  BOOST_TEST(ibv_memcpy_from_dm(back, dm, 2, 4) == EINVAL);
  BOOST_TEST(ibv_memcpy_from_dm(back, dm, 4, 2) == EINVAL);
  BOOST_TEST(ibv_memcpy_from_dm(back, dm, 100, 4) == EINVAL);
  BOOST_TEST(ibv_memcpy_from_dm(back, dm, ~std::uint64_t{3}, 8) == EINVAL);
  ibv_mr* mr = ibv_reg_dm_mr(pd, dm, 4, 90, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE);
  BOOST_REQUIRE(mr != nullptr);
  const auto region =
      fake_device().last_request<abi::RegisterDmMrRequest>(abi::ControlOpcode::register_dm_mr);
  BOOST_TEST(region.offset == 4u);
  BOOST_TEST(region.length == 90u);
  BOOST_TEST(region.dm == dm->handle);
  BOOST_TEST(mr->length == 90u);
  BOOST_CHECK(mr->addr == nullptr);
  BOOST_TEST(mr->rkey != 0u);
  BOOST_TEST(ibv_dereg_mr(mr) == 0);
  fake_device().refuse_next(abi::ControlOpcode::free_dm, EBUSY);
  BOOST_TEST(ibv_free_dm(dm) == EBUSY);
  BOOST_TEST(ibv_free_dm(dm) == 0);
  attributes.comp_mask = 1;
  BOOST_CHECK(ibv_alloc_dm(context, &attributes) == nullptr);
}

BOOST_AUTO_TEST_CASE(attributes_of_memory_are_passed_on) {
  ibv_device_attr_ex attributes{};
  BOOST_REQUIRE(ibv_query_device_ex(context, nullptr, &attributes) == 0);
  BOOST_TEST(attributes.odp_caps.general_caps == std::uint64_t{IBV_ODP_SUPPORT});
  BOOST_TEST(attributes.odp_caps.per_transport_caps.rc_odp_caps == unsigned{IBV_ODP_SUPPORT_SEND});
  BOOST_TEST(attributes.odp_caps.per_transport_caps.uc_odp_caps == unsigned{IBV_ODP_SUPPORT_RECV});
  BOOST_TEST(attributes.odp_caps.per_transport_caps.ud_odp_caps == unsigned{IBV_ODP_SUPPORT_WRITE});
  BOOST_TEST(attributes.xrc_odp_caps == unsigned{IBV_ODP_SUPPORT_READ});
  BOOST_TEST(attributes.max_dm_size == 4096u);
}

BOOST_AUTO_TEST_CASE(memory_that_is_not_there_or_not_writable_is_a_fault) {
  void* read_only = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const unsigned before = fake_device().requests(abi::ControlOpcode::register_mr);
  BOOST_TEST(refusal(read_only, 4096, IBV_ACCESS_LOCAL_WRITE) == EFAULT);
  BOOST_TEST(refusal(nullptr, 4096, 0) == EFAULT);
  BOOST_TEST(fake_device().requests(abi::ControlOpcode::register_mr) == before);
  ibv_mr* mr = ibv_reg_mr(pd, read_only, 4096, int{IBV_ACCESS_REMOTE_READ});
  BOOST_REQUIRE(mr != nullptr);
  BOOST_TEST(ibv_dereg_mr(mr) == 0);
  munmap(read_only, 4096);
}

// Of these tests' own context: another one's opening leaves a reserved one, too.
BOOST_AUTO_TEST_CASE(a_reserved_protection_domain_needs_no_answer) {
  const auto allocated = [] { return fake_device().requests(abi::ControlOpcode::allocate_pd); };
  const auto of_reserve = [] { return fake_device().requests(abi::ControlOpcode::allocate_reserved_pd); };
  const auto last_reserved = [] {
    return fake_device().last_request<abi::HandleRequest>(abi::ControlOpcode::allocate_reserved_pd).handle;
  };
  ibv_context* own = ibv_open_device(pd->context->device);
  BOOST_REQUIRE(own != nullptr);
  const unsigned asked = allocated();
  const unsigned reserved = of_reserve();
  ibv_pd* first = ibv_alloc_pd(own);
  ibv_pd* second = ibv_alloc_pd(own);
  BOOST_REQUIRE((first != nullptr && second != nullptr));
  BOOST_TEST(of_reserve() == reserved + 1);
  BOOST_TEST(last_reserved() == first->handle);
  BOOST_TEST(allocated() == asked + 1);
  BOOST_TEST(second->handle != first->handle);
  const std::uint32_t old_handle = first->handle;
  BOOST_TEST(ibv_dealloc_pd(first) == 0);
  ibv_pd* third = ibv_alloc_pd(own);
  BOOST_REQUIRE(third != nullptr);
  BOOST_TEST(ibv_dealloc_pd(second) == 0);  // after this the device has read it
  BOOST_TEST(of_reserve() == reserved + 2);
  BOOST_TEST(last_reserved() == third->handle);
  BOOST_TEST(third->handle != old_handle);
  BOOST_TEST(allocated() == asked + 1);
  BOOST_TEST(ibv_dealloc_pd(third) == 0);
  BOOST_TEST(ibv_close_device(own) == 0);
}

BOOST_AUTO_TEST_CASE(the_devices_refusal_is_the_callers_errno) {
  fake_device().refuse_next(abi::ControlOpcode::register_mr, EPERM);
  BOOST_TEST(refusal(buffer, 100, 0) == EPERM);
  fake_device().refuse_next(abi::ControlOpcode::deallocate_pd, EBUSY);
  BOOST_TEST(ibv_dealloc_pd(pd) == EBUSY);
}

BOOST_AUTO_TEST_CASE(reregistration_changes_what_its_flags_say) {
  ibv_mr* mr = ibv_reg_mr(pd, buffer, 100, int{IBV_ACCESS_LOCAL_WRITE});
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
