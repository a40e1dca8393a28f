// On-demand paging, its advice, and the null region.
#include <sys/mman.h>
#include <sys/wait.h>

#include <boost/test/unit_test.hpp>
#include <csignal>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/engine/device.hpp"
#include "tests/unit/control/direct_program.hpp"

namespace urnic::control::test {
namespace {

constexpr std::uint64_t kWhole = ~std::uint64_t{0};
constexpr std::uint32_t kOnDemand = IBV_ACCESS_ON_DEMAND;

// A process that does nothing until it is no longer wanted.
class IdleChild {
 public:
  IdleChild() : pid_(fork()) {
    while (pid_ == 0) pause();
  }
  ~IdleChild() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  IdleChild(const IdleChild&) = delete;
  IdleChild& operator=(const IdleChild&) = delete;

  memory::Descriptor pidfd() const {
    return memory::Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  }

 private:
  pid_t pid_;
};

struct Regions {
  Machine machine;
  OpenProgram program{machine};
  abi::RegisterMrReply mr{};
  abi::AdviseMrReply advised{};
  alignas(4096) std::array<std::byte, 8192> memory{};

  std::uint64_t place() const { return reinterpret_cast<std::uint64_t>(memory.data()); }
  int reg(std::uint64_t address, std::uint64_t length, std::uint32_t access) {
    return program.call(ControlOpcode::register_mr,
                        abi::RegisterMrRequest{address, length, address, program.pd, access}, mr);
  }
  int advise(std::uint64_t address, std::uint64_t length,
             std::uint32_t advice = IBV_ADVISE_MR_ADVICE_PREFETCH) {
    const abi::AdviseMrRequest request{address, length, program.pd, mr.lkey, advice, 0};
    return program.call(ControlOpcode::advise_mr, request, advised);
  }
  transport::KeyCheck check(std::uint64_t address, std::uint32_t length, transport::AccessRight right,
                            transport::MemoryRange& range) {
    const transport::PdId pd = program.session().context->pds.find(program.pd)->id;
    return machine.fabric.devices()[0]->device->memory_table().check_local(transport::Lkey{mr.lkey}, pd,
                                                                           address, length, right, range);
  }
  abi::QueryDeviceReply attributes(DirectProgram& of) {
    abi::QueryDeviceReply reply{};
    BOOST_REQUIRE(of.call(ControlOpcode::query_device, abi::Empty{}, reply) == 0);
    return reply;
  }
};

BOOST_FIXTURE_TEST_SUITE(on_demand, Regions)

BOOST_AUTO_TEST_CASE(memory_need_not_be_there) {
  void* const gone = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(gone, 4096);
  const auto address = reinterpret_cast<std::uint64_t>(gone);
  BOOST_TEST(reg(address, 4096, IBV_ACCESS_LOCAL_WRITE) == EFAULT);
  BOOST_TEST(reg(address, 4096, IBV_ACCESS_LOCAL_WRITE | kOnDemand) == 0);
  // What is received must not be left to the program, which would find no memory there either.
  transport::MemoryRange range;
  BOOST_REQUIRE((check(address, 8, transport::AccessRight::local_write, range) == transport::KeyCheck::ok));
  BOOST_TEST(!range.owner_only);
}

BOOST_AUTO_TEST_CASE(the_implicit_region_is_all_of_the_address_space) {
  BOOST_REQUIRE(reg(0, kWhole, IBV_ACCESS_LOCAL_WRITE | kOnDemand) == 0);
  transport::MemoryRange range;
  BOOST_REQUIRE((check(place(), 64, transport::AccessRight::local_write, range) == transport::KeyCheck::ok));
  BOOST_TEST(range.address == place());
}

BOOST_AUTO_TEST_CASE(only_on_demand_and_only_whole_is_implicit) {
  BOOST_TEST(reg(0, kWhole, IBV_ACCESS_LOCAL_WRITE) == EINVAL);
  BOOST_TEST(reg(0, kWhole - 1, kOnDemand) == EINVAL);
  BOOST_TEST(reg(4096, kWhole, kOnDemand) == EINVAL);
  BOOST_TEST(reg(0, limits::kMaxMrSize, kOnDemand) == 0);
  BOOST_TEST(reg(0, limits::kMaxMrSize + 1, kOnDemand) == EINVAL);
  BOOST_TEST(reg(0, kWhole, kOnDemand | IBV_ACCESS_HUGETLB) == EINVAL);  // ibv_reg_mr(3): explicit only
  abi::RegisterMrRequest request{0, kWhole, 4096, program.pd, kOnDemand};
  BOOST_TEST(program.call(ControlOpcode::register_mr, request, mr) == EINVAL);
}

BOOST_AUTO_TEST_CASE(the_attributes_say_what_works) {
  const abi::QueryDeviceReply reply = attributes(program);
  BOOST_TEST(reply.odp_general == (IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT));
  BOOST_TEST(reply.odp_rc == limits::kOnDemandRc);
  BOOST_TEST(reply.odp_ud == limits::kOnDemandUd);
}

// The mem file would write to pages that the process must not, so memory is looked at before.
BOOST_AUTO_TEST_CASE(a_process_that_is_reached_by_its_mem_file_has_none) {
  const IdleChild child;
  const Pipe events = make_pipe();
  abi::OpenContextRequest request{};
  request.version = abi::kControlVersion;
  std::vector<memory::Descriptor> descriptors;
  descriptors.push_back(child.pidfd());  // does not fit the memory: the number proves nothing
  descriptors.push_back(own_memory());
  descriptors.push_back(duplicate(events.read_end.get()));
  descriptors.push_back(duplicate(events.write_end.get()));
  DirectProgram other(machine);
  BOOST_REQUIRE(other.call(ControlOpcode::open_context, request, other.opened, std::move(descriptors)) == 0);
  BOOST_REQUIRE(std::strcmp(other.session().process->memory()->way(), "/proc/PID/mem") == 0);
  BOOST_TEST(attributes(other).odp_general == 0u);
  BOOST_TEST(attributes(other).odp_rc == 0u);
  BOOST_TEST(other.register_mr(other.allocate_pd(), memory.data(), 4096, kOnDemand, mr) == EOPNOTSUPP);
}

// ibv_advise_mr(3)
BOOST_AUTO_TEST_CASE(advice_names_ranges_of_regions_on_demand) {
  BOOST_REQUIRE(reg(place(), 8192, kOnDemand) == 0);
  BOOST_TEST(advise(place() + 100, 50) == 0);
  BOOST_TEST(advised.address == place() + 100);
  BOOST_TEST(advised.is_senders == 1u);
  BOOST_TEST(advise(place(), 8192) == 0);
  BOOST_TEST(advise(place(), 8193) == EFAULT);
  BOOST_TEST(advise(place() - 1, 1) == EFAULT);
  BOOST_TEST(advise(place() + 8192, 0) == 0);
  BOOST_TEST(advise(place() + 8192, 1) == EFAULT);
  BOOST_TEST(advise(place(), kWhole) == EFAULT);
  BOOST_TEST(advise(place(), 1, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT) == 0);
  BOOST_TEST(advise(place(), 1, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE) == EPERM);  // not to be written
  BOOST_TEST(advise(place(), 1, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT + 1) == EOPNOTSUPP);
  ++mr.lkey;
  BOOST_TEST(advise(place(), 1) == ENOENT);
}

BOOST_AUTO_TEST_CASE(advice_for_writing_needs_a_region_that_may_be_written) {
  BOOST_REQUIRE(reg(place(), 8192, kOnDemand | IBV_ACCESS_LOCAL_WRITE) == 0);
  BOOST_TEST(advise(place(), 1, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE) == 0);
}

BOOST_AUTO_TEST_CASE(advice_is_for_regions_on_demand_of_the_domain) {
  BOOST_REQUIRE(reg(place(), 8192, IBV_ACCESS_LOCAL_WRITE) == 0);
  BOOST_TEST(advise(place(), 1) == EINVAL);
  abi::AllocateMwReply window{};
  BOOST_REQUIRE(program.call(ControlOpcode::allocate_mw, abi::AllocateMwRequest{program.pd, 1}, window) == 0);
  mr.lkey = window.rkey;
  BOOST_TEST(advise(place(), 1) == EINVAL);
  BOOST_REQUIRE(reg(place(), 8192, kOnDemand) == 0);
  program.pd = program.allocate_pd();
  BOOST_TEST(advise(place(), 1) == EPERM);
  program.pd = 99;
  BOOST_TEST(advise(place(), 1) == EINVAL);
}

BOOST_AUTO_TEST_CASE(advice_is_told_the_processes_own_addresses) {
  const abi::RegisterMrRequest request{place(), 8192, 0, program.pd, kOnDemand | IBV_ACCESS_ZERO_BASED};
  BOOST_REQUIRE(program.call(ControlOpcode::register_mr, request, mr) == 0);
  BOOST_TEST(advise(16, 8) == 0);
  BOOST_TEST(advised.address == place() + 16);
  DirectProgram child(machine);
  BOOST_REQUIRE(child.join(program.opened.token) == 0);
  const abi::AdviseMrRequest question{16, 8, program.pd, mr.lkey, 0, 0};
  BOOST_REQUIRE(child.call(ControlOpcode::advise_mr, question, advised) == 0);
  BOOST_TEST(advised.is_senders == 0u);
}

// ibv_alloc_null_mr(3)
BOOST_AUTO_TEST_CASE(the_null_region_is_for_its_owner_alone) {
  BOOST_REQUIRE(program.call(ControlOpcode::allocate_null_mr, abi::HandleRequest{program.pd, 0}, mr) == 0);
  transport::MemoryRange range;
  BOOST_TEST((check(0, 0xFFFF'FFFF, transport::AccessRight::local_write, range) == transport::KeyCheck::ok));
  BOOST_TEST(!range.owner_only);
  const transport::PdId pd = program.session().context->pds.find(program.pd)->id;
  for (const auto right : {transport::AccessRight::remote_read, transport::AccessRight::remote_write,
                           transport::AccessRight::remote_atomic}) {
    BOOST_TEST(
        (machine.fabric.devices()[0]->device->memory_table().check_remote(
             wire::Rkey{mr.lkey}, pd, wire::Qpn{2}, 0, 8, right, range) == transport::KeyCheck::no_right));
  }
  const abi::ReregisterMrRequest change{mr.handle, IBV_REREG_MR_CHANGE_ACCESS, {}};
  BOOST_TEST(program.call(ControlOpcode::reregister_mr, change, mr) == EINVAL);
  // It holds no domain: perftest deallocates the domain first.
  BOOST_TEST(program.call(ControlOpcode::deallocate_pd, program.pd) == 0);
  BOOST_TEST(program.call(ControlOpcode::deregister_mr, mr.handle) == 0);
  BOOST_TEST(program.call(ControlOpcode::allocate_null_mr, abi::HandleRequest{99, 0}, mr) == EINVAL);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::control::test
