// Any sequence of control messages from two programs: the device process answers or closes the connection,
// protects itself, and holds nothing once the programs are gone.
//
// An input is a sequence of records: opcode, how, body length (a byte each), body. Headers are made right, so
// that mutations get past them, unless `how` says otherwise.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "device_model/abi/tag_matching_ring.hpp"
#include "device_model/control/fabric/limits.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/unit/control/direct_program.hpp"

namespace {

namespace control = urnic::control;
namespace abi = urnic::abi;
using urnic::fuzz::require;
using urnic::memory::Descriptor;

enum How : std::uint8_t {
  raw = 1 << 0,            // the body is the whole message, header included
  other_program = 1 << 1,  // comes from the second program
  introduction = 1 << 2,   // with a pidfd and /proc/self/mem
  pipe_ends = 1 << 3,      // with the ends of a pipe
  real_memory = 1 << 4,    // register_mr, place_received: an address that is mapped
  token = 1 << 5,          // join_context, open_shared_context: the first program's
};

alignas(4096) std::array<std::byte, 8 * 4096> application_memory;

// Sizes within the limits are made small, so that a run tries many inputs instead of filling the machine.
// Sizes above the limits stay.
void shrink(std::uint32_t& size, std::uint32_t limit) {
  if (size <= limit) size %= 64;
}

template <class Body>
void change_body(control::Message& message, void (*change)(Body&)) {
  if (message.length != sizeof(abi::RequestHeader) + sizeof(Body)) return;
  Body body;
  std::byte* const place = message.storage.data() + sizeof(abi::RequestHeader);
  std::memcpy(&body, place, sizeof body);
  change(body);
  std::memcpy(place, &body, sizeof body);
}

void tame(control::Message& message, abi::ControlOpcode opcode) {
  namespace limits = control::limits;
  if (opcode == abi::ControlOpcode::create_cq) {
    change_body<abi::CreateCqRequest>(message, [](auto& body) { shrink(body.entries, limits::kMaxCqe); });
  } else if (opcode == abi::ControlOpcode::resize_cq) {
    change_body<abi::ResizeCqRequest>(message, [](auto& body) { shrink(body.entries, limits::kMaxCqe); });
  } else if (opcode == abi::ControlOpcode::create_qp) {
    change_body<abi::CreateQpRequest>(message, [](auto& body) {
      shrink(body.max_send_wr, limits::kMaxQpWr);
      shrink(body.max_receive_wr, limits::kMaxQpWr);
    });
  } else if (opcode == abi::ControlOpcode::create_srq) {
    change_body<abi::CreateSrqRequest>(message, [](auto& body) { shrink(body.max_wr, limits::kMaxSrqWr); });
  } else if (opcode == abi::ControlOpcode::create_tag_matching) {
    change_body<abi::CreateTagMatchingRequest>(
        message, [](auto& body) { shrink(body.max_operations, limits::kMaxTagOperations); });
  } else if (opcode == abi::ControlOpcode::modify_srq) {
    change_body<abi::ModifySrqRequest>(message, [](auto& body) { shrink(body.max_wr, limits::kMaxSrqWr); });
  } else if (opcode == abi::ControlOpcode::allocate_dm) {
    change_body<abi::AllocateDmRequest>(message, [](auto& body) {
      if (body.length <= limits::kMaxDeviceMemory) body.length %= 1024;
    });
  }
}

void use_real_memory(abi::RegisterMrRequest& body) {
  const auto start = reinterpret_cast<std::uint64_t>(application_memory.data());
  body.address = body.iova = start + body.address % application_memory.size();
  body.length %= application_memory.size() + 1;
}

void place_in_real_memory(abi::PlaceReceivedRequest& body) {
  const auto start = reinterpret_cast<std::uint64_t>(application_memory.data());
  body.address = start + body.address % application_memory.size();
}

template <class Body>
void put_token(control::Message& message, abi::ControlOpcode opcode, abi::ControlOpcode wanted,
               const abi::ContextToken& token) {
  if (opcode != wanted) return;
  const std::size_t place = sizeof(abi::RequestHeader) + offsetof(Body, token);
  if (message.length >= place + sizeof token)
    std::memcpy(message.storage.data() + place, &token, sizeof token);
}

void attach_descriptors(control::Message& message, std::uint8_t how) {
  if ((how & introduction) != 0) {
    message.descriptors.push_back(control::test::own_pidfd());
    message.descriptors.push_back(control::test::own_memory());
  }
  if ((how & pipe_ends) != 0) {
    control::test::Pipe pipe = control::test::make_pipe();
    message.descriptors.push_back(std::move(pipe.read_end));
    message.descriptors.push_back(std::move(pipe.write_end));
  }
}

class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  bool next(abi::ControlOpcode& opcode, std::uint8_t& how, control::Message& message) {
    if (rest_.size() < 3) return false;
    opcode = static_cast<abi::ControlOpcode>(rest_[0]);
    how = rest_[1];
    const auto body = rest_.subspan(3, std::min<std::size_t>(rest_[2], rest_.size() - 3));
    rest_ = rest_.subspan(3 + body.size());
    const std::size_t head = (how & raw) != 0 ? 0 : sizeof(abi::RequestHeader);
    message.length = head + body.size();
    const abi::RequestHeader header{abi::kControlMagic, static_cast<std::uint32_t>(opcode),
                                    static_cast<std::uint32_t>(message.length), 1};
    std::memcpy(message.storage.data(), &header, head);
    std::memcpy(message.storage.data() + head, body.data(), body.size());
    return true;
  }

 private:
  std::span<const std::uint8_t> rest_;
};

void check_reply(const control::Reply& reply) {
  if (reply.length == 0) return;
  abi::ReplyHeader header{};
  require(reply.length >= sizeof header && reply.length <= reply.storage.size(), "length of a reply");
  std::memcpy(&header, reply.storage.data(), sizeof header);
  require(header.length == reply.length && header.error >= 0, "header of a reply");
  require(header.error == 0 || reply.length == sizeof header, "an error reply has no body");
  for (const int descriptor : reply.descriptors)
    require(fcntl(descriptor, F_GETFD) >= 0, "descriptor of a reply");
}

void check_nothing_is_left(const control::test::Machine& machine) {
  require(machine.contexts.empty(), "contexts are left");
  for (const auto& device : machine.fabric.devices()) {
    for (const control::Capacity* kind :
         {&device->queue_pairs, &device->completion_queues, &device->shared_receive_queues,
          &device->memory_regions, &device->memory_windows, &device->device_memory,
          &device->protection_domains, &device->address_handles, &device->flows, &device->flow_counters,
          &device->xrc_domains}) {
      require(kind->used() == 0, "objects are left");
    }
    require(device->multicast.groups() == 0 && device->multicast.members() == 0, "group members are left");
  }
}

void run(control::test::Machine& machine, Input input) {
  std::array<std::unique_ptr<control::test::DirectProgram>, 2> programs;
  for (auto& program : programs) program = std::make_unique<control::test::DirectProgram>(machine);
  require(programs[0]->open() == 0, "open_context");
  const abi::ContextToken first_token = programs[0]->opened.token;

  abi::ControlOpcode opcode{};
  std::uint8_t how = 0;
  control::Message message;
  while (input.next(opcode, how, message)) {
    tame(message, opcode);
    if ((how & real_memory) != 0) {
      change_body<abi::RegisterMrRequest>(message, use_real_memory);
      change_body<abi::PlaceReceivedRequest>(message, place_in_real_memory);
    }
    if ((how & token) != 0) {
      put_token<abi::JoinContextRequest>(message, opcode, abi::ControlOpcode::join_context, first_token);
      put_token<abi::OpenSharedContextRequest>(message, opcode, abi::ControlOpcode::open_shared_context,
                                               first_token);
    }
    message.descriptors.clear();
    attach_descriptors(message, how);
    auto& program = programs[(how & other_program) != 0 ? 1 : 0];
    if (program == nullptr) continue;
    if (program->dispatch_raw(message)) {
      check_reply(program->reply());
    } else {
      program.reset();  // the connection is closed
    }
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
