// Methods of ioctl(2) on a device with the mlx5 face (control/mlx5/*_methods.cpp): device memory, and what
// importing contexts ask.
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <sys/mman.h>

#include <boost/test/unit_test.hpp>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/mlx5/mlx5_limits.hpp"
#include "tests/unit/control/mlx5_method.hpp"

namespace urnic::control::test {
namespace mlx5_methods {

struct Methods {
  Machine machine;
  OpenMlx5Program program{machine};

  static UverbsMethod allocation(std::uint64_t length, std::uint32_t log_alignment = 0) {
    UverbsMethod method(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC);
    method.asking(UVERBS_ATTR_ALLOC_DM_HANDLE)
        .with(UVERBS_ATTR_ALLOC_DM_LENGTH, length)
        .with(UVERBS_ATTR_ALLOC_DM_ALIGNMENT, log_alignment)
        .asking(MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET)
        .asking(MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, 2);
    return method;
  }
  int free(std::uint32_t handle) {
    return UverbsMethod(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE)
        .with(UVERBS_ATTR_FREE_DM_HANDLE, handle)
        .run(program);
  }
  static UverbsMethod registration(std::uint32_t pd, std::uint32_t dm, std::uint64_t offset,
                                   std::uint64_t length, std::uint32_t access) {
    UverbsMethod method(UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG);
    method.asking(UVERBS_ATTR_REG_DM_MR_HANDLE)
        .with(UVERBS_ATTR_REG_DM_MR_OFFSET, offset)
        .with(UVERBS_ATTR_REG_DM_MR_LENGTH, length)
        .with(UVERBS_ATTR_REG_DM_MR_PD_HANDLE, pd)
        .with(UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, access)
        .with(UVERBS_ATTR_REG_DM_MR_DM_HANDLE, dm)
        .asking(UVERBS_ATTR_REG_DM_MR_RESP_LKEY, 4)
        .asking(UVERBS_ATTR_REG_DM_MR_RESP_RKEY, 4);
    return method;
  }
  int map(std::uint16_t page, std::uint64_t length, abi::MapPagesReply& mapped,
          std::uint32_t protection = PROT_READ | PROT_WRITE) {
    const std::uint64_t pages =
        std::uint64_t{MLX5_IB_MMAP_DEVICE_MEM} << 8 | (page & 0xFFu) | std::uint64_t{page} >> 8 << 16;
    return program.call(ControlOpcode::map_pages, abi::MapPagesRequest{pages * 4096, length, protection, 0},
                        mapped);
  }
};

constexpr std::uint32_t kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ZERO_BASED;

}  // namespace mlx5_methods

BOOST_AUTO_TEST_SUITE(mlx5_methods)

// libmlx5 finds the memory in the pages that it maps by the number, from the offset on.
BOOST_FIXTURE_TEST_CASE(device_memory_is_mapped_by_its_number, Methods) {
  for (int i = 0; i < 300; ++i) {  // more than the first part of an index holds
    UverbsMethod method = allocation(128);
    BOOST_REQUIRE(method.run(program) == 0);
    const std::uint32_t handle = method.handle(UVERBS_ATTR_ALLOC_DM_HANDLE);
    const DeviceMemory* const memory = program.session().context->device_memories.find(handle);
    BOOST_REQUIRE(memory != nullptr);
    const auto start = method.answer<std::uint64_t>(MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET);
    const auto page = method.answer<std::uint16_t>(MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX);
    BOOST_REQUIRE((start && page));
    abi::MapPagesReply mapped{};
    BOOST_REQUIRE(map(*page, 4096, mapped) == 0);
    BOOST_TEST((mapped.watch == abi::PageWatch::none));
    BOOST_REQUIRE(program.reply().descriptors.size() == 1u);
    auto* const pages =
        static_cast<std::byte*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
                                     program.reply().descriptors[0], static_cast<off_t>(mapped.offset)));
    BOOST_REQUIRE(pages != MAP_FAILED);
    std::memcpy(pages + *start, &i, sizeof i);
    BOOST_TEST(std::memcmp(memory->block.data(), &i, sizeof i) == 0);
    munmap(pages, 4096);
  }
}

BOOST_FIXTURE_TEST_CASE(only_the_pages_of_device_memory_are_mapped, Methods) {
  UverbsMethod method = allocation(5000, 12);
  BOOST_REQUIRE(method.run(program) == 0);
  BOOST_TEST(method.answer<std::uint64_t>(MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET).value() == 0u);
  const auto page = method.answer<std::uint16_t>(MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX).value();
  abi::MapPagesReply mapped{};
  BOOST_TEST(map(page, 8192, mapped) == 0);
  BOOST_TEST(map(page, 4096, mapped) == EINVAL);
  BOOST_TEST(map(page, 12288, mapped) == EINVAL);
  BOOST_TEST(map(page, ~std::uint64_t{4095}, mapped) == EINVAL);
  BOOST_TEST(map(page, 8192, mapped, PROT_READ | PROT_EXEC) == EINVAL);
  BOOST_TEST(map(static_cast<std::uint16_t>(page + 1), 8192, mapped) == EINVAL);
  OpenMlx5Program other(machine);
  BOOST_TEST(other.call(ControlOpcode::map_pages, abi::MapPagesRequest{8u << 20, 8192, PROT_READ, 0},
                        mapped) == EINVAL);
  BOOST_TEST(free(method.handle(UVERBS_ATTR_ALLOC_DM_HANDLE)) == 0);
  BOOST_TEST(map(page, 8192, mapped) == EINVAL);
}

BOOST_FIXTURE_TEST_CASE(device_memory_that_cannot_be_is_refused, Methods) {
  BOOST_TEST(allocation(0).run(program) == EINVAL);
  BOOST_TEST(allocation(limits::kMaxDeviceMemory + 1).run(program) == EINVAL);
  BOOST_TEST(allocation(64, limits::kMaxDeviceMemoryAlignment + 1).run(program) == EINVAL);
  UverbsMethod memic = allocation(64);
  memic.with(MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE, std::uint64_t{MLX5_IB_UAPI_DM_TYPE_MEMIC});
  BOOST_TEST(memic.run(program) == 0);
  UverbsMethod steering = allocation(64);
  steering.with(MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE, std::uint64_t{MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM});
  BOOST_TEST(steering.run(program) == EOPNOTSUPP);
  BOOST_TEST(free(4711) == EINVAL);
  BOOST_TEST(program.session().device.device_memory.used() != 0u);
  BOOST_TEST(free(memic.handle(UVERBS_ATTR_ALLOC_DM_HANDLE)) == 0);
  BOOST_TEST(program.session().device.device_memory.used() == 0u);
}

BOOST_FIXTURE_TEST_CASE(regions_lie_on_device_memory, Methods) {
  const std::uint32_t pd = program.allocate_pd();
  UverbsMethod memory = allocation(4096);
  BOOST_REQUIRE(memory.run(program) == 0);
  const std::uint32_t dm = memory.handle(UVERBS_ATTR_ALLOC_DM_HANDLE);
  UverbsMethod region = registration(pd, dm, 64, 1024, kAccess);
  BOOST_REQUIRE(region.run(program) == 0);
  const std::uint32_t handle = region.handle(UVERBS_ATTR_REG_DM_MR_HANDLE);
  const MemoryRegion* const made = program.session().context->regions.find(handle);
  BOOST_REQUIRE(made != nullptr);
  BOOST_TEST(made->key.value == region.answer<std::uint32_t>(UVERBS_ATTR_REG_DM_MR_RESP_LKEY).value());
  BOOST_TEST(made->key.value == region.answer<std::uint32_t>(UVERBS_ATTR_REG_DM_MR_RESP_RKEY).value());
  BOOST_TEST(free(dm) == EBUSY);
  BOOST_TEST(registration(pd, dm, 4096, 1, kAccess).run(program) == EINVAL);
  BOOST_TEST(registration(pd, dm, 0, 64, IBV_ACCESS_LOCAL_WRITE).run(program) == EINVAL);
  BOOST_TEST(registration(pd, dm + 1, 0, 64, kAccess).run(program) == EINVAL);
  BOOST_TEST(registration(pd + 1, dm, 0, 64, kAccess).run(program) == EINVAL);
  BOOST_TEST(program.run(IB_USER_VERBS_CMD_DEREG_MR, ib_uverbs_dereg_mr{handle}) == 0);
  BOOST_TEST(free(dm) == 0);
}

BOOST_FIXTURE_TEST_CASE(objects_are_asked_for, Methods) {
  const std::uint32_t pd = program.allocate_pd();
  UverbsMethod asked_pd(UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY);
  asked_pd.with(MLX5_IB_ATTR_QUERY_PD_HANDLE, pd).asking(MLX5_IB_ATTR_QUERY_PD_RESP_PDN, 4);
  BOOST_TEST(asked_pd.run(program) == 0);
  BOOST_TEST(asked_pd.answer<std::uint32_t>(MLX5_IB_ATTR_QUERY_PD_RESP_PDN).value() ==
             program.session().context->pds.find(pd)->id.value);
  UverbsMethod memory = allocation(4096);
  BOOST_REQUIRE(memory.run(program) == 0);
  const std::uint32_t dm = memory.handle(UVERBS_ATTR_ALLOC_DM_HANDLE);
  UverbsMethod asked_dm(UVERBS_OBJECT_DM, MLX5_IB_METHOD_DM_QUERY);
  asked_dm.with(MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE, dm)
      .asking(MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX, 2)
      .asking(MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH);
  BOOST_TEST(asked_dm.run(program) == 0);
  BOOST_TEST(asked_dm.answer<std::uint64_t>(MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH).value() == 4096u);
  BOOST_TEST(asked_dm.answer<std::uint16_t>(MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX).value() ==
             memory.answer<std::uint16_t>(MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX).value());
  BOOST_REQUIRE(registration(pd, dm, 0, 100, kAccess).run(program) == 0);
  UverbsMethod asked_mr(UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR);
  asked_mr.with(UVERBS_ATTR_QUERY_MR_HANDLE, std::uint32_t{1}).asking(UVERBS_ATTR_QUERY_MR_RESP_LENGTH);
  BOOST_TEST(asked_mr.run(program) == 0);
  BOOST_TEST(asked_mr.answer<std::uint64_t>(UVERBS_ATTR_QUERY_MR_RESP_LENGTH).value() == 100u);
  for (const auto& [object, method, id] :
       {std::array<unsigned, 3>{UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY, MLX5_IB_ATTR_QUERY_PD_HANDLE},
        {UVERBS_OBJECT_DM, MLX5_IB_METHOD_DM_QUERY, MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE},
        {UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, UVERBS_ATTR_QUERY_MR_HANDLE}}) {
    UverbsMethod nothing(object, method);
    BOOST_TEST(nothing.run(program) == EINVAL);
    nothing.with(static_cast<std::uint16_t>(id), std::uint32_t{4711});
    BOOST_TEST(nothing.run(program) == EINVAL);
  }
}

// An imported context has no doorbell pages but those that it allocates.
BOOST_FIXTURE_TEST_CASE(a_context_is_imported_without_doorbell_pages, Methods) {
  UverbsMethod query(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT);
  query.asking(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, 4)
      .asking(MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, sizeof(mlx5_ib_alloc_ucontext_resp));
  BOOST_REQUIRE(query.run(program) == 0);
  const auto told = query.answer<mlx5_ib_alloc_ucontext_resp>(MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX);
  BOOST_REQUIRE(told.has_value());
  mlx5_ib_alloc_ucontext_resp expected = program.ucontext;
  expected.tot_bfregs = 0;
  BOOST_TEST(std::memcmp(&*told, &expected, sizeof expected) == 0);
  BOOST_TEST(query.answer<std::uint32_t>(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS).value() == 1u);
}

BOOST_FIXTURE_TEST_CASE(doorbell_pages_are_allocated_and_mapped, Methods) {
  const auto allocate = [this](std::uint64_t type, UverbsMethod& method) {
    method.asking(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE)
        .with(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, type)
        .asking(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET)
        .asking(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH)
        .asking(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, 4);
    return method.run(program);
  };
  const auto free_page = [this](std::uint32_t handle) {
    return UverbsMethod(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY)
        .with(MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, handle)
        .run(program);
  };
  std::uint32_t last = 0;
  std::uint64_t offset = 0;
  for (std::uint32_t i = 0; i < mlx5::kDynamicUars; ++i) {
    UverbsMethod method(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC);
    BOOST_REQUIRE(allocate(i % 2, method) == 0);
    last = method.handle(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE);
    offset = method.answer<std::uint64_t>(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET).value();
    BOOST_TEST(method.answer<std::uint32_t>(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID).value() ==
               8 + mlx5::kDedicatedUars + i);
    abi::MapPagesReply mapped{};
    BOOST_TEST(program.call(ControlOpcode::map_pages, abi::MapPagesRequest{offset, 4096, PROT_WRITE, 0},
                            mapped) == 0);
    BOOST_TEST((mapped.watch == abi::PageWatch::stores));
  }
  UverbsMethod one_more(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC);
  BOOST_TEST(allocate(0, one_more) == ENOMEM);
  BOOST_TEST(free_page(last) == 0);
  BOOST_TEST(free_page(last) == EINVAL);
  BOOST_TEST(free_page(0) == EINVAL);  // the program has it from the beginning
  abi::MapPagesReply mapped{};
  BOOST_TEST(program.call(ControlOpcode::map_pages, abi::MapPagesRequest{offset, 4096, PROT_WRITE, 0},
                          mapped) == EINVAL);
  UverbsMethod other_type(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC);
  BOOST_TEST(allocate(2, other_type) == EOPNOTSUPP);
  UverbsMethod again(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC);
  BOOST_TEST(allocate(0, again) == 0);
}

BOOST_FIXTURE_TEST_CASE(attributes_that_lie_are_refused, Methods) {
  UverbsMethod twice = allocation(64);
  twice.with(UVERBS_ATTR_ALLOC_DM_LENGTH, std::uint64_t{64});
  BOOST_TEST(twice.run(program) == EINVAL);
  UverbsMethod short_number(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC);
  short_number.with(UVERBS_ATTR_ALLOC_DM_LENGTH, std::uint32_t{64})
      .with(UVERBS_ATTR_ALLOC_DM_ALIGNMENT, std::uint32_t{0});
  BOOST_TEST(short_number.run(program) == EINVAL);
  UverbsMethod cut = allocation(64);
  const Bytes whole = cut.command.core;
  for (std::size_t length = 1; length < whole.size(); ++length) {
    if (length % 8 == 0) continue;
    cut.command.core = Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    BOOST_TEST(cut.run(program) == EINVAL);
  }
  UverbsMethod many(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE);
  for (std::uint16_t id = 0; id < 40; ++id) many.with(id, std::uint32_t{1});
  BOOST_TEST(many.run(program) == EINVAL);
  UverbsMethod in_one_piece = allocation(64);
  in_one_piece.command.is_apart = false;
  BOOST_TEST(in_one_piece.run(program) == EINVAL);
  BOOST_TEST(program.session().device.device_memory.used() == 0u);
}

BOOST_FIXTURE_TEST_CASE(answers_fit_into_their_room, Methods) {
  UverbsMethod without_room = allocation(64);
  without_room.command.core_room = 0;
  BOOST_TEST(without_room.run(program) == 0);
  BOOST_TEST(program.core.empty());
  UverbsMethod small(UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY);
  small.with(MLX5_IB_ATTR_QUERY_PD_HANDLE, program.allocate_pd()).asking(MLX5_IB_ATTR_QUERY_PD_RESP_PDN, 2);
  BOOST_TEST(small.run(program) == 0);
  BOOST_TEST(small.answer<std::uint16_t>(MLX5_IB_ATTR_QUERY_PD_RESP_PDN).has_value());
  BOOST_TEST(UverbsMethod(UVERBS_OBJECT_DM, 77).run(program) == EOPNOTSUPP);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
