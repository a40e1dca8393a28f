// Any sequence of rdma_cm commands from three programs, with MADs and time in between: every command is
// answered, no program gets at another's identifiers, and nothing is left once the programs are gone. What
// came with an event is what the program would get if it asked, as long as the page does not tell of a
// change.
//
// An input is a sequence of records: program and what to do, command, half the room for the answer, half the
// body's length (a byte each), body. The commands' header is made right, so that mutations get past it,
// unless the record is raw.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "device_model/engine/engine.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/unit/rdma_cm/rdma_cm_world.hpp"

namespace {

namespace control = urnic::control;
namespace cm = urnic::control::rdma_cm;
using urnic::fuzz::require;

constexpr std::size_t kPrograms = 3;
constexpr std::uint32_t kMigrate = RDMA_USER_CM_CMD_MIGRATE_ID;
constexpr std::uint32_t kSetOption = RDMA_USER_CM_CMD_SET_OPTION;

enum How : std::uint8_t {
  which_program = 3,   // 3: all of them have a pause: MADs arrive
  raw = 1 << 2,        // the body is the whole command
  reopen = 1 << 3,     // the program closes its channel, and opens another
  long_time = 1 << 4,  // a pause of seconds
};

struct Program {
  cm::Channel* channel = nullptr;
  std::size_t tokens = 0;
  std::vector<std::byte> further;  // answers that came with the last event
};

struct Machine {
  cm::test::World world;
  std::array<Program, kPrograms> programs;

  void open(std::size_t i) {
    cm::Opener opener;
    opener.account = world.fabric.quotas().account(static_cast<pid_t>(1000 + i));
    programs[i].tokens = 0;
    programs[i].further.clear();
    programs[i].channel = &world.rdma_cm.open(std::move(opener), [&program = programs[i]] {
      ++program.tokens;
      return true;
    });
  }

  void close(std::size_t i) {
    world.rdma_cm.close(*programs[i].channel);
    world.finish_work();
  }

  void check_tokens() {
    for (Program& program : programs) {
      program.tokens -= program.channel->excess_tokens();
      require(program.tokens <= urnic::abi::kMaxEventTokens, "too many tokens");
      require(program.tokens <= program.channel->events(), "a token without an event");
      const bool full = program.tokens == urnic::abi::kMaxEventTokens;
      require(full || program.tokens == program.channel->events(), "an event without a token");
    }
  }

  void execute(std::size_t i, std::span<const std::byte> command) {
    Program& program = programs[i];
    rdma_ucm_cmd_hdr header{};
    std::ranges::copy(command.first(std::min(command.size(), sizeof header)),
                      std::as_writable_bytes(std::span(&header, 1)).begin());
    // What the kernel stand-in adds to these commands.
    cm::Channel* const old = header.cmd == kMigrate ? programs[(i + 1) % kPrograms].channel : nullptr;
    const auto option =
        command.subspan(command.size() - std::min<std::size_t>(command.size(), option_length(command)));
    cm::Answer answer;
    answer.error = -1;
    world.rdma_cm.execute(*program.channel, command,
                          header.cmd == kSetOption ? option : std::span<const std::byte>(), old, answer);
    require(answer.error >= 0, "an error is a positive errno");
    // The kernel stand-in takes a token for commands that are well formed.
    const bool takes_token =
        header.cmd == RDMA_USER_CM_CMD_GET_EVENT && (answer.error == 0 || answer.error == EAGAIN);
    if (takes_token && program.tokens > 0) --program.tokens;
    require(answer.length <= answer.storage.size() && answer.length <= header.out,
            "an answer has no more than its room");
    require(answer.error == 0 || answer.length == 0, "an error has no answer");
    if (answer.further_length != 0)
      program.further.assign(answer.further_bytes().begin(), answer.further_bytes().end());
    check();
  }

  void check() {
    check_tokens();
    for (Program& program : programs) check_further_answers(program);
  }

  void check_further_answers(Program& program) {
    std::span<const std::byte> rest = program.further;
    const auto head = take<urnic::abi::FurtherAnswers>(rest);
    if (rest.empty() || world.rdma_cm.identifiers().changes().of(head.identifier) != head.changes) return;
    while (!rest.empty()) {
      const auto one = take<urnic::abi::FurtherAnswer>(rest);
      struct {
        rdma_ucm_cmd_hdr header;
        rdma_ucm_query body;
      } const question{{one.command, sizeof(rdma_ucm_query), urnic::abi::kMaxRdmaCmAnswer},
                       {0, head.identifier, one.selector}};
      cm::Answer answer;
      world.rdma_cm.execute(*program.channel, std::as_bytes(std::span(&question, 1)), {}, nullptr, answer);
      require(std::ranges::equal(answer.bytes(), rest.first(one.length)), "an answer is out of date");
      rest = rest.subspan(one.length);
    }
  }

  template <class Part>
  static Part take(std::span<const std::byte>& rest) {
    Part part{};
    if (rest.empty()) return part;
    require(rest.size() >= sizeof part, "further answers are whole");
    std::memcpy(&part, rest.data(), sizeof part);
    rest = rest.subspan(sizeof part);
    return part;
  }

  // The last bytes of the body serve as the option.
  static std::size_t option_length(std::span<const std::byte> command) {
    constexpr std::size_t kPlace = sizeof(rdma_ucm_cmd_hdr) + offsetof(rdma_ucm_set_option, optlen);
    std::uint32_t length = 0;
    if (command.size() >= kPlace + sizeof length)
      std::memcpy(&length, command.data() + kPlace, sizeof length);
    return std::min(length, urnic::abi::kMaxRdmaCmOption);
  }

  void pause(bool is_long) {
    world.deliver();
    if (is_long) world.pass(std::chrono::seconds(5));
    check();
  }

  void end() {
    for (std::size_t i = 0; i < kPrograms; ++i) close(i);
    world.deliver();
    for (int i = 0; i < 20; ++i) world.pass(std::chrono::seconds(10));
    require(world.rdma_cm.identifiers().count() == 0, "identifiers are left");
    require(world.rdma_cm.channels() == 0, "channels are left");
    require(world.rdma_cm.connections().usage().connections == 0, "connections are left");
    require(world.rdma_cm.resolutions().empty(), "resolutions are left");
    require(world.fabric.quotas().used(control::Resource::rdma_cm_ids) == 0, "charges are left");
  }
};

std::vector<std::byte> make_command(std::span<const std::uint8_t> record,
                                    std::span<const std::uint8_t> body) {
  const std::size_t length = body.size();
  std::vector<std::byte> command(((record[0] & raw) != 0 ? 0 : sizeof(rdma_ucm_cmd_hdr)) + length);
  if ((record[0] & raw) == 0) {
    const rdma_ucm_cmd_hdr header{record[1], static_cast<std::uint16_t>(length),
                                  static_cast<std::uint16_t>(record[2] * 2u)};
    std::memcpy(command.data(), &header, sizeof header);
  }
  std::ranges::copy(std::as_bytes(body), command.end() - static_cast<std::ptrdiff_t>(length));
  return command;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  spdlog::set_level(spdlog::level::off);
  static Machine& machine = *new Machine;
  for (std::size_t i = 0; i < kPrograms; ++i) machine.open(i);
  std::span<const std::uint8_t> rest(data, size);
  while (rest.size() >= 4) {
    const auto record = rest.first(4);
    const auto body = rest.subspan(4, std::min<std::size_t>(record[3] * 2u, rest.size() - 4));
    rest = rest.subspan(4 + body.size());
    const std::size_t program = record[0] & which_program;
    if (program == kPrograms) {
      machine.pause((record[0] & long_time) != 0);
    } else if ((record[0] & reopen) != 0) {
      machine.close(program);
      machine.open(program);
      machine.check();
    } else {
      machine.execute(program, make_command(record, body));
    }
  }
  machine.end();
  return 0;
}
