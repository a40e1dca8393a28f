// Any sequence of commands of the kernel's uverbs ABI from two programs that open a device with the mlx5
// face: the device process answers, protects itself, and holds nothing once the programs are gone.
//
// An input is a sequence of records: command (bit 7: extended), how, length of the command's part, length of
// the driver's part (a byte each), and both parts. The envelope is made right, so that mutations get past it,
// unless `how` says otherwise. Command numbers from kMethods on are methods of ioctl, whose attributes are
// the command's part; kMap maps pages of the device. How::real_memory puts addresses that are mapped where
// REG_MR has its own.
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "tests/fuzz/require.hpp"
#include "tests/unit/control/mlx5_program.hpp"

namespace {

namespace control = urnic::control;
namespace abi = urnic::abi;
using control::test::KernelCommand;
using control::test::Mlx5Program;
using urnic::fuzz::require;

enum How : std::uint8_t {
  raw = 1 << 0,            // the command's part is the whole body, envelope included
  other_program = 1 << 1,  // comes from the second program
  in_one_piece = 1 << 2,
  little_room = 1 << 3,
  pages_shared = 1 << 4,
  pages_refused = 1 << 5,
  real_memory = 1 << 6,
  opens = 1 << 7,
};

constexpr std::uint32_t kMuchRoom = 1024;

alignas(4096) std::array<std::byte, 8 * 4096> application_memory;

// Behind the numbers of all commands.
constexpr std::uint32_t kMethods = 64;
constexpr std::array kMethodNumbers{
    abi::uverbs_method(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC),
    abi::uverbs_method(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE),
    abi::uverbs_method(UVERBS_OBJECT_DM, MLX5_IB_METHOD_DM_QUERY),
    abi::uverbs_method(UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG),
    abi::uverbs_method(UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR),
    abi::uverbs_method(UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY),
    abi::uverbs_method(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE),
    abi::uverbs_method(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY),
    abi::uverbs_method(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ),
    abi::uverbs_method(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT),
    abi::uverbs_method(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC),
    abi::uverbs_method(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY),
};
constexpr std::uint32_t kMap = 126;

struct Record {
  KernelCommand command;
  std::uint8_t how = 0;
  bool maps = false;
};

void use_real_memory(control::test::Bytes& core) {
  ib_uverbs_reg_mr request{};
  if (core.size() < sizeof request) return;
  std::memcpy(&request, core.data(), sizeof request);
  const auto start = reinterpret_cast<std::uint64_t>(application_memory.data());
  request.start = request.hca_va = start + request.start % application_memory.size();
  request.length %= application_memory.size() + 1;
  std::memcpy(core.data(), &request, sizeof request);
}

class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  std::optional<Record> next() {
    if (rest_.size() < 4) return std::nullopt;
    Record record;
    KernelCommand& command = record.command;
    record.how = rest_[1];
    command.number = rest_[0] & 0x7F;
    record.maps = command.number == kMap;
    if (command.number >= kMethods)
      command.number = kMethodNumbers[command.number % kMethodNumbers.size()];
    else if ((rest_[0] & 0x80) != 0)
      command.number = control::test::extended(command.number);
    const std::size_t core = rest_[2];
    const std::size_t driver = rest_[3];
    rest_ = rest_.subspan(4);
    command.core = take(core);
    command.driver = take(driver);
    command.is_apart = (record.how & in_one_piece) == 0;
    command.core_room = (record.how & little_room) != 0 ? static_cast<std::uint32_t>(core) : kMuchRoom;
    command.driver_room = command.is_apart ? command.core_room : 0;
    if ((record.how & pages_shared) != 0) command.flags |= abi::uverbs_pages_shared;
    if ((record.how & pages_refused) != 0) command.flags |= abi::uverbs_pages_refused;
    command.opens = (record.how & opens) != 0;
    return record;
  }

 private:
  control::test::Bytes take(std::size_t length) {
    const auto part = std::as_bytes(rest_.first(std::min(length, rest_.size())));
    rest_ = rest_.subspan(part.size());
    return {part.begin(), part.end()};
  }

  std::span<const std::uint8_t> rest_;
};

// The body is the record's first part.
control::Message raw_message(const control::test::Bytes& body) {
  control::Message message;
  message.length = sizeof(abi::RequestHeader) + body.size();
  const abi::RequestHeader header{abi::kControlMagic,
                                  static_cast<std::uint32_t>(abi::ControlOpcode::uverbs_command),
                                  static_cast<std::uint32_t>(message.length), 7};
  std::memcpy(message.storage.data(), &header, sizeof header);
  std::copy(body.begin(), body.end(), message.storage.begin() + sizeof header);
  return message;
}

void check_reply(const control::Reply& reply) {
  abi::ReplyHeader header{};
  require(reply.length >= sizeof header && reply.length <= reply.storage.size(), "length of a reply");
  std::memcpy(&header, reply.storage.data(), sizeof header);
  require(header.length == reply.length && header.error >= 0, "header of a reply");
  if (header.error != 0) {
    require(reply.length == sizeof header && reply.descriptors.empty(), "an error reply has no body");
    return;
  }
  abi::UverbsCommandReply body{};
  require(reply.length >= sizeof header + sizeof body, "an answer has its head");
  std::memcpy(&body, reply.storage.data() + sizeof header, sizeof body);
  require(reply.length == sizeof header + sizeof body + body.core_length + body.driver_length,
          "length of an answer");
  const bool files_left_out = body.page_action == abi::PageAction::region_back && reply.descriptors.empty();
  require(body.page_count <= abi::kMaxQueuePages &&
              (files_left_out || body.page_count == reply.descriptors.size()),
          "pages have their files");
}

// mmap(2) and what follows it. A program without a context has no pages.
void map(Mlx5Program& program, const control::test::Bytes& core) {
  abi::MapPagesRequest request{};
  if (!core.empty()) std::memcpy(&request, core.data(), std::min(core.size(), sizeof request));
  abi::MapPagesReply mapped{};
  if (program.call(abi::ControlOpcode::map_pages, request, mapped) != 0) return;
  require(program.reply().descriptors.size() == 1, "mapped pages have their file");
  require(mapped.offset % 4096 == 0, "pages are mapped");
  abi::Empty nothing{};
  program.call(abi::ControlOpcode::watch_page, abi::WatchPageRequest{request.offset, 4096}, nothing);
}

void run(control::test::Machine& machine, Input input) {
  std::array<std::unique_ptr<Mlx5Program>, 2> programs;
  for (auto& program : programs) program = std::make_unique<Mlx5Program>(machine);
  require(programs[0]->open_mlx5() == 0, "GET_CONTEXT");

  while (auto record = input.next()) {
    KernelCommand& command = record->command;
    Mlx5Program& program = *programs[(record->how & other_program) != 0 ? 1 : 0];
    if (record->maps) {
      map(program, command.core);
      continue;
    }
    if (command.number == IB_USER_VERBS_CMD_REG_MR && (record->how & real_memory) != 0)
      use_real_memory(command.core);
    control::Message message =
        (record->how & raw) != 0 ? raw_message(command.core) : program.message_of(command);
    if (command.number == IB_USER_VERBS_CMD_GET_CONTEXT && command.opens) {
      program.open_mlx5();
      continue;
    }
    auto dispatched = control::Dispatched::not_yet;
    while (dispatched == control::Dispatched::not_yet) dispatched = program.dispatch_once(message);
    require(dispatched == control::Dispatched::answered, "a command is answered");
    check_reply(program.reply());
  }
}

void check_nothing_is_left(const control::test::Machine& machine) {
  require(machine.contexts.empty(), "contexts are left");
  for (const auto& device : machine.fabric.devices()) {
    for (const control::Capacity* kind :
         {&device->queue_pairs, &device->completion_queues, &device->shared_receive_queues,
          &device->memory_regions, &device->memory_windows, &device->protection_domains,
          &device->address_handles, &device->xrc_domains, &device->device_memory, &device->flow_counters})
      require(kind->used() == 0, "objects are left");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static control::test::Machine& machine = *[] {
    spdlog::set_level(spdlog::level::off);
    return new control::test::Machine;
  }();
  run(machine, Input(std::span(data, size)));
  check_nothing_is_left(machine);
  return 0;
}
