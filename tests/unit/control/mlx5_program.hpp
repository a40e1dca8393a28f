// A program that opens a device with the mlx5 face, without the kernel stand-in: its commands go straight to
// `dispatch` (direct_program.hpp).
#pragma once

#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include "device_model/abi/uverbs_messages.hpp"
#include "device_model/control/mlx5/context_part.hpp"
#include "device_model/control/mlx5/uverbs_face.hpp"
#include "tests/unit/control/direct_program.hpp"

namespace urnic::control::test {

using Bytes = std::vector<std::byte>;

template <class T>
Bytes bytes_of(const T& value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  return {bytes.begin(), bytes.end()};
}

// What a program writes for one command, and takes as its answer.
struct KernelCommand {
  std::uint32_t number = 0;
  Bytes core{};
  Bytes driver{};
  std::uint32_t core_room = 0;
  std::uint32_t driver_room = 0;
  bool is_apart = true;
  std::uint32_t flags = 0;  // others
  bool opens = false;
  abi::Sharing sharing = abi::Sharing::unwilling;
};

constexpr std::uint32_t extended(std::uint32_t number) { return number | IB_USER_VERBS_CMD_FLAG_EXTENDED; }

class Mlx5Program : public DirectProgram {
 public:
  explicit Mlx5Program(Machine& machine) : DirectProgram(machine) {
    session().kernel_commands = &mlx5::kernel_commands();
  }

  Message message_of(const KernelCommand& command) const {
    abi::UverbsCommandRequest request{};
    request.command = command.number;
    request.flags = command.flags | (command.is_apart ? abi::uverbs_parts_apart : 0u);
    request.core_length = static_cast<std::uint32_t>(command.core.size());
    request.driver_length = static_cast<std::uint32_t>(command.driver.size());
    request.core_room = command.core_room;
    request.driver_room = command.driver_room;
    request.sharing = command.sharing;
    Bytes body = bytes_of(request);
    body.insert(body.end(), command.core.begin(), command.core.end());
    body.insert(body.end(), command.driver.begin(), command.driver.end());
    if (command.opens) {
      abi::OpenContextRequest opening{};
      opening.version = abi::kControlVersion;
      std::strcpy(opening.program, "mlx5_program");
      const Bytes more = bytes_of(opening);
      body.insert(body.end(), more.begin(), more.end());
    }
    Message message;
    message.length = sizeof(abi::RequestHeader) + body.size();
    const abi::RequestHeader header{abi::kControlMagic,
                                    static_cast<std::uint32_t>(ControlOpcode::uverbs_command),
                                    static_cast<std::uint32_t>(message.length), 7};
    std::memcpy(message.storage.data(), &header, sizeof header);
    std::copy(body.begin(), body.end(), message.storage.begin() + sizeof header);
    return message;
  }

  // The errno of the reply. With 0, `head`, `core` and `driver` are what came.
  int run(const KernelCommand& command, std::vector<memory::Descriptor> descriptors = {}) {
    Message message = message_of(command);
    message.descriptors = std::move(descriptors);
    Dispatched dispatched = Dispatched::not_yet;
    while (dispatched == Dispatched::not_yet) dispatched = dispatch_once(message);
    if (dispatched != Dispatched::answered) return -1;
    const auto bytes = reply().bytes();
    abi::ReplyHeader header{};
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.error != 0) return header.error;
    std::memcpy(&head, bytes.data() + sizeof header, sizeof head);
    const auto rest = bytes.subspan(sizeof header + sizeof head);
    if (rest.size() != head.core_length + head.driver_length) return -2;
    core.assign(rest.begin(), rest.begin() + head.core_length);
    driver.assign(rest.begin() + head.core_length, rest.end());
    return 0;
  }

  template <class Answer, class Request>
  int run(std::uint32_t number, const Request& request, Answer& answer) {
    const int error = run({.number = number, .core = bytes_of(request), .core_room = sizeof answer});
    if (error == 0) std::memcpy(&answer, core.data(), std::min(core.size(), sizeof answer));
    return error;
  }
  template <class Request>
  int run(std::uint32_t number, const Request& request) {
    return run({.number = number, .core = bytes_of(request)});
  }

  static mlx5_ib_alloc_ucontext_req_v2 ucontext_request() {
    mlx5_ib_alloc_ucontext_req_v2 request{};
    request.total_num_bfregs = 16;
    request.num_low_latency_bfregs = 4;
    request.max_cqe_version = 1;
    return request;
  }

  int open_mlx5(const mlx5_ib_alloc_ucontext_req_v2& request = ucontext_request()) {
    events_ = make_pipe();
    std::vector<memory::Descriptor> descriptors;
    descriptors.push_back(own_pidfd());
    descriptors.push_back(own_memory());
    descriptors.push_back(duplicate(events_.read_end.get()));
    descriptors.push_back(duplicate(events_.write_end.get()));
    KernelCommand command{.number = IB_USER_VERBS_CMD_GET_CONTEXT,
                          .core = bytes_of(ib_uverbs_get_context{}),
                          .driver = bytes_of(request),
                          .core_room = sizeof(ib_uverbs_get_context_resp),
                          .driver_room = sizeof ucontext,
                          .opens = true};
    const int error = run(command, std::move(descriptors));
    if (error == 0) std::memcpy(&ucontext, driver.data(), std::min(driver.size(), sizeof ucontext));
    return error;
  }

  std::uint32_t allocate_pd() {
    ib_uverbs_alloc_pd_resp made{};
    return run(IB_USER_VERBS_CMD_ALLOC_PD, ib_uverbs_alloc_pd{}, made) == 0 ? made.pd_handle : 0;
  }

  mlx5::ContextPart& part() { return *mlx5::part_of(*session().context); }

  abi::UverbsCommandReply head{};
  Bytes core;
  Bytes driver;
  mlx5_ib_alloc_ucontext_resp ucontext{};

 private:
  Pipe events_;
};

struct OpenMlx5Program : Mlx5Program {
  explicit OpenMlx5Program(Machine& machine) : Mlx5Program(machine) {
    if (open_mlx5() != 0) throw std::runtime_error("GET_CONTEXT failed");
  }
};

}  // namespace urnic::control::test
