// A program that speaks the control protocol without a socket: its messages go straight to `dispatch`, and
// the engine's tasks run on the test's thread, so nothing depends on time.
#pragma once

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "device_model/abi/query_messages.hpp"
#include "device_model/control/fabric/configuration.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/uverbs/dispatch.hpp"

namespace urnic::control::test {

using abi::ControlOpcode;

inline memory::Descriptor duplicate(int descriptor) {
  return memory::Descriptor(fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
}

struct Pipe {
  memory::Descriptor read_end;
  memory::Descriptor write_end;
};

inline Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0)
    throw std::system_error(errno, std::generic_category());
  return {memory::Descriptor(ends[0]), memory::Descriptor(ends[1])};
}

inline std::uint64_t inode_of(int descriptor) {
  struct stat status {};
  fstat(descriptor, &status);
  return status.st_ino;
}

inline memory::Descriptor own_pidfd() {
  return memory::Descriptor(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
}

inline memory::Descriptor own_memory() {
  return memory::Descriptor(open("/proc/self/mem", O_RDWR | O_CLOEXEC));
}

template <class Body>
Message make_message(ControlOpcode opcode, const Body& body,
                     std::vector<memory::Descriptor> descriptors = {}) {
  Message message;
  message.length = sizeof(abi::RequestHeader) + sizeof body;
  const abi::RequestHeader header{abi::kControlMagic, static_cast<std::uint32_t>(opcode),
                                  static_cast<std::uint32_t>(message.length), 7};
  std::memcpy(message.storage.data(), &header, sizeof header);
  std::memcpy(message.storage.data() + sizeof header, &body, sizeof body);
  message.descriptors = std::move(descriptors);
  return message;
}

// One device process without threads.
struct Machine {
  Fabric fabric{default_configuration()};
  ContextRegistry contexts;
};

class DirectProgram {
 public:
  explicit DirectProgram(Machine& machine, std::size_t device = 0)
      : session_{machine.fabric, *machine.fabric.devices()[device], machine.contexts, {}, {}, {}} {
    session_.account = machine.fabric.quotas().account(getpid());
  }

  // Sends what may be nonsense.
  bool dispatch_raw(Message& message) { return dispatch_once(message) == Dispatched::answered; }
  // A portion of a request's work.
  Dispatched dispatch_once(Message& message) { return dispatch(session_, message, reply_); }

  // The errno of the reply; with 0, `body` is what came behind the header.
  template <class Request, class Body>
  int call(ControlOpcode opcode, const Request& request, Body& body,
           std::vector<memory::Descriptor> descriptors = {}) {
    Message message = make_message(opcode, request, std::move(descriptors));
    Dispatched dispatched = Dispatched::not_yet;
    while (dispatched == Dispatched::not_yet) dispatched = dispatch_once(message);
    if (dispatched != Dispatched::answered) return -1;
    abi::ReplyHeader header{};
    std::memcpy(&header, reply_.storage.data(), sizeof header);
    if (header.magic != abi::kControlMagic || header.length != reply_.length || header.sequence != 7 ||
        header.opcode != static_cast<std::uint32_t>(opcode)) {
      return -2;
    }
    if (header.error != 0) return reply_.length == sizeof header ? header.error : -3;
    if (reply_.length != sizeof header + sizeof body) return -4;
    std::memcpy(&body, reply_.storage.data() + sizeof header, sizeof body);
    return 0;
  }

  // For requests whose reply says nothing.
  template <class Request>
  int call(ControlOpcode opcode, const Request& request) {
    abi::Empty empty{};
    return call(opcode, request, empty);
  }
  int call(ControlOpcode opcode, std::uint32_t handle) {
    abi::DeregisterMrReply unused{};
    if (opcode == ControlOpcode::deregister_mr) return call(opcode, abi::HandleRequest{handle, 0}, unused);
    return call(opcode, abi::HandleRequest{handle, 0});
  }

  int open() {
    async_ = make_pipe();
    abi::OpenContextRequest request{};
    request.version = abi::kControlVersion;
    std::strcpy(request.program, "test");
    std::vector<memory::Descriptor> descriptors;
    descriptors.push_back(own_pidfd());
    descriptors.push_back(own_memory());
    descriptors.push_back(duplicate(async_.read_end.get()));
    descriptors.push_back(duplicate(async_.write_end.get()));
    return call(ControlOpcode::open_context, request, opened, std::move(descriptors));
  }

  int join(const abi::ContextToken& token) {
    abi::JoinContextRequest request{};
    request.token = token;
    request.version = abi::kControlVersion;
    abi::JoinContextReply reply{};
    std::vector<memory::Descriptor> descriptors;
    descriptors.push_back(own_pidfd());
    descriptors.push_back(own_memory());
    return call(ControlOpcode::join_context, request, reply, std::move(descriptors));
  }

  std::uint32_t allocate_pd() {
    abi::HandleReply reply{};
    return call(ControlOpcode::allocate_pd, abi::Empty{}, reply) == 0 ? reply.handle : 0;
  }

  std::uint32_t create_cq(std::uint32_t entries = 16, std::uint64_t channel = 0) {
    abi::CreateCqReply reply{};
    const abi::CreateCqRequest request{next_user_handle_++, channel, entries, 0};
    return call(ControlOpcode::create_cq, request, reply) == 0 ? reply.handle : 0;
  }

  abi::CreateQpRequest qp_request(std::uint32_t pd, std::uint32_t cq) {
    abi::CreateQpRequest request{};
    request.user_handle = next_user_handle_++;
    request.pd = pd;
    request.send_cq = request.receive_cq = cq;
    request.type = IBV_QPT_RC;
    request.max_send_wr = request.max_receive_wr = 4;
    request.max_send_sge = request.max_receive_sge = 1;
    return request;
  }

  abi::CreateQpReply create_qp(std::uint32_t pd, std::uint32_t cq) {
    abi::CreateQpReply reply{};
    if (call(ControlOpcode::create_qp, qp_request(pd, cq), reply) != 0) reply.handle = 0;
    return reply;
  }

  int register_mr(std::uint32_t pd, const void* address, std::uint64_t length, std::uint32_t access,
                  abi::RegisterMrReply& reply) {
    const auto place = reinterpret_cast<std::uint64_t>(address);
    return call(ControlOpcode::register_mr, abi::RegisterMrRequest{place, length, place, pd, access}, reply);
  }

  Session& session() { return session_; }
  const Reply& reply() const { return reply_; }
  const Pipe& async_events() const { return async_; }

  abi::OpenContextReply opened{};

 private:
  Session session_;
  Reply reply_;
  Pipe async_;
  std::uint64_t next_user_handle_ = 0x1000;
};

// A program with an open context, a PD and a CQ.
struct OpenProgram : DirectProgram {
  explicit OpenProgram(Machine& machine, std::size_t device = 0) : DirectProgram(machine, device) {
    if (open() != 0) throw std::runtime_error("open_context failed");
    pd = allocate_pd();
    cq = create_cq();
  }
  std::uint32_t pd = 0;
  std::uint32_t cq = 0;
};

}  // namespace urnic::control::test
