// Commands of the kernel's uverbs ABI on a device with the mlx5 face (control/mlx5): their envelopes, their
// sizes, and what each answers.
#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/mlx5/address_vector.hpp"
#include "device_model/control/mlx5/command_table.hpp"
#include "device_model/control/mlx5/mlx5_limits.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "device_model/engine/device.hpp"
#include "tests/unit/control/mlx5_program.hpp"

namespace urnic::control::test {
namespace {

struct Opened {
  Machine machine;
  OpenMlx5Program program{machine};

  int map(std::uint64_t offset, std::uint64_t length = 4096, std::uint32_t protection = PROT_WRITE) {
    return program.call(ControlOpcode::map_pages, abi::MapPagesRequest{offset, length, protection, 0},
                        mapped);
  }
  abi::MapPagesReply mapped{};
};

// Each command's number, from the kernel's list.
std::vector<std::uint32_t> all_numbers() {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t number = 0; number < 64; ++number) {
    if (mlx5::find_command(number) != nullptr) numbers.push_back(number);
    if (mlx5::find_command(extended(number)) != nullptr) numbers.push_back(extended(number));
  }
  return numbers;
}

KernelCommand smallest(std::uint32_t number) {
  const mlx5::CommandRow& row = *mlx5::find_command(number);
  return {.number = number,
          .core = Bytes(row.core_input),
          .core_room = static_cast<std::uint32_t>(row.core_answer)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mlx5_context)

BOOST_AUTO_TEST_CASE(opening_answers_what_libmlx5_needs) {
  Machine machine;
  Mlx5Program program(machine);
  BOOST_TEST(program.open_mlx5() == 0);
  const mlx5_ib_alloc_ucontext_resp& given = program.ucontext;
  BOOST_TEST(given.tot_bfregs == 16u);
  BOOST_TEST(given.bf_reg_size == 512u);
  BOOST_TEST(given.cqe_version == 1);
  BOOST_TEST(given.log_uar_size == 12u);
  BOOST_TEST(given.num_uars_per_page == 1u);
  BOOST_TEST(given.num_ports == 1);
  BOOST_TEST(given.num_dyn_bfregs == (mlx5::kDedicatedUars - 1) * 2);
  BOOST_TEST(given.eth_min_inline == MLX5_USER_INLINE_MODE_NONE);
  BOOST_TEST((given.cmds_supp_uhw & MLX5_USER_CMDS_SUPP_UHW_CREATE_AH) != 0);
  BOOST_TEST(program.part().static_uars() == 8u);
  const abi::ContextToken nobody{};
  BOOST_TEST(std::memcmp(&program.head.token, &nobody, sizeof nobody) != 0);
  const abi::ContextToken& token = program.session().context->token;
  BOOST_TEST(std::memcmp(&program.head.token, &token, sizeof token) == 0);
}

BOOST_AUTO_TEST_CASE(devx_is_refused_and_the_next_attempt_opens) {
  Machine machine;
  Mlx5Program program(machine);
  auto request = Mlx5Program::ucontext_request();
  request.flags = MLX5_IB_ALLOC_UCTX_DEVX;
  BOOST_TEST(program.open_mlx5(request) == EINVAL);
  BOOST_TEST(program.open_mlx5() == 0);
  BOOST_TEST(program.open_mlx5() == EINVAL);  // once
}

BOOST_AUTO_TEST_CASE(wrong_requests_of_doorbell_registers_are_refused) {
  Machine machine;
  Mlx5Program program(machine);
  const auto open_with = [&](std::uint32_t total, std::uint32_t low_latency) {
    auto request = Mlx5Program::ucontext_request();
    request.total_num_bfregs = total;
    request.num_low_latency_bfregs = low_latency;
    return program.open_mlx5(request);
  };
  BOOST_TEST(open_with(0, 0) == EINVAL);
  BOOST_TEST(open_with(513, 0) == ENOMEM);
  BOOST_TEST(open_with(4, 4) == EINVAL);
  BOOST_TEST(open_with(0xFFFFFFFF, 1) == ENOMEM);
  auto unknown = Mlx5Program::ucontext_request();
  unknown.comp_mask = 1;
  BOOST_TEST(program.open_mlx5(unknown) == EOPNOTSUPP);
  BOOST_TEST(machine.contexts.empty());
  BOOST_TEST(open_with(15, 4) == 0);
  BOOST_TEST(program.ucontext.tot_bfregs == 16u);  // two for each page
}

BOOST_AUTO_TEST_CASE(nothing_but_opening_works_before_it) {
  Machine machine;
  Mlx5Program program(machine);
  for (const std::uint32_t number : all_numbers()) {
    if (number == IB_USER_VERBS_CMD_GET_CONTEXT) continue;
    BOOST_TEST_CONTEXT("command " << number) { BOOST_TEST(program.run(smallest(number)) == EINVAL); }
  }
  abi::MapPagesReply mapped{};
  BOOST_TEST(program.call(ControlOpcode::map_pages, abi::MapPagesRequest{0, 4096, PROT_WRITE, 0}, mapped) ==
             EINVAL);
}

BOOST_AUTO_TEST_CASE(a_context_of_the_plugin_has_no_such_commands) {
  Machine machine;
  Mlx5Program program(machine);
  BOOST_TEST(program.open() == 0);
  BOOST_TEST(program.run(IB_USER_VERBS_CMD_ALLOC_PD, ib_uverbs_alloc_pd{}) == ENOSPC);
  ib_uverbs_alloc_pd_resp made{};
  BOOST_TEST(program.run(IB_USER_VERBS_CMD_ALLOC_PD, ib_uverbs_alloc_pd{}, made) == EINVAL);
  abi::MapPagesReply mapped{};
  BOOST_TEST(program.call(ControlOpcode::map_pages, abi::MapPagesRequest{0, 4096, PROT_WRITE, 0}, mapped) ==
             EINVAL);
}

// Their queues would lie in other memory than the commands of this face expect.
BOOST_AUTO_TEST_CASE(a_context_of_this_face_has_no_queues_of_the_plugin) {
  Machine machine;
  OpenMlx5Program program(machine);
  const std::uint32_t pd = program.allocate_pd();
  abi::CreateCqRequest cq{};
  cq.entries = 16;
  abi::CreateSrqRequest srq{};
  srq.pd = pd;
  srq.max_wr = 16;
  abi::CreateCqReply made_cq{};
  abi::ResizeCqReply resized{};
  abi::CreateSrqReply made_srq{};
  abi::ModifySrqReply modified{};
  abi::CreateQpReply made_qp{};
  abi::CreateTagMatchingReply made_tags{};
  BOOST_TEST(program.call(ControlOpcode::create_cq, cq, made_cq) == EINVAL);
  BOOST_TEST(program.call(ControlOpcode::resize_cq, abi::ResizeCqRequest{}, resized) == EINVAL);
  BOOST_TEST(program.call(ControlOpcode::create_srq, srq, made_srq) == EINVAL);
  BOOST_TEST(program.call(ControlOpcode::modify_srq, abi::ModifySrqRequest{}, modified) == EINVAL);
  BOOST_TEST(program.call(ControlOpcode::create_xrc_srq, abi::CreateXrcSrqRequest{srq, 1, 1}, made_srq) ==
             EINVAL);
  BOOST_TEST(program.call(ControlOpcode::create_qp, abi::CreateQpRequest{}, made_qp) == EINVAL);
  BOOST_TEST(program.call(ControlOpcode::create_tag_matching, abi::CreateTagMatchingRequest{}, made_tags) ==
             EINVAL);
  BOOST_TEST(program.session().context->counts().cq == 0u);
  BOOST_TEST(program.session().context->counts().srq == 0u);
}

BOOST_AUTO_TEST_CASE(devices_with_another_face_take_no_commands) {
  Machine machine;
  Mlx5Program program(machine);
  program.session().kernel_commands = nullptr;
  BOOST_TEST(program.open_mlx5() == EOPNOTSUPP);
}

// ibv_alloc_null_mr(3): libmlx5 knows a key for it, and gives no command.
BOOST_AUTO_TEST_CASE(each_context_has_a_key_for_memory_that_is_nowhere) {
  Machine machine;
  const auto check = [&](std::uint32_t key) {
    transport::MemoryRange range;
    return machine.fabric.devices()[0]->device->memory_table().check_local(
        transport::Lkey{key}, transport::PdId{4711}, 0x12345, 100, transport::AccessRight::local_write,
        range);
  };
  std::uint32_t key = 0;
  {
    OpenMlx5Program program(machine);
    BOOST_TEST((program.ucontext.comp_mask & MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY) != 0u);
    key = program.ucontext.dump_fill_mkey;
    BOOST_TEST(key != 0x100u);  // MLX5_INVALID_LKEY, which would say that there is none
    BOOST_TEST((check(key) == transport::KeyCheck::ok));
  }
  BOOST_TEST((check(key) == transport::KeyCheck::unknown_key));
}

BOOST_FIXTURE_TEST_CASE(doorbell_pages_are_mapped_by_number, Opened) {
  for (const std::uint64_t command : {0u, 3u}) {
    BOOST_TEST(map((command << 8 | 7) * 4096) == 0);
    BOOST_TEST(mapped.offset == 7u * 4096);
    BOOST_REQUIRE(program.reply().descriptors.size() == 1u);
    BOOST_TEST(program.reply().descriptors[0] == program.part().uars.descriptor());
  }
}

BOOST_FIXTURE_TEST_CASE(other_offsets_lead_nowhere, Opened) {
  BOOST_TEST(map(8 * 4096) == EINVAL);           // there are 8
  BOOST_TEST(map((1u << 8) * 4096) == EINVAL);   // contiguous pages
  BOOST_TEST(map((1u << 16) * 4096) == EINVAL);  // number 256: the index has two parts
  BOOST_TEST(map(100) == EINVAL);
  BOOST_TEST(map(0, 8192) == EINVAL);
  BOOST_TEST(map(0, 0) == EINVAL);
  BOOST_TEST(map(~std::uint64_t{4095}) == EINVAL);
  BOOST_TEST(map(0, 4096, PROT_WRITE | PROT_EXEC) == EINVAL);
}

BOOST_FIXTURE_TEST_CASE(the_clock_is_mapped_for_reading, Opened) {
  BOOST_TEST((program.ucontext.comp_mask & MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_CORE_CLOCK_OFFSET) != 0u);
  BOOST_TEST(program.ucontext.clock_info_versions == 1 << MLX5_IB_CLOCK_INFO_V1);
  const std::uint64_t clock = std::uint64_t{MLX5_IB_MMAP_CORE_CLOCK} << 8 << 12;
  const std::uint64_t info = std::uint64_t{MLX5_IB_MMAP_CLOCK_INFO} << 8 << 12;
  BOOST_TEST(map(clock, 4096, PROT_READ) == 0);
  BOOST_TEST((mapped.watch == abi::PageWatch::reads));
  BOOST_TEST(program.ucontext.hca_core_clock_offset < 4096u);
  const std::uint64_t clock_at = mapped.offset;
  BOOST_TEST(map(info, 4096, PROT_READ) == 0);
  BOOST_TEST((mapped.watch == abi::PageWatch::none));
  BOOST_TEST(mapped.offset != clock_at);
  BOOST_TEST(program.reply().descriptors[0] == program.part().clock_pages.descriptor());
  for (const std::uint64_t offset : {clock, info}) {
    BOOST_TEST(map(offset, 4096, PROT_READ | PROT_WRITE) == EPERM);
    BOOST_TEST(map(offset, 8192, PROT_READ) == EINVAL);
    BOOST_TEST(map(offset + 4096, 4096, PROT_READ) == EINVAL);
  }
}

// The engine asks this descriptor whether somebody waits.
BOOST_FIXTURE_TEST_CASE(only_a_userfaultfd_watches_a_page, Opened) {
  const std::uint64_t clock = std::uint64_t{MLX5_IB_MMAP_CORE_CLOCK} << 8 << 12;
  const std::uint64_t info = std::uint64_t{MLX5_IB_MMAP_CLOCK_INFO} << 8 << 12;
  abi::Empty nothing{};
  const auto watch = [&](std::uint64_t offset, std::uint64_t address, int descriptor) {
    std::vector<memory::Descriptor> sent;
    sent.emplace_back(descriptor);
    return program.call(ControlOpcode::watch_page, abi::WatchPageRequest{offset, address}, nothing,
                        std::move(sent));
  };
  const auto userfaultfd = [] { return static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | 1)); };
  BOOST_TEST(watch(clock, 0x10000, memfd_create("not", MFD_CLOEXEC)) == EINVAL);
  const int first = userfaultfd();
  if (first < 0) return;  // refused here
  BOOST_TEST(watch(clock, 0x10000, first) == 0);
  BOOST_TEST(watch(0, 0x10000, userfaultfd()) == 0);
  BOOST_TEST(watch(clock, 0x10010, userfaultfd()) == EINVAL);
  BOOST_TEST(watch(info, 0x10000, userfaultfd()) == EINVAL);
  BOOST_TEST(watch(8 * 4096, 0x10000, userfaultfd()) == EINVAL);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(mlx5_envelopes)

BOOST_FIXTURE_TEST_CASE(commands_that_are_too_short_are_refused, Opened) {
  for (const std::uint32_t number : all_numbers()) {
    BOOST_TEST_CONTEXT("command " << number) {
      const mlx5::CommandRow& row = *mlx5::find_command(number);
      KernelCommand command = smallest(number);
      command.opens = row.before_context;
      command.core.resize(row.core_input - 1);
      BOOST_TEST(program.run(command) == ENOSPC);
      if (row.core_answer == 0) continue;
      command = smallest(number);
      command.opens = row.before_context;
      --command.core_room;
      BOOST_TEST(program.run(command) == ENOSPC);
    }
  }
}

BOOST_FIXTURE_TEST_CASE(nonsense_is_refused, Opened) {
  KernelCommand command = smallest(IB_USER_VERBS_CMD_ALLOC_PD);
  command.flags = 1 << 7;
  BOOST_TEST(program.run(command) == EINVAL);
  BOOST_TEST(program.run({.number = 63}) == EOPNOTSUPP);
  command = smallest(IB_USER_VERBS_CMD_ALLOC_PD);
  command.core_room = 1u << 20;
  BOOST_TEST(program.run(command) == EINVAL);
  command = smallest(extended(IB_USER_VERBS_EX_CMD_QUERY_DEVICE));
  command.is_apart = false;
  BOOST_TEST(program.run(command) == EINVAL);
  command = smallest(IB_USER_VERBS_CMD_ALLOC_PD);
  command.opens = true;  // bytes too many
  BOOST_TEST(program.run(command) == EINVAL);
  Message message = program.message_of(smallest(IB_USER_VERBS_CMD_ALLOC_PD));
  for (message.length = sizeof(abi::RequestHeader);
       message.length <
       sizeof(abi::RequestHeader) + sizeof(abi::UverbsCommandRequest) + sizeof(ib_uverbs_alloc_pd);
       ++message.length) {
    abi::RequestHeader header{abi::kControlMagic, static_cast<std::uint32_t>(ControlOpcode::uverbs_command),
                              static_cast<std::uint32_t>(message.length), 7};
    std::memcpy(message.storage.data(), &header, sizeof header);
    BOOST_TEST(program.dispatch_raw(message));
    std::memcpy(&header, program.reply().bytes().data(), sizeof header);
    abi::ReplyHeader reply{};
    std::memcpy(&reply, program.reply().bytes().data(), sizeof reply);
    BOOST_TEST(reply.error == EINVAL);
  }
}

// A command of write(2) comes in one piece: where the driver's part begins is the command's to say.
BOOST_FIXTURE_TEST_CASE(a_command_in_one_piece_is_divided, Opened) {
  KernelCommand command{.number = IB_USER_VERBS_CMD_ALLOC_PD,
                        .core = bytes_of(ib_uverbs_alloc_pd{}),
                        .core_room = sizeof(ib_uverbs_alloc_pd_resp) + sizeof(mlx5_ib_alloc_pd_resp),
                        .is_apart = false};
  BOOST_TEST(program.run(command) == 0);
  BOOST_TEST(program.core.size() == sizeof(ib_uverbs_alloc_pd_resp));
  BOOST_TEST(program.driver.size() == sizeof(mlx5_ib_alloc_pd_resp));
  command.driver = Bytes(8);
  BOOST_TEST(program.run(command) == EINVAL);  // then it has no part apart
}

BOOST_FIXTURE_TEST_CASE(an_answer_is_as_long_as_its_room, Opened) {
  ib_uverbs_ex_query_device_resp known{};
  BOOST_TEST(program.run(extended(IB_USER_VERBS_EX_CMD_QUERY_DEVICE), ib_uverbs_ex_query_device{}, known) ==
             0);
  BOOST_TEST(known.response_length == sizeof known);
  KernelCommand shorter = smallest(extended(IB_USER_VERBS_EX_CMD_QUERY_DEVICE));
  BOOST_TEST(program.run(shorter) == 0);
  BOOST_TEST(program.core.size() == shorter.core_room);
  shorter.core.push_back(std::byte{1});
  BOOST_TEST(program.run(shorter) == EOPNOTSUPP);  // it asks for something that nobody knows
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(mlx5_objects)

BOOST_FIXTURE_TEST_CASE(protection_domains_come_and_go, Opened) {
  KernelCommand command{.number = IB_USER_VERBS_CMD_ALLOC_PD,
                        .core = bytes_of(ib_uverbs_alloc_pd{}),
                        .core_room = sizeof(ib_uverbs_alloc_pd_resp),
                        .driver_room = sizeof(mlx5_ib_alloc_pd_resp)};
  BOOST_TEST(program.run(command) == 0);
  ib_uverbs_alloc_pd_resp made{};
  mlx5_ib_alloc_pd_resp driver{};
  std::memcpy(&made, program.core.data(), sizeof made);
  std::memcpy(&driver, program.driver.data(), sizeof driver);
  BOOST_TEST(driver.pdn == program.session().context->pds.find(made.pd_handle)->id.value);
  BOOST_TEST(program.run(IB_USER_VERBS_CMD_DEALLOC_PD, ib_uverbs_dealloc_pd{made.pd_handle}) == 0);
  BOOST_TEST(program.run(IB_USER_VERBS_CMD_DEALLOC_PD, ib_uverbs_dealloc_pd{made.pd_handle}) == EINVAL);
}

BOOST_FIXTURE_TEST_CASE(memory_is_registered_changed_and_given_back, Opened) {
  alignas(4096) static std::array<std::byte, 8192> memory;
  const std::uint32_t pd = program.allocate_pd();
  ib_uverbs_reg_mr request{};
  request.start = request.hca_va = reinterpret_cast<std::uint64_t>(memory.data());
  request.length = memory.size();
  request.pd_handle = pd;
  request.access_flags = IBV_ACCESS_LOCAL_WRITE;
  ib_uverbs_reg_mr_resp made{};
  BOOST_TEST(program.run(IB_USER_VERBS_CMD_REG_MR, request, made) == 0);
  BOOST_TEST(made.lkey != 0u);
  BOOST_TEST(program.run(IB_USER_VERBS_CMD_DEALLOC_PD, ib_uverbs_dealloc_pd{pd}) == EBUSY);
  ib_uverbs_rereg_mr change{};
  change.mr_handle = made.mr_handle;
  change.flags = IBV_REREG_MR_CHANGE_ACCESS;
  change.access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
  ib_uverbs_rereg_mr_resp changed{};
  BOOST_TEST(program.run(IB_USER_VERBS_CMD_REREG_MR, change, changed) == 0);
  BOOST_TEST(changed.lkey != 0u);
  BOOST_TEST(program.run(IB_USER_VERBS_CMD_DEREG_MR, ib_uverbs_dereg_mr{made.mr_handle}) == 0);
  BOOST_TEST(program.run(IB_USER_VERBS_CMD_DEREG_MR, ib_uverbs_dereg_mr{made.mr_handle}) == EINVAL);
  request.pd_handle = 999;
  BOOST_TEST(program.run(IB_USER_VERBS_CMD_REG_MR, request, made) == EINVAL);
}

// The device process has no other way to say it than for the plugin: abi::Sharing.
BOOST_FIXTURE_TEST_CASE(private_memory_is_offered_to_be_shared, Opened) {
  constexpr std::size_t kLength = 4 << 20;
  auto* const memory = static_cast<std::byte*>(
      mmap(nullptr, kLength, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ib_uverbs_reg_mr request{};
  request.start = request.hca_va = reinterpret_cast<std::uint64_t>(memory);
  request.length = kLength;
  request.pd_handle = program.allocate_pd();
  request.access_flags = IBV_ACCESS_LOCAL_WRITE;
  KernelCommand command{.number = IB_USER_VERBS_CMD_REG_MR,
                        .core = bytes_of(request),
                        .core_room = sizeof(ib_uverbs_reg_mr_resp),
                        .sharing = abi::Sharing::willing};
  BOOST_REQUIRE(program.run(command) == 0);
  BOOST_TEST((program.head.page_action == abi::PageAction::region_first));
  BOOST_REQUIRE(program.head.page_count == 1u);
  BOOST_TEST(program.head.pages[0].address == request.start);
  BOOST_TEST(program.head.pages[0].length == kLength);
  BOOST_REQUIRE(program.reply().descriptors.size() == 1u);
  BOOST_TEST(program.session().context->regions.empty());
  BOOST_REQUIRE(mmap(memory, kLength, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                     program.reply().descriptors[0], 0) == memory);
  command.sharing = abi::Sharing::shared;
  BOOST_REQUIRE(program.run(command) == 0);
  BOOST_TEST((program.head.page_action == abi::PageAction::none));
  ib_uverbs_reg_mr_resp made{};
  std::memcpy(&made, program.core.data(), sizeof made);
  BOOST_TEST(made.lkey != 0u);
  BOOST_REQUIRE(program.run(IB_USER_VERBS_CMD_DEREG_MR, ib_uverbs_dereg_mr{made.mr_handle}) == 0);
  BOOST_TEST((program.head.page_action == abi::PageAction::region_back));
  BOOST_TEST(program.head.pages[0].length == kLength);
  BOOST_TEST(program.reply().descriptors.size() == 1u);
  munmap(memory, kLength);
}

BOOST_FIXTURE_TEST_CASE(windows_have_keys, Opened) {
  ib_uverbs_alloc_mw request{};
  request.pd_handle = program.allocate_pd();
  request.mw_type = IBV_MW_TYPE_2;
  ib_uverbs_alloc_mw_resp made{};
  BOOST_TEST(program.run(IB_USER_VERBS_CMD_ALLOC_MW, request, made) == 0);
  BOOST_TEST(made.rkey != 0u);
  BOOST_TEST(program.run(IB_USER_VERBS_CMD_DEALLOC_MW, ib_uverbs_dealloc_mw{made.mw_handle}) == 0);
  request.mw_type = 3;
  BOOST_TEST(program.run(IB_USER_VERBS_CMD_ALLOC_MW, request, made) == EINVAL);
}

// A WQE of a ConnectX has the peer's MAC address, which libmlx5 takes from this answer.
BOOST_FIXTURE_TEST_CASE(the_mac_address_of_an_address_handle_is_its_number, Opened) {
  ib_uverbs_create_ah request{};
  request.pd_handle = program.allocate_pd();
  request.attr.is_global = request.attr.port_num = request.attr.grh.sgid_index = 1;
  const std::uint8_t gid[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 1};
  std::copy(std::begin(gid), std::end(gid), request.attr.grh.dgid);
  BOOST_TEST(program.run({.number = IB_USER_VERBS_CMD_CREATE_AH,
                          .core = bytes_of(request),
                          .core_room = sizeof(ib_uverbs_create_ah_resp),
                          .driver_room = sizeof(mlx5_ib_create_ah_resp)}) == 0);
  ib_uverbs_create_ah_resp made{};
  mlx5_ib_create_ah_resp driver{};
  std::memcpy(&made, program.core.data(), sizeof made);
  std::memcpy(&driver, program.driver.data(), sizeof driver);
  const AddressHandle* const handle = program.session().context->address_handles.find(made.ah_handle);
  BOOST_REQUIRE(handle != nullptr);
  wire::MacAddress mac;
  std::copy(std::begin(driver.dmac), std::end(driver.dmac), mac.bytes.begin());
  BOOST_TEST((mlx5::address_handle_of(mac) == handle->number));
  BOOST_TEST(program.run(IB_USER_VERBS_CMD_DESTROY_AH, ib_uverbs_destroy_ah{made.ah_handle}) == 0);
  BOOST_TEST(program.run(IB_USER_VERBS_CMD_DESTROY_AH, ib_uverbs_destroy_ah{made.ah_handle}) == EINVAL);
}

BOOST_AUTO_TEST_CASE(mac_addresses_stand_for_all_numbers) {
  for (const std::uint32_t number : {0u, 1u, 0x12345678u, 0xFFFFFFFFu}) {
    const wire::MacAddress mac = mlx5::mac_of_address_handle(number);
    BOOST_TEST((mac.bytes[0] & 3) == 2);  // local, and of one station
    BOOST_TEST((mlx5::address_handle_of(mac) == number));
  }
  BOOST_TEST(!mlx5::address_handle_of({{0x02, 0x76, 0, 0, 0, 1}}));
  BOOST_TEST(!mlx5::address_handle_of({{0x00, 0x75, 0, 0, 0, 1}}));
}

BOOST_FIXTURE_TEST_CASE(xrc_domains_open_by_file_or_without, Opened) {
  ib_uverbs_open_xrcd request{};
  request.fd = static_cast<__u32>(-1);
  request.oflags = O_CREAT;
  ib_uverbs_open_xrcd_resp made{};
  BOOST_TEST(program.run(IB_USER_VERBS_CMD_OPEN_XRCD, request, made) == 0);
  BOOST_TEST(program.run(IB_USER_VERBS_CMD_CLOSE_XRCD, ib_uverbs_close_xrcd{made.xrcd_handle}) == 0);
  request.oflags = O_TRUNC;
  BOOST_TEST(program.run(IB_USER_VERBS_CMD_OPEN_XRCD, request, made) == EINVAL);
}

BOOST_FIXTURE_TEST_CASE(handles_of_another_program_name_nothing, Opened) {
  const std::uint32_t pd = program.allocate_pd();
  OpenMlx5Program other(machine);
  BOOST_TEST(other.run(IB_USER_VERBS_CMD_DEALLOC_PD, ib_uverbs_dealloc_pd{pd}) == EINVAL);
  const auto refuses = [&](std::uint32_t number, const auto& request) {
    KernelCommand command = smallest(number);
    command.core = bytes_of(request);
    return other.run(command) == EINVAL;
  };
  BOOST_TEST(refuses(IB_USER_VERBS_CMD_DESTROY_CQ, ib_uverbs_destroy_cq{0, 1, 0}));
  BOOST_TEST(refuses(IB_USER_VERBS_CMD_DESTROY_QP, ib_uverbs_destroy_qp{0, 1, 0}));
  BOOST_TEST(refuses(IB_USER_VERBS_CMD_DESTROY_SRQ, ib_uverbs_destroy_srq{0, 1, 0}));
  ib_uverbs_query_srq srq{};
  srq.srq_handle = 1;
  BOOST_TEST(refuses(IB_USER_VERBS_CMD_QUERY_SRQ, srq));
  ib_uverbs_query_qp qp{};
  qp.qp_handle = 1;
  BOOST_TEST(refuses(IB_USER_VERBS_CMD_QUERY_QP, qp));
  ib_uverbs_modify_qp modify{};
  modify.qp_handle = 1;
  BOOST_TEST(refuses(IB_USER_VERBS_CMD_MODIFY_QP, modify));
  ib_uverbs_attach_mcast group{};
  group.qp_handle = 1;
  BOOST_TEST(refuses(IB_USER_VERBS_CMD_ATTACH_MCAST, group));
}

BOOST_FIXTURE_TEST_CASE(the_port_is_a_roce_port, Opened) {
  ib_uverbs_query_port request{};
  request.port_num = 1;
  ib_uverbs_query_port_resp port{};
  BOOST_TEST(program.run(IB_USER_VERBS_CMD_QUERY_PORT, request, port) == 0);
  BOOST_TEST(port.link_layer == IBV_LINK_LAYER_ETHERNET);
  BOOST_TEST((port.flags & IBV_QPF_GRH_REQUIRED) != 0);
  BOOST_TEST(port.max_msg_sz == 1u << 30);
  request.port_num = 2;
  BOOST_TEST(program.run(IB_USER_VERBS_CMD_QUERY_PORT, request, port) == EINVAL);
}

// What the plugin offers and libmlx5 has its own formats for is not there by way of libmlx5.
BOOST_FIXTURE_TEST_CASE(only_what_a_program_can_have_is_told, Opened) {
  ib_uverbs_ex_query_device_resp known{};
  BOOST_TEST(program.run(extended(IB_USER_VERBS_EX_CMD_QUERY_DEVICE), ib_uverbs_ex_query_device{}, known) ==
             0);
  BOOST_TEST(known.tm_caps.max_num_tags == 0u);
  BOOST_TEST(known.hca_core_clock == 1'000'000u);
  BOOST_TEST(known.timestamp_mask == ~std::uint64_t{0});
  BOOST_TEST(known.max_dm_size == limits::kMaxDeviceMemory);
  BOOST_TEST((known.base.device_cap_flags & IBV_DEVICE_SRQ_RESIZE) == 0u);
  BOOST_TEST((known.base.device_cap_flags & IBV_DEVICE_RAW_IP_CSUM) != 0u);
  BOOST_TEST((known.raw_packet_caps & IB_UVERBS_RAW_PACKET_CAP_IP_CSUM) != 0u);
  BOOST_TEST(known.base.max_qp == machine.fabric.devices()[0]->settings.max_qp);
}

// mlx5_queues_test.cpp makes such CQs.
BOOST_FIXTURE_TEST_CASE(compressed_cqes_are_offered, Opened) {
  BOOST_REQUIRE(program.run({.number = extended(IB_USER_VERBS_EX_CMD_QUERY_DEVICE),
                             .core = bytes_of(ib_uverbs_ex_query_device{}),
                             .core_room = sizeof(ib_uverbs_ex_query_device_resp),
                             .driver_room = sizeof(mlx5_ib_query_device_resp)}) == 0);
  mlx5_ib_query_device_resp known{};
  BOOST_REQUIRE(program.driver.size() == sizeof known);
  std::memcpy(&known, program.driver.data(), sizeof known);
  BOOST_TEST(known.cqe_comp_caps.max_num != 0u);
  BOOST_TEST(known.cqe_comp_caps.supported_format ==
             unsigned{MLX5_IB_CQE_RES_FORMAT_HASH} + MLX5_IB_CQE_RES_FORMAT_CSUM);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
