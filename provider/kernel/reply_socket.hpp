// The sockets on which the device process answers rdma_cm commands (device_model/abi/rdma_cm_messages.hpp).
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "device_model/abi/rdma_cm_messages.hpp"

namespace urnic::kernel {

// One of this process's reply sockets, for one command. Neither locks nor allocates: a signal handler and a
// child of fork find another socket or make one. Keeps no descriptor below kLowestDescriptor where the limit
// allows.
class ReplySocket {
 public:
  // Sockets that the process keeps for its next commands. A command that finds all busy makes one for itself.
  static constexpr unsigned kKept = 16;
  // Programs may count on the lowest numbers, and use FD_SET on them.
  static constexpr int kLowestDescriptor = 960;

  // `process`: this one.
  explicit ReplySocket(pid_t process);
  ~ReplySocket();
  ReplySocket(const ReplySocket&) = delete;
  ReplySocket& operator=(const ReplySocket&) = delete;

  // False: the device process cannot be reached; errno says why.
  bool is_open() const { return current_->descriptor >= 0; }
  const abi::SocketName& name() const { return current_->name; }

  // Where an answer goes: `place`, memory of the program's of `size` bytes, and further answers, if it may
  // have some.
  struct Room {
    void* place = nullptr;
    size_t size = 0;
    void* further = nullptr;  // abi::kMaxFurtherAnswers bytes
  };
  // Waits for the answer, whose bytes the kernel copies to the program's memory. True: there is one, in
  // `reply`. False and errno: EFAULT if that memory cannot be written (`reply` is there all the same), EIO if
  // the device process is gone.
  bool receive(const Room& room, abi::RdmaCmReply& reply);

  struct Slot {
    pid_t owner = 0;  // the process that uses the slot at this moment; 0: none
    pid_t process = 0;
    int descriptor = -1;
    uint64_t cookie = 0;
    abi::SocketName name = {};
  };

 private:
  bool is_usable() const;
  void open();
  void close_descriptor();

  pid_t process_;
  Slot* current_;
  Slot own_ = {};  // if all that are kept are busy
};

}  // namespace urnic::kernel
