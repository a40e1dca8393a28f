#include "tests/security/device_fuzz/program.hpp"

#include <unistd.h>

#include <cstring>

namespace urnic::device_fuzz {

using abi::ControlOpcode;

Program::Program(Attack& attack, unsigned device)
    : attack_(attack),
      chance_(attack.chance),
      device_(device),
      connection_(attack.run_directory + "/dev/uverbs" + std::to_string(device), attack.counts),
      shared_(attack.targets) {
  if (connection_.is_open() && !chance_.once_in(16)) open();  // else it sends requests without a context
}

Program::Request Program::opening() {
  const bool shares = !attack_.tokens.empty() && chance_.once_in(6);
  abi::OpenSharedContextRequest body{};
  body.open.version = abi::kControlVersion;
  std::strncpy(body.open.program, "fuzz", sizeof body.open.program - 1);
  if (shares) body.token = attack_.tokens[chance_.below(attack_.tokens.size())];
  Request opens{
      shares ? ControlOpcode::open_shared_context : ControlOpcode::open_context, {}, own_identity(), {}};
  const auto bytes = std::as_bytes(std::span(&body, 1));
  opens.body.assign(bytes.begin(), bytes.begin() + (shares ? sizeof body : sizeof body.open));
  if (chance_.once_in(6)) opens.descriptors.erase(opens.descriptors.begin());  // without a pidfd
  events_ = new_pipe();
  for (Descriptor& end : new_pipe()) opens.descriptors.push_back(std::move(end));
  return opens;
}

void Program::open() {
  Request opens = opening();
  opens.served = [this](ControlReply& answer) {
    if (answer.descriptors.size() != 3) return;
    opened_ = true;
    ++attack_.counts.contexts;
    const auto reply = answer.as<abi::OpenContextReply>();
    reserved_pd_ = reply.reserved_pd;
    if (attack_.tokens.size() < 64) attack_.tokens.push_back(reply.token);
    doorbells_ = shared_.map(answer.descriptors[0].get(), sizeof(abi::Doorbells));
    attack_.targets.add(doorbells_);
    wake_ = std::move(answer.descriptors[2]);
  };
  if (chance_.once_in(8)) bend(opens);
  send(std::move(opens));
}

void Program::settle() {
  for (int i = 0; i < 2 && is_open(); ++i) send(pd());
  for (int i = 0; i < 3 && is_open(); ++i) send(mr());
  for (int i = 0; i < 3 && is_open(); ++i) send(cq());
  for (int i = 0; i < 4 && is_open(); ++i) send(qp());
  for (int i = 0; i < 12 && is_open(); ++i) send(next_state());
}

void Program::step() {
  const std::uint32_t kind = chance_.below(16);
  if (kind < 5 && opened_) return post();
  if (kind == 5) return attack_.memory.disturb();
  if (kind == 6) return consume();
  Request next = any_request();
  if (chance_.once_in(4)) bend(next);
  send(std::move(next));
}

namespace {

void bend_words(std::vector<std::byte>& body, Chance& chance, const Attack& attack) {
  for (std::uint32_t times = chance.from(1, 3); times > 0 && body.size() >= 4; --times) {
    const std::size_t place = 4 * chance.below(body.size() / 4);
    std::uint32_t word = 0;
    std::memcpy(&word, &body[place], sizeof word);
    switch (chance.below(8)) {
      case 0:
        word = chance.word();
        break;
      case 1:
        word = chance.below(16);
        break;
      case 2:
        word = UINT32_MAX - chance.below(4);
        break;
      case 3:
        word ^= 1U << chance.below(32);
        break;
      case 4:
        word = 1U << chance.below(32);
        break;
      case 5:
        word = chance.any(attack.qpns);
        break;
      case 6:
        word = chance.any(attack.keys);
        break;
      default:
        word = chance.any(attack.handles);
    }
    std::memcpy(&body[place], &word, sizeof word);
  }
}

bool has_answer(ControlOpcode opcode) {
  return opcode != ControlOpcode::tell_token && opcode != ControlOpcode::add_completion_channel &&
         opcode != ControlOpcode::modify_qp_unanswered && opcode != ControlOpcode::allocate_reserved_pd;
}

}  // namespace

// Beyond the largest opcode, so that some are unknown.
constexpr std::uint32_t kOpcodesTried = 160;
static_assert(kOpcodesTried > static_cast<std::uint32_t>(ControlOpcode::announce_exec));

// Wrong values, sizes and descriptors, and handles of others.
void Program::bend(Request& request) {
  const std::uint32_t way = chance_.below(12);
  if (way < 7) bend_words(request.body, chance_, attack_);
  if (way == 7) request.body.resize(chance_.below(request.body.size() + 1));
  if (way == 8) request.body.resize(request.body.size() + chance_.below(64), std::byte{1});
  if (way == 9) request.opcode = static_cast<ControlOpcode>(chance_.below(kOpcodesTried));
  if (way == 10 && !request.descriptors.empty())
    request.descriptors.resize(chance_.below(request.descriptors.size()));
  if (way < 11 && !chance_.once_in(3)) return;
  for (Descriptor& descriptor : request.descriptors)
    if (chance_.once_in(2)) descriptor = attack_.odd.make();
  const std::uint32_t more = chance_.once_in(12) ? chance_.below(254) : chance_.below(9);
  for (std::uint32_t i = 0; i < more; ++i) request.descriptors.push_back(attack_.odd.make());
  if (chance_.once_in(16)) request.descriptors.emplace_back(dup(connection_.number()));  // the connection
}

void Program::send(Request request) {
  std::vector<int> numbers;
  for (const Descriptor& descriptor : request.descriptors) numbers.push_back(descriptor.get());
  auto message = apps::control_message(request.opcode, request.body, ++sequence_);
  if (chance_.once_in(512)) message[chance_.below(sizeof(abi::RequestHeader))] ^= std::byte{1};
  // Most of the time one message; now and then as many as fit at once.
  const std::uint32_t times = chance_.once_in(64) ? chance_.from(2, 40) : 1;
  std::uint32_t sent = 0;
  while (sent < times && connection_.send(message, numbers)) ++sent;
  attack_.odd.change_after();
  if (!has_answer(request.opcode)) return;
  for (; sent > 0; --sent) {
    auto answer = connection_.receive();
    if (!answer) return;
    if (answer->header.error != 0 || !request.served) continue;
    shared_.look_in(*answer);
    request.served(*answer);
  }
}

}  // namespace urnic::device_fuzz
