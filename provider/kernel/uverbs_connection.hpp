// Connections on which programs give commands of the kernel's uverbs ABI: one request at a time.
#pragma once

#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "device_model/abi/uverbs_messages.hpp"
#include "provider/freestanding/descriptor.hpp"
#include "provider/freestanding/lock.hpp"

namespace urnic::kernel {

struct UverbsRequest {
  abi::ControlOpcode opcode;
  const iovec* parts;  // of the body; may be memory of the program that is not there
  size_t part_count;   // at most kMaxParts
  const int* descriptors = nullptr;
  size_t descriptor_count = 0;

  static constexpr size_t kMaxParts = 4;
  static constexpr size_t kMaxDescriptors = 4;
};

struct UverbsReply {
  alignas(8) unsigned char body[abi::kMaxControlMessage];
  size_t length = 0;
  provider::Descriptor descriptors[UverbsRequest::kMaxDescriptors];
};

// What the process keeps of a connection.
struct UverbsRecord {
  uint64_t cookie = 0;  // socket_cookie of the program's descriptor; 0: the record is free
  int descriptor = -1;  // the program's, as it was when the record was made
  // A child of fork has its parent's descriptor and must not mix into its parent's replies: it joins the
  // context by a connection of its own, once it gives a command.
  bool is_childs = false;
  int own_connection = -1;
  uint64_t own_cookie = 0;  // socket_cookie of that
  uint32_t sequence = 0;
  abi::ContextToken token = {};
  provider::Mutex lock;
};

// The connection by which this process sends messages about what it has open as `device`: that descriptor, or
// the process's own one if it is a child of fork and has joined its parent's context.
int socket_of(int device);

// The process's turn on a connection. Not for signal handlers.
class UverbsTurn {
 public:
  // Waits until no other thread has it. `begins`: the command is the connection's first, GET_CONTEXT.
  UverbsTurn(int descriptor, bool begins);
  ~UverbsTurn();
  UverbsTurn(const UverbsTurn&) = delete;
  UverbsTurn& operator=(const UverbsTurn&) = delete;

  // 0; EOPNOTSUPP: nobody has opened a context on the connection in this process or in its parents; EMFILE:
  // the process has too many; or an errno of joining a parent's context. Then nothing can be asked.
  int error() const { return error_; }
  // What messages go to.
  int socket() const;
  // 0 or an errno: the device process's, EFAULT if a part is not there, EINVAL if it is too long, or EIO if
  // the device process is gone.
  int ask(const UverbsRequest& request, UverbsReply& reply);
  // By this token children of this process join the context that has been opened.
  void opened(const abi::ContextToken& token) { record_->token = token; }

 private:
  int send(const UverbsRequest& request);
  int receive(const UverbsRequest& request, UverbsReply& reply);
  int join();

  int descriptor_;
  UverbsRecord* record_;
  int error_;
};

}  // namespace urnic::kernel
