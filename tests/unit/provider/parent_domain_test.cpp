// Thread domains and parent domains, through libibverbs.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstdlib>
#include <map>

#include "tests/unit/provider/rig.hpp"

namespace urnic::test {
namespace {

// The program's allocator, which records its allocations.
struct Account {
  struct Allocation {
    std::size_t size;
    std::size_t alignment;
    std::uint64_t use;
  };
  std::map<void*, Allocation> held;
  bool has_memory = true;
  bool leaves_it = false;
  ibv_pd* domain = nullptr;  // of the last call

  static void* allocate(ibv_pd* pd, void* context, std::size_t size, std::size_t alignment,
                        std::uint64_t use) {
    auto& account = *static_cast<Account*>(context);
    account.domain = pd;
    if (account.leaves_it) return IBV_ALLOCATOR_USE_DEFAULT;
    if (!account.has_memory) return nullptr;
    void* memory = std::aligned_alloc(alignment, size);
    account.held[memory] = {size, alignment, use};
    return memory;
  }
  static void free(ibv_pd*, void* context, void* memory, std::uint64_t use) {
    auto& account = *static_cast<Account*>(context);
    BOOST_REQUIRE(account.held.count(memory) == 1u);
    BOOST_TEST(account.held[memory].use == use);
    account.held.erase(memory);
    std::free(memory);
  }
};

struct Domains : Rig {
  Account account;

  ibv_pd* make_parent(ibv_td* td = nullptr, std::uint32_t mask = 0) {
    ibv_parent_domain_init_attr attributes{};
    attributes.pd = pd;
    attributes.td = td;
    attributes.comp_mask = mask;
    attributes.alloc = &Account::allocate;
    attributes.free = &Account::free;
    attributes.pd_context = &account;
    return ibv_alloc_parent_domain(context, &attributes);
  }
  ibv_pd* make_allocating_parent() {
    return make_parent(nullptr,
                       IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT);
  }
  ibv_qp* make_qp(ibv_pd* in) const {
    ibv_qp_init_attr attributes{};
    attributes.send_cq = attributes.recv_cq = cq;
    attributes.cap = {4, 4, 1, 1, 0};
    attributes.qp_type = IBV_QPT_RC;
    return ibv_create_qp(in, &attributes);
  }
  ibv_cq_ex* make_cq(ibv_pd* in) const {
    ibv_cq_init_attr_ex attributes{};
    attributes.cqe = 8;
    attributes.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
    attributes.parent_domain = in;
    return ibv_create_cq_ex(context, &attributes);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(parent_domain, Domains)

BOOST_AUTO_TEST_CASE(to_the_device_it_is_the_protection_domain) {
  ibv_pd* parent = make_parent();
  BOOST_REQUIRE(parent != nullptr);
  BOOST_TEST(parent->handle == pd->handle);
  BOOST_TEST(ibv_dealloc_pd(parent) == 0);
}

BOOST_AUTO_TEST_CASE(a_domain_in_use_is_busy) {
  ibv_td_init_attr nothing{};
  ibv_td* td = ibv_alloc_td(context, &nothing);
  BOOST_REQUIRE(td != nullptr);
  ibv_pd* parent = make_parent(td);
  BOOST_REQUIRE(parent != nullptr);
  BOOST_TEST(ibv_dealloc_pd(pd) == EBUSY);
  BOOST_TEST(ibv_dealloc_td(td) == EBUSY);
  ibv_qp* inside = make_qp(parent);
  BOOST_REQUIRE(inside != nullptr);
  BOOST_TEST(ibv_dealloc_pd(parent) == EBUSY);
  BOOST_TEST(ibv_destroy_qp(inside) == 0);
  ibv_cq_ex* queue = make_cq(parent);
  BOOST_REQUIRE(queue != nullptr);
  BOOST_TEST(ibv_dealloc_pd(parent) == EBUSY);
  BOOST_TEST(ibv_destroy_cq(ibv_cq_ex_to_cq(queue)) == 0);
  BOOST_TEST(ibv_dealloc_pd(parent) == 0);
  BOOST_TEST(ibv_dealloc_td(td) == 0);
}

BOOST_AUTO_TEST_CASE(the_programs_allocator_gives_what_the_provider_keeps_for_a_qp) {
  ibv_pd* parent = make_allocating_parent();
  ibv_qp* inside = make_qp(parent);
  BOOST_REQUIRE(inside != nullptr);
  BOOST_TEST(account.held.size() == 2u);
  for (const auto& [memory, allocation] : account.held) {
    BOOST_TEST(allocation.size == FakeDevice::kSendSlots * sizeof(std::uint64_t));
    BOOST_TEST(reinterpret_cast<std::uintptr_t>(memory) % allocation.alignment == 0u);
  }
  BOOST_CHECK(account.domain == parent);
  BOOST_TEST(ibv_destroy_qp(inside) == 0);
  BOOST_TEST(account.held.size() == 0u);
  BOOST_TEST(ibv_dealloc_pd(parent) == 0);
}

BOOST_AUTO_TEST_CASE(an_allocator_may_leave_it_to_the_provider) {
  account.leaves_it = true;
  ibv_pd* parent = make_allocating_parent();
  ibv_qp* inside = make_qp(parent);
  BOOST_REQUIRE(inside != nullptr);
  BOOST_CHECK(account.domain == parent);
  BOOST_TEST(ibv_destroy_qp(inside) == 0);
  BOOST_TEST(ibv_dealloc_pd(parent) == 0);
}

BOOST_AUTO_TEST_CASE(without_memory_there_is_no_qp) {
  account.has_memory = false;
  ibv_pd* parent = make_allocating_parent();
  errno = 0;
  BOOST_CHECK(make_qp(parent) == nullptr);
  BOOST_TEST(errno == ENOMEM);
  BOOST_TEST(ibv_dealloc_pd(parent) == 0);
}

BOOST_AUTO_TEST_CASE(without_the_mask_there_is_no_allocator) {
  ibv_pd* parent = make_parent();
  ibv_qp* inside = make_qp(parent);
  BOOST_CHECK(account.domain == nullptr);
  BOOST_TEST(ibv_destroy_qp(inside) == 0);
  BOOST_TEST(ibv_dealloc_pd(parent) == 0);
}

BOOST_AUTO_TEST_CASE(nonsense_is_refused) {
  ibv_pd* parent = make_parent();
  ibv_parent_domain_init_attr of_a_parent{};
  of_a_parent.pd = parent;
  BOOST_CHECK(ibv_alloc_parent_domain(context, &of_a_parent) == nullptr);
  BOOST_TEST(errno == EINVAL);
  BOOST_CHECK(make_parent(nullptr, 1u << 5) == nullptr);
  BOOST_TEST(errno == EOPNOTSUPP);
  ibv_parent_domain_init_attr of_nothing{};
  BOOST_CHECK(ibv_alloc_parent_domain(context, &of_nothing) == nullptr);
  BOOST_CHECK(make_cq(pd) == nullptr);
  BOOST_TEST(errno == EINVAL);
  BOOST_TEST(ibv_dealloc_pd(parent) == 0);
  ibv_td_init_attr unknown{1};
  BOOST_CHECK(ibv_alloc_td(context, &unknown) == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::test
