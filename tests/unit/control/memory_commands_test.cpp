// Memory regions and windows: what may be registered, and what keeps them alive.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/memory/mapped_memory.hpp"
#include "tests/unit/control/direct_program.hpp"

namespace urnic::control::test {
namespace memory_commands {

constexpr std::size_t kPage = 4096;

// Three pages: readable and writable, readable only, none.
class Pages {
 public:
  Pages() {
    start_ = static_cast<std::byte*>(
        mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(start_ + kPage, kPage, PROT_READ);
    munmap(start_ + 2 * kPage, kPage);
  }
  ~Pages() { munmap(start_, 2 * kPage); }
  std::byte* writable() const { return start_; }
  std::byte* read_only() const { return start_ + kPage; }
  std::byte* missing() const { return start_ + 2 * kPage; }

 private:
  std::byte* start_;
};

struct WithPages {
  Machine machine;
  OpenProgram program{machine};
  Pages pages;
  abi::RegisterMrReply mr{};

  int reg(const std::byte* address, std::uint64_t length, std::uint32_t access) {
    return program.register_mr(program.pd, address, length, access, mr);
  }
  memory::MemoryTable& table() { return machine.fabric.devices()[0]->device->memory_table(); }
  transport::PdId pd_id() { return program.session().context->pds.find(program.pd)->id; }
};

BOOST_FIXTURE_TEST_SUITE(memory_commands, WithPages)

BOOST_AUTO_TEST_CASE(a_region_is_usable_until_it_is_deregistered) {
  BOOST_REQUIRE(reg(pages.writable(), kPage, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ) == 0);
  BOOST_TEST(mr.lkey == mr.rkey);
  transport::MemoryRange range;
  const auto check = [&] {
    return table().check_remote(wire::Rkey{mr.rkey}, pd_id(), wire::Qpn{2},
                                reinterpret_cast<std::uint64_t>(pages.writable()), 16,
                                transport::AccessRight::remote_read, range);
  };
  BOOST_TEST((check() == transport::KeyCheck::ok));
  BOOST_TEST(program.call(ControlOpcode::deregister_mr, mr.handle) == 0);
  BOOST_TEST((check() == transport::KeyCheck::unknown_key));
  BOOST_TEST(program.call(ControlOpcode::deregister_mr, mr.handle) == EINVAL);
}

BOOST_AUTO_TEST_CASE(memory_that_is_not_there_is_efault) {
  BOOST_TEST(reg(pages.missing(), kPage, 0) == EFAULT);
  BOOST_TEST(reg(pages.writable(), 3 * kPage, 0) == EFAULT);  // the last page
  BOOST_TEST(reg(nullptr, kPage, 0) == EFAULT);
  BOOST_TEST(reg(pages.writable(), 2 * kPage, 0) == 0);
}

BOOST_AUTO_TEST_CASE(memory_that_cannot_be_written_is_efault_for_writers) {
  BOOST_TEST(reg(pages.read_only(), kPage, 0) == 0);
  BOOST_TEST(reg(pages.read_only(), kPage, IBV_ACCESS_REMOTE_READ) == 0);
  BOOST_TEST(reg(pages.read_only(), kPage, IBV_ACCESS_LOCAL_WRITE) == EFAULT);
  BOOST_TEST(reg(pages.read_only(), kPage, IBV_ACCESS_MW_BIND) == EFAULT);
  BOOST_TEST(reg(pages.writable(), 2 * kPage, IBV_ACCESS_LOCAL_WRITE) == EFAULT);
}

// A file of memory, mapped for all to see.
class SharedPages {
 public:
  explicit SharedPages(memory::Descriptor from) : file(std::move(from)) {
    BOOST_REQUIRE(file);
    BOOST_REQUIRE(ftruncate(file.get(), 4 * kPage) == 0);
    void* const mapped = mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    BOOST_REQUIRE(mapped != MAP_FAILED);
    start = static_cast<std::byte*>(mapped);
  }
  ~SharedPages() { munmap(start, 4 * kPage); }
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;

  memory::Descriptor file;
  std::byte* start;
};

memory::Descriptor memory_file() { return memory::Descriptor(memfd_create("urnic-test", MFD_CLOEXEC)); }

BOOST_AUTO_TEST_CASE(memory_that_is_shared_already_is_mapped) {
  constexpr std::uint32_t kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
  const auto way = [&] {
    return std::string_view(program.session().context->regions.find(mr.handle)->spec.memory->way());
  };
  SharedPages shared(memory_file());
  BOOST_REQUIRE(reg(shared.start + 100, 2 * kPage, kAll) == 0);
  BOOST_TEST(way() == "mapped");
  shared.start[100] = std::byte{77};
  std::array<std::byte, 2> seen{};
  memory::Transfer transfer{reinterpret_cast<std::uint64_t>(shared.start) + 100, seen, false};
  program.session().context->regions.find(mr.handle)->spec.memory->read({&transfer, 1});
  BOOST_TEST((!transfer.failed && seen[0] == std::byte{77}));
  BOOST_TEST(program.call(ControlOpcode::deregister_mr, mr.handle) == 0);
  BOOST_TEST(memory::MappedMemory::count() == 0u);

  BOOST_REQUIRE(reg(pages.writable(), kPage, kAll) == 0);
  BOOST_TEST(way() != "mapped");
  abi::ReregisterMrRequest change{};
  change.handle = mr.handle;
  change.flags = IBV_REREG_MR_CHANGE_TRANSLATION;
  change.change = {reinterpret_cast<std::uint64_t>(shared.start), kPage,
                   reinterpret_cast<std::uint64_t>(shared.start), 0, kAll};
  BOOST_REQUIRE(program.call(ControlOpcode::reregister_mr, change, mr) == 0);
  BOOST_TEST(way() == "mapped");
  BOOST_TEST(program.call(ControlOpcode::deregister_mr, mr.handle) == 0);

  shared.file.reset();  // nobody can find it any more
  BOOST_REQUIRE(reg(shared.start, kPage, kAll) == 0);
  BOOST_TEST(way() != "mapped");
}

BOOST_AUTO_TEST_CASE(a_file_in_dev_shm_is_found_by_its_name) {
  const std::string name = "/urnic-test-" + std::to_string(getpid());
  memory::Descriptor file(shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600));
  if (!file) {
    BOOST_TEST_MESSAGE("left out: there is no /dev/shm here");
    return;
  }
  SharedPages shared(std::move(file));
  shared.file.reset();
  BOOST_REQUIRE(reg(shared.start, kPage, IBV_ACCESS_LOCAL_WRITE) == 0);
  shm_unlink(name.c_str());
  BOOST_TEST(std::string_view(program.session().context->regions.find(mr.handle)->spec.memory->way()) ==
             "mapped");
}

BOOST_AUTO_TEST_CASE(a_segment_of_system_v_is_mapped) {
  const int segment = shmget(IPC_PRIVATE, 4 * kPage, IPC_CREAT | 0600);
  auto* const attached = static_cast<std::byte*>(shmat(segment, nullptr, 0));
  shmctl(segment, IPC_RMID, nullptr);  // it stays as long as it is attached
  BOOST_REQUIRE(attached != reinterpret_cast<void*>(-1));
  for (const std::uint32_t access : {0u, std::uint32_t{IBV_ACCESS_LOCAL_WRITE}}) {
    BOOST_REQUIRE(reg(attached + kPage + 8, 2 * kPage, access) == 0);
    memory::ApplicationMemory& memory = *program.session().context->regions.find(mr.handle)->spec.memory;
    BOOST_TEST(std::string_view(memory.way()) == "mapped");
    attached[kPage + 8] = std::byte{77};
    std::array<std::byte, 1> seen{};
    memory::Transfer transfer{reinterpret_cast<std::uint64_t>(attached) + kPage + 8, seen, false};
    memory.read({&transfer, 1});
    BOOST_TEST((!transfer.failed && seen[0] == std::byte{77}));
    BOOST_TEST(program.call(ControlOpcode::deregister_mr, mr.handle) == 0);
  }
  shmdt(attached);
  BOOST_TEST(memory::MappedMemory::count() == 0u);
}

BOOST_AUTO_TEST_CASE(a_configuration_may_have_all_memory_copied) {
  Configuration configuration = parse_configuration("[engine]\nshared_memory = \"copied\"\n", "lab.toml");
  BOOST_TEST(!configuration.maps_shared_memory);
  Fabric copying(configuration);
  BOOST_TEST(!copying.maps_shared_memory());
  BOOST_TEST(machine.fabric.maps_shared_memory());
}

BOOST_AUTO_TEST_CASE(received_data_is_placed_where_its_region_allows) {
  BOOST_REQUIRE(reg(pages.writable(), 64, IBV_ACCESS_LOCAL_WRITE) == 0);
  const auto place = [&](std::uint32_t lkey, std::uint64_t offset, std::uint32_t length) {
    abi::PlaceReceivedRequest request{
        reinterpret_cast<std::uint64_t>(pages.writable()) + offset, lkey, length, {}};
    std::memset(request.data, 'x', sizeof request.data);
    return program.call(ControlOpcode::place_received, request);
  };
  BOOST_TEST(place(mr.lkey, 60, 4) == 0);
  BOOST_TEST(std::memcmp(pages.writable() + 56, "\0\0\0\0xxxx\0", 9) == 0);
  BOOST_TEST(place(mr.lkey, 61, 4) == EFAULT);
  BOOST_TEST(place(mr.lkey + 1, 0, 4) == EFAULT);
  BOOST_TEST(place(mr.lkey, 0, abi::kCqeInlineBytes + 1) == EINVAL);
  BOOST_REQUIRE(reg(pages.writable(), 64, 0) == 0);
  BOOST_TEST(place(mr.lkey, 0, 4) == EFAULT);
  BOOST_TEST((pages.writable()[0] == std::byte{0}));
}

BOOST_AUTO_TEST_CASE(a_second_process_is_remembered) {
  const Context& context = *program.session().context;
  BOOST_TEST(!context.several_processes());
  {
    DirectProgram child(machine);
    BOOST_REQUIRE(child.join(program.opened.token) == 0);
    BOOST_TEST(context.several_processes());
  }
  BOOST_TEST(context.several_processes());
}

BOOST_AUTO_TEST_CASE(registering_touches_no_page) {
  constexpr std::size_t size = std::size_t{4} << 30;
  void* sparse =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  BOOST_REQUIRE(sparse != MAP_FAILED);
  BOOST_TEST(reg(static_cast<std::byte*>(sparse), size, IBV_ACCESS_LOCAL_WRITE) == 0);
  std::vector<unsigned char> resident(size / kPage);
  BOOST_REQUIRE(mincore(sparse, size, resident.data()) == 0);
  BOOST_TEST(std::count(resident.begin(), resident.end(), 1) == 0);
  munmap(sparse, size);
}

// ibv_reg_mr(3): remote writers and atomics need local write access.
BOOST_AUTO_TEST_CASE(rights_that_make_no_sense_are_refused) {
  BOOST_TEST(reg(pages.writable(), kPage, IBV_ACCESS_REMOTE_WRITE) == EINVAL);
  BOOST_TEST(reg(pages.writable(), kPage, IBV_ACCESS_REMOTE_ATOMIC) == EINVAL);
  for (const std::uint32_t flush : {1u << 8, 1u << 9}) {
    BOOST_TEST(reg(pages.writable(), kPage, flush) == EOPNOTSUPP);
    BOOST_TEST(reg(pages.writable(), kPage, flush | IBV_ACCESS_REMOTE_WRITE) == EINVAL);
  }
  BOOST_TEST(reg(pages.writable(), kPage, 1u << 10) == EINVAL);
  BOOST_TEST(reg(pages.writable(), kPage, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE) == 0);
  BOOST_TEST(reg(pages.writable(), kPage, IBV_ACCESS_RELAXED_ORDERING) == 0);  // may be ignored
}

BOOST_AUTO_TEST_CASE(spans_that_make_no_sense_are_refused) {
  BOOST_TEST(reg(pages.writable(), 0, 0) == EINVAL);
  BOOST_TEST(reg(pages.writable(), ~std::uint64_t{0}, 0) == EINVAL);
  const auto place = reinterpret_cast<std::uint64_t>(pages.writable());
  abi::RegisterMrRequest request{place, kPage, 0x10000, program.pd, 0};
  BOOST_TEST(program.call(ControlOpcode::register_mr, request, mr) == 0);
  request.iova = 0x10001;  // not the same place in a page
  BOOST_TEST(program.call(ControlOpcode::register_mr, request, mr) == EINVAL);
  request.iova = ~std::uint64_t{0} & ~std::uint64_t{kPage - 1};  // wraps round
  request.length = 2 * kPage;
  BOOST_TEST(program.call(ControlOpcode::register_mr, request, mr) == EINVAL);
}

BOOST_AUTO_TEST_CASE(a_pd_in_use_is_busy) {
  BOOST_REQUIRE(reg(pages.writable(), kPage, 0) == 0);
  BOOST_TEST(program.call(ControlOpcode::deallocate_pd, program.pd) == EBUSY);
  BOOST_REQUIRE(program.call(ControlOpcode::deregister_mr, mr.handle) == 0);
  abi::AllocateMwReply mw{};
  BOOST_REQUIRE(program.call(ControlOpcode::allocate_mw, abi::AllocateMwRequest{program.pd, 2}, mw) == 0);
  BOOST_TEST(program.call(ControlOpcode::deallocate_pd, program.pd) == EBUSY);
  BOOST_REQUIRE(program.call(ControlOpcode::deallocate_mw, mw.handle) == 0);
  BOOST_TEST(program.call(ControlOpcode::deallocate_pd, program.pd) == 0);
}

struct WithReserve : WithPages {
  std::uint64_t used() { return program.session().device.protection_domains.used(); }
  std::size_t listed() { return program.session().context->pds.size(); }
  void allocate_reserved(std::uint32_t handle) {
    Message message = make_message(ControlOpcode::allocate_reserved_pd, abi::HandleRequest{handle, 0});
    BOOST_REQUIRE(program.dispatch_raw(message));
    BOOST_TEST(program.reply().length == 0u);
  }
};

BOOST_FIXTURE_TEST_CASE(a_reserved_pd_is_none_until_it_is_allocated, WithReserve) {
  const std::uint32_t reserved = program.opened.reserved_pd;
  BOOST_REQUIRE(reserved != 0u);
  BOOST_TEST(used() == 1u);  // the fixture's
  BOOST_TEST(listed() == 1u);
  const std::uint32_t pd = program.pd;
  program.pd = reserved;
  BOOST_TEST(reg(pages.writable(), kPage, 0) == EINVAL);
  allocate_reserved(reserved + 1);
  allocate_reserved(0);
  BOOST_TEST(listed() == 1u);
  allocate_reserved(reserved);
  BOOST_TEST(used() == 2u);
  BOOST_TEST(listed() == 2u);
  BOOST_TEST(reg(pages.writable(), kPage, 0) == 0);
  allocate_reserved(reserved);
  BOOST_TEST(used() == 2u);

  abi::HandleReply next{};
  abi::HandleReply same{};
  BOOST_TEST(program.call(ControlOpcode::deallocate_pd, abi::HandleRequest{reserved, 0}, next) == EBUSY);
  BOOST_TEST(program.call(ControlOpcode::deallocate_pd, abi::HandleRequest{pd, 0}, next) == 0);
  BOOST_TEST(next.handle != 0u);
  BOOST_TEST(next.handle != pd);
  BOOST_TEST(program.call(ControlOpcode::deregister_mr, mr.handle) == 0);
  BOOST_TEST(program.call(ControlOpcode::deallocate_pd, abi::HandleRequest{reserved, 0}, same) == 0);
  BOOST_TEST(same.handle == next.handle);
  BOOST_TEST(used() == 0u);
  BOOST_TEST(listed() == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_reserved_pd_has_room_and_is_its_connections_own, WithReserve) {
  Capacity& capacity = program.session().device.protection_domains;
  {
    const Share others = capacity.take(limits::kMaxPd - 2);  // one is used, one reserved
    BOOST_TEST(program.allocate_pd() == 0u);
    OpenProgram late(machine);
    BOOST_TEST(late.opened.reserved_pd == 0u);
    allocate_reserved(program.opened.reserved_pd);
    BOOST_TEST(listed() == 2u);
    BOOST_TEST(used() == std::uint64_t{limits::kMaxPd});
  }
  DirectProgram child(machine);
  BOOST_REQUIRE(child.join(program.opened.token) == 0);
  abi::HandleReply of_child{};
  BOOST_TEST(child.call(ControlOpcode::deallocate_pd, abi::HandleRequest{program.pd, 0}, of_child) == 0);
  BOOST_REQUIRE(of_child.handle != 0u);
  allocate_reserved(of_child.handle);
  BOOST_TEST(listed() == 1u);
}

BOOST_AUTO_TEST_CASE(room_that_is_kept_comes_back_with_its_connection) {
  Capacity& capacity = program.session().device.protection_domains;
  const Share others = capacity.take(limits::kMaxPd - 3);  // one is used, one reserved
  { const OpenProgram other(machine); }
  BOOST_TEST(program.allocate_pd() != 0u);
}

struct WithWindow : WithPages {
  abi::AllocateMwReply mw{};

  // The key with the next low byte, which is the program's to choose (ibv_inc_rkey).
  std::uint32_t next_key() const { return (mw.rkey & ~0xFFu) | ((mw.rkey + 1) & 0xFF); }

  // What a bind work request does.
  transport::KeyCheck bind(std::uint32_t next) {
    const transport::WindowBinding binding{.current = wire::Rkey{mw.rkey},
                                           .next = wire::Rkey{next},
                                           .region = transport::Lkey{mr.lkey},
                                           .address = reinterpret_cast<std::uint64_t>(pages.writable()),
                                           .length = 64,
                                           .access = IBV_ACCESS_REMOTE_READ};
    return table().bind(binding, pd_id(), wire::Qpn{2});
  }
};

BOOST_FIXTURE_TEST_CASE(a_region_with_a_bound_window_is_busy, WithWindow) {
  BOOST_REQUIRE(reg(pages.writable(), kPage, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND) == 0);
  BOOST_REQUIRE(program.call(ControlOpcode::allocate_mw, abi::AllocateMwRequest{program.pd, 2}, mw) == 0);
  BOOST_REQUIRE((bind(next_key()) == transport::KeyCheck::ok));
  BOOST_TEST(program.call(ControlOpcode::deregister_mr, mr.handle) == EBUSY);
  const abi::ReregisterMrRequest rereg{mr.handle, IBV_REREG_MR_CHANGE_ACCESS, {}};
  BOOST_TEST(program.call(ControlOpcode::reregister_mr, rereg, mr) == EBUSY);
  // The key has changed since the window was allocated; the handle still names it.
  BOOST_TEST(program.call(ControlOpcode::deallocate_mw, mw.handle) == 0);
  BOOST_TEST(program.call(ControlOpcode::deregister_mr, mr.handle) == 0);
}

BOOST_FIXTURE_TEST_CASE(bound_windows_and_regions_go_with_their_program, WithWindow) {
  BOOST_REQUIRE(reg(pages.writable(), kPage, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND) == 0);
  BOOST_REQUIRE(program.call(ControlOpcode::allocate_mw, abi::AllocateMwRequest{program.pd, 1}, mw) == 0);
  BOOST_REQUIRE((bind(next_key()) == transport::KeyCheck::ok));
  const transport::PdId pd = pd_id();
  program.session().context.reset();
  transport::MemoryRange range;
  BOOST_TEST((table().check_local(transport::Lkey{mr.lkey}, pd, 0, 1, transport::AccessRight::local_read,
                                  range) == transport::KeyCheck::unknown_key));
  BOOST_TEST(
      (table().check_remote(wire::Rkey{next_key()}, pd, wire::Qpn{2}, 0, 1,
                            transport::AccessRight::remote_read, range) == transport::KeyCheck::unknown_key));
  BOOST_TEST(machine.fabric.devices()[0]->memory_regions.used() == 0u);
  BOOST_TEST(machine.fabric.devices()[0]->memory_windows.used() == 0u);
}

BOOST_AUTO_TEST_CASE(window_types_are_one_and_two) {
  abi::AllocateMwReply mw{};
  BOOST_TEST(program.call(ControlOpcode::allocate_mw, abi::AllocateMwRequest{program.pd, 0}, mw) == EINVAL);
  BOOST_TEST(program.call(ControlOpcode::allocate_mw, abi::AllocateMwRequest{program.pd, 3}, mw) == EINVAL);
  BOOST_TEST(program.call(ControlOpcode::allocate_mw, abi::AllocateMwRequest{99, 1}, mw) == EINVAL);
}

BOOST_AUTO_TEST_CASE(reregistering_changes_what_it_is_told_and_the_key_with_the_translation) {
  BOOST_REQUIRE(reg(pages.writable(), kPage, 0) == 0);
  const std::uint32_t old_key = mr.lkey;
  const std::uint32_t other_pd = program.allocate_pd();
  abi::ReregisterMrRequest request{mr.handle, IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_ACCESS, {}};
  request.change.pd = other_pd;
  request.change.access = IBV_ACCESS_LOCAL_WRITE;
  BOOST_REQUIRE(program.call(ControlOpcode::reregister_mr, request, mr) == 0);
  BOOST_TEST(mr.lkey == old_key);
  BOOST_TEST(program.call(ControlOpcode::deallocate_pd, program.pd) == 0);  // moved to the other
  BOOST_TEST(program.call(ControlOpcode::deallocate_pd, other_pd) == EBUSY);
  request.flags = IBV_REREG_MR_CHANGE_TRANSLATION;
  request.change.address = request.change.iova = reinterpret_cast<std::uint64_t>(pages.read_only());
  request.change.length = kPage;
  BOOST_TEST(program.call(ControlOpcode::reregister_mr, request, mr) == EFAULT);  // it has local write
  request.change.address = request.change.iova = reinterpret_cast<std::uint64_t>(pages.writable());
  request.change.length = kPage / 2;
  BOOST_TEST(program.call(ControlOpcode::reregister_mr, request, mr) == 0);
  BOOST_TEST(mr.lkey != old_key);
  request.flags = IBV_REREG_MR_CHANGE_ACCESS;
  request.change.access = IBV_ACCESS_REMOTE_WRITE;  // without local write
  BOOST_TEST(program.call(ControlOpcode::reregister_mr, request, mr) == EINVAL);
  request.flags = 8;
  BOOST_TEST(program.call(ControlOpcode::reregister_mr, request, mr) == EINVAL);
  request.flags = 0;
  BOOST_TEST(program.call(ControlOpcode::reregister_mr, request, mr) == EINVAL);
}

// The flag says how the region is addressed from then on. The old key must not reach other bytes by the same
// address.
BOOST_AUTO_TEST_CASE(a_region_that_becomes_zero_based_counts_from_zero_under_another_key) {
  BOOST_REQUIRE(reg(pages.writable(), 64, 0) == 0);
  const std::uint32_t old_key = mr.lkey;
  transport::MemoryRange range;
  const auto check = [&](std::uint64_t address) {
    return table().check_local(transport::Lkey{mr.lkey}, pd_id(), address, 64,
                               transport::AccessRight::local_read, range);
  };
  abi::ReregisterMrRequest request{mr.handle, IBV_REREG_MR_CHANGE_ACCESS, {}};
  request.change.access = IBV_ACCESS_ZERO_BASED;
  BOOST_REQUIRE(program.call(ControlOpcode::reregister_mr, request, mr) == 0);
  BOOST_TEST(mr.lkey != old_key);
  BOOST_TEST((check(0) == transport::KeyCheck::ok));
  BOOST_TEST(range.address == reinterpret_cast<std::uint64_t>(pages.writable()));
  request.change.access = 0;
  BOOST_REQUIRE(program.call(ControlOpcode::reregister_mr, request, mr) == 0);
  BOOST_TEST((check(0) == transport::KeyCheck::out_of_bounds));
  BOOST_TEST((check(reinterpret_cast<std::uint64_t>(pages.writable())) == transport::KeyCheck::ok));
}

// With rights that need pages which are not there, a change is refused and changes nothing.
BOOST_AUTO_TEST_CASE(a_change_that_is_refused_leaves_the_region_as_it_was) {
  BOOST_REQUIRE(reg(pages.read_only(), kPage, 0) == 0);
  const std::uint32_t old_key = mr.lkey;
  abi::ReregisterMrRequest request{mr.handle, IBV_REREG_MR_CHANGE_ACCESS, {}};
  request.change.access = IBV_ACCESS_LOCAL_WRITE;
  BOOST_TEST(program.call(ControlOpcode::reregister_mr, request, mr) == EFAULT);
  transport::MemoryRange range;
  BOOST_TEST((table().check_local(
                  transport::Lkey{old_key}, pd_id(), reinterpret_cast<std::uint64_t>(pages.read_only()), 1,
                  transport::AccessRight::local_write, range) == transport::KeyCheck::no_right));
  request.change.access |= IBV_ACCESS_ON_DEMAND;  // looked at when it is used
  BOOST_TEST(program.call(ControlOpcode::reregister_mr, request, mr) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace memory_commands
}  // namespace urnic::control::test
