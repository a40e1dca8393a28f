#include "device_model/control/objects/copier_parent.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <system_error>
#include <vector>

#include "device_model/control/confinement/confinement.hpp"
#include "device_model/control/log/log.hpp"
#include "device_model/control/loop/message_socket.hpp"
#include "device_model/memory/copier.hpp"
#include "device_model/memory/process_memory.hpp"

namespace urnic::control {

namespace {

// A request to the parent; to create a copier, with its five descriptors.
struct CopierRequest {
  std::uint32_t ends = 0;  // the number of the copier to end; 0: create one
  pid_t pid = 0;           // of the program
};
struct CopierAnswer {
  std::uint32_t number = 0;  // of the new copier; 0: failed
};

constexpr int kReapPeriod = 1000;      // ms
constexpr int kAnswerPatience = 1000;  // ms

[[noreturn]] void be_copier(pid_t program, std::vector<memory::Descriptor>& received) {
  prctl(PR_SET_NAME, "urnic-copier");
  memory::CopierDescriptors descriptors{
      .page = std::move(received[2]), .request = std::move(received[3]), .answer = std::move(received[4])};
  std::string problem;
  const auto memory =
      memory::open_process_memory(program, std::move(received[0]), std::move(received[1]), problem);
  if (memory == nullptr) _exit(EXIT_FAILURE);
  allow_copying_only();  // if the machine allows it
  memory::run_copier(descriptors, *memory);
  _exit(EXIT_FAILURE);
}

class Nursery {
 public:
  explicit Nursery(int socket) : socket_(socket) {}

  // Until the device process has ended.
  void run() {
    while (wait_for_request()) {
      CopierRequest request;
      std::vector<memory::Descriptor> received;
      int flags = 0;
      const ssize_t size =
          receive_bytes(socket_, std::as_writable_bytes(std::span{&request, 1}), received, flags);
      if (size == 0 || (size < 0 && errno != EINTR && errno != EAGAIN)) return;
      if (size != sizeof request) continue;
      if (request.ends != 0) {
        kill_child(static_cast<pid_t>(request.ends));
      } else {
        make(request.pid, received);
      }
    }
  }

 private:
  bool wait_for_request() {
    pollfd entry{socket_, POLLIN, 0};
    for (;;) {
      const int ready = poll(&entry, 1, children_.empty() ? -1 : kReapPeriod);
      reap();
      if (ready > 0) return true;
      if (ready < 0 && errno != EINTR) return false;
    }
  }

  // A child that has ended keeps its PID until it is waited for here, so `kill` never hits a reused PID.
  void reap() {
    std::erase_if(children_, [](pid_t child) { return waitpid(child, nullptr, WNOHANG) == child; });
  }

  void kill_child(pid_t child) {
    for (const pid_t known : children_) {
      if (known == child) kill(child, SIGKILL);
    }
  }

  void make(pid_t program, std::vector<memory::Descriptor>& received) {
    CopierAnswer answer;
    if (received.size() == 5 && children_.size() < CopierParent::kMost) {
      const pid_t self = getpid();
      const pid_t child = fork();
      if (child == 0) {
        end_with(self);
        close(socket_);
        be_copier(program, received);
      }
      if (child > 0) {
        children_.push_back(child);
        answer.number = static_cast<std::uint32_t>(child);
      }
    }
    [[maybe_unused]] const ssize_t sent = send(socket_, &answer, sizeof answer, MSG_NOSIGNAL);
  }

  int socket_;
  std::vector<pid_t> children_;
};

}  // namespace

Copier::~Copier() { parent_.end(number_); }

std::unique_ptr<CopierParent> CopierParent::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  memory::Descriptor ours(ends[0]);
  memory::Descriptor theirs(ends[1]);
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child > 0) return std::unique_ptr<CopierParent>(new CopierParent(std::move(ours)));
  end_with(self);
  prctl(PR_SET_NAME, "urnic-copiers");
  keep_only(theirs.get());
  Nursery(theirs.get()).run();
  _exit(EXIT_SUCCESS);
}

std::unique_ptr<Copier> CopierParent::make(pid_t pid, int pidfd, int mem,
                                           const memory::CopierDescriptors& descriptors) {
  const CopierRequest request{.pid = pid};
  const std::array<int, 5> sent{pidfd, mem, descriptors.page.get(), descriptors.request.get(),
                                descriptors.answer.get()};
  CopierAnswer answer;
  pollfd entry{socket_.get(), POLLIN, 0};
  const bool answered = send_message(socket_.get(), std::as_bytes(std::span{&request, 1}), sent) &&
                        poll(&entry, 1, kAnswerPatience) == 1 &&
                        recv(socket_.get(), &answer, sizeof answer, MSG_DONTWAIT) == sizeof answer;
  if (!answered) log::error("the process that makes copiers does not answer");
  return answer.number != 0 ? std::make_unique<Copier>(*this, answer.number) : nullptr;
}

void CopierParent::end(std::uint32_t number) {
  const CopierRequest request{.ends = number};
  send_message(socket_.get(), std::as_bytes(std::span{&request, 1}), {});
}

}  // namespace urnic::control
