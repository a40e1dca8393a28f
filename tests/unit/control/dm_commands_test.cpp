// Device memory: sizes, limits, and what keeps it alive.
#include <sys/mman.h>

#include <boost/test/unit_test.hpp>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/engine/device.hpp"
#include "tests/unit/control/direct_program.hpp"

namespace urnic::control::test {
namespace {

constexpr std::uint32_t kAccess = IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE;

struct WithDeviceMemory {
  Machine machine;
  OpenProgram program{machine};
  abi::DmReply dm{};
  abi::RegisterMrReply mr{};

  ServedDevice& device() { return *machine.fabric.devices()[0]; }
  int allocate(std::uint64_t length, std::uint32_t log_alignment = 0) {
    return program.call(ControlOpcode::allocate_dm, abi::AllocateDmRequest{length, log_alignment, 0}, dm);
  }
  int reg(std::uint64_t offset, std::uint64_t length, std::uint32_t access = kAccess) {
    const abi::RegisterDmMrRequest request{offset, length, program.pd, dm.handle, access, 0};
    return program.call(ControlOpcode::register_dm_mr, request, mr);
  }
};

BOOST_FIXTURE_TEST_SUITE(dm_commands, WithDeviceMemory)

BOOST_AUTO_TEST_CASE(a_program_maps_what_the_device_has) {
  BOOST_REQUIRE(allocate(1000) == 0);
  BOOST_TEST(dm.length == 1000u);
  BOOST_REQUIRE(dm.memory.arena_is_new == 1u);
  BOOST_REQUIRE(program.reply().descriptors.size() == 1);
  auto* const mapped = static_cast<std::byte*>(mmap(nullptr, dm.memory.arena_size, PROT_READ | PROT_WRITE,
                                                    MAP_SHARED, program.reply().descriptors[0], 0));
  BOOST_REQUIRE(mapped != MAP_FAILED);
  std::byte* const bytes = mapped + dm.memory.offset;
  bytes[10] = std::byte{42};
  std::byte seen{};
  memory::Transfer transfer{10, {&seen, 1}, false};
  memory::ApplicationMemory& memory = *program.session().context->device_memories.find(dm.handle)->memory;
  memory.read({&transfer, 1});
  BOOST_TEST((!transfer.failed && seen == std::byte{42}));
  transfer.address = 1000;  // behind its end, although the block goes on
  memory.read({&transfer, 1});
  BOOST_TEST(transfer.failed);
  munmap(mapped, dm.memory.arena_size);
}

BOOST_AUTO_TEST_CASE(sizes_are_limited) {
  BOOST_TEST(allocate(0) == EINVAL);
  BOOST_TEST(allocate(limits::kMaxDeviceMemory + 1) == EINVAL);
  BOOST_TEST(allocate(4, limits::kMaxDeviceMemoryAlignment + 1) == EINVAL);
  BOOST_TEST(allocate(~std::uint64_t{0}) == EINVAL);
  BOOST_TEST(device().device_memory.used() == 0u);
  abi::QueryDeviceReply attributes{};
  BOOST_REQUIRE(program.call(ControlOpcode::query_device, abi::Empty{}, attributes) == 0);
  BOOST_TEST(attributes.max_dm_size == limits::kMaxDeviceMemory);
}

BOOST_AUTO_TEST_CASE(all_programs_together_have_what_there_is) {
  BOOST_REQUIRE(allocate(limits::kMaxDeviceMemory) == 0);
  OpenProgram other(machine);
  abi::DmReply more{};
  const abi::AllocateDmRequest smallest{1, 0, 0};
  BOOST_TEST(other.call(ControlOpcode::allocate_dm, smallest, more) == ENOMEM);
  BOOST_TEST(program.call(ControlOpcode::free_dm, dm.handle) == 0);
  BOOST_TEST(device().device_memory.used() == 0u);
  BOOST_TEST(other.call(ControlOpcode::allocate_dm, smallest, more) == 0);
  BOOST_TEST(allocate(limits::kMaxDeviceMemory) == ENOMEM);
}

BOOST_AUTO_TEST_CASE(alignment_is_given) {
  for (std::uint32_t log = 0; log <= limits::kMaxDeviceMemoryAlignment; ++log) {
    BOOST_REQUIRE(allocate(4) == 0);
    BOOST_REQUIRE(allocate(4, log) == 0);
    BOOST_TEST(dm.memory.offset % (1u << log) == 0u);
  }
}

BOOST_AUTO_TEST_CASE(it_is_zero_at_first) {
  BOOST_REQUIRE(allocate(64) == 0);
  const DeviceMemory* memory = program.session().context->device_memories.find(dm.handle);
  memory->block.data()[5] = std::byte{1};
  BOOST_REQUIRE(program.call(ControlOpcode::free_dm, dm.handle) == 0);
  BOOST_REQUIRE(allocate(64) == 0);
  memory = program.session().context->device_memories.find(dm.handle);
  BOOST_TEST((memory->block.data()[5] == std::byte{0}));
}

// ibv_alloc_dm(3)
BOOST_AUTO_TEST_CASE(a_region_of_it_counts_from_its_own_beginning) {
  BOOST_REQUIRE(allocate(100) == 0);
  BOOST_REQUIRE(reg(40, 60) == 0);
  transport::MemoryRange range;
  const transport::PdId pd = program.session().context->pds.find(program.pd)->id;
  const auto check = [&](std::uint64_t address) {
    return device().device->memory_table().check_local(transport::Lkey{mr.lkey}, pd, address, 1,
                                                       transport::AccessRight::local_write, range);
  };
  BOOST_TEST((check(0) == transport::KeyCheck::ok));
  BOOST_TEST(range.address == 40u);
  BOOST_TEST(!range.owner_only);  // the program could not put it there by its address
  BOOST_TEST((check(59) == transport::KeyCheck::ok));
  BOOST_TEST((check(60) == transport::KeyCheck::out_of_bounds));
}

BOOST_AUTO_TEST_CASE(regions_lie_within_and_are_zero_based) {
  BOOST_REQUIRE(allocate(100) == 0);
  BOOST_TEST(reg(0, 100) == 0);
  BOOST_TEST(reg(100, 0) == 0);
  BOOST_TEST(reg(0, 101) == EINVAL);
  BOOST_TEST(reg(1, 100) == EINVAL);
  BOOST_TEST(reg(101, 0) == EINVAL);
  BOOST_TEST(reg(1, ~std::uint64_t{0}) == EINVAL);
  BOOST_TEST(reg(0, 4, IBV_ACCESS_LOCAL_WRITE) == EINVAL);
  BOOST_TEST(reg(0, 4, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_WRITE) == EINVAL);
  BOOST_TEST(reg(0, 4, kAccess | IBV_ACCESS_ON_DEMAND) == EINVAL);
  BOOST_TEST(reg(0, 4, kAccess | 1 << 8) == EOPNOTSUPP);  // IBV_ACCESS_FLUSH_GLOBAL
  BOOST_TEST(reg(0, 4, kAccess | IBV_ACCESS_RELAXED_ORDERING) == 0);
  ++dm.handle;
  BOOST_TEST(reg(0, 4) == EINVAL);
}

BOOST_AUTO_TEST_CASE(it_is_busy_while_it_is_registered) {
  BOOST_REQUIRE(allocate(100) == 0);
  BOOST_REQUIRE(reg(0, 4) == 0);
  BOOST_TEST(program.call(ControlOpcode::free_dm, dm.handle) == EBUSY);
  const abi::ReregisterMrRequest change{mr.handle, IBV_REREG_MR_CHANGE_ACCESS, {}};
  abi::RegisterMrReply unused{};
  BOOST_TEST(program.call(ControlOpcode::reregister_mr, change, unused) == EINVAL);
  BOOST_TEST(program.call(ControlOpcode::deregister_mr, mr.handle) == 0);
  BOOST_TEST(program.call(ControlOpcode::free_dm, dm.handle) == 0);
  BOOST_TEST(program.call(ControlOpcode::free_dm, dm.handle) == EINVAL);
}

BOOST_AUTO_TEST_CASE(it_goes_with_its_program) {
  BOOST_REQUIRE(allocate(100) == 0);
  BOOST_REQUIRE(reg(0, 100) == 0);
  program.session().context.reset();
  BOOST_TEST(device().device_memory.used() == 0u);
  BOOST_TEST(device().memory_regions.used() == 0u);
}

BOOST_AUTO_TEST_CASE(it_is_known_in_its_context_only) {
  BOOST_REQUIRE(allocate(100) == 0);
  DirectProgram joined(machine);
  BOOST_REQUIRE(joined.join(program.opened.token) == 0);
  abi::DmReply imported{};
  const abi::HandleRequest handle{dm.handle, 0};
  BOOST_TEST(joined.call(ControlOpcode::import_dm, handle, imported) == 0);
  BOOST_TEST(imported.length == 100u);
  BOOST_TEST(imported.memory.arena == dm.memory.arena);
  BOOST_TEST(imported.memory.offset == dm.memory.offset);
  BOOST_TEST(imported.memory.arena_is_new == 1u);
  OpenProgram other(machine);
  BOOST_TEST(other.call(ControlOpcode::import_dm, handle, imported) == EINVAL);
  BOOST_TEST(other.call(ControlOpcode::free_dm, dm.handle) == EINVAL);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::control::test
