#include "provider/kernel/uverbs_command.hpp"

#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "device_model/abi/uverbs_messages.hpp"
#include "provider/freestanding/descriptor.hpp"
#include "provider/kept_errno.hpp"
#include "provider/kernel/bounded_text.hpp"
#include "provider/kernel/flow_counters.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/uverbs_connection.hpp"
#include "provider/process_identity.hpp"
#include "provider/shared_pages/shared_ranges.hpp"
#include "trust/peer.hpp"

namespace urnic::kernel {

namespace {

struct Pipe {
  provider::Descriptor read_end;
  provider::Descriptor write_end;

  bool make(int flags) {
    int ends[2];
    if (pipe2(ends, flags) != 0) return false;
    read_end.reset(ends[0]);
    write_end.reset(ends[1]);
    return true;
  }
};

// What goes with a command beside its bytes: what the kernel would find in the calling process.
struct Belongings {
  uint64_t channel_inode = 0;
  int descriptors[UverbsRequest::kMaxDescriptors];
  size_t descriptor_count = 0;
  // GET_CONTEXT.
  abi::OpenContextRequest opening = {};
  provider::ProcessIdentity identity;
  Pipe events;
};

constexpr uint32_t extended(uint32_t number) { return number | IB_USER_VERBS_CMD_FLAG_EXTENDED; }

// A number in the command's part; 0 if the command ends before it.
template <typename Number>
Number number_at(const ProgramMemory& memory, const UverbsCommand& command, size_t offset) {
  Number number = 0;
  const auto* const place = static_cast<const unsigned char*>(command.core.place) + offset;
  if (command.core.length < offset + sizeof number ||
      memory.read(&number, place, sizeof number) < sizeof number)
    return 0;
  return number;
}

int introduce(int device, Belongings& belongings) {
  if (!trust::peer_is_own_user(device)) return EACCES;
  if (!belongings.events.make(O_CLOEXEC)) return errno;
  if (fcntl(belongings.events.write_end.get(), F_SETFL, O_NONBLOCK) != 0) return errno;
  if (const int error = belongings.identity.open()) return error;
  provider::allow_memory_access_by_peer(device);
  belongings.opening.version = abi::kControlVersion;
  provider::copy_program_name(belongings.opening.program);
  const int all[] = {belongings.identity.pid_descriptor.get(), belongings.identity.memory.get(),
                     belongings.events.read_end.get(), belongings.events.write_end.get()};
  const auto sent = belongings.identity.to_send(all);
  std::memcpy(belongings.descriptors, sent.data(), sent.size_bytes());
  belongings.descriptor_count = sent.size();
  return 0;
}

// The device process knows a channel by its pipe.
int find_channel(int32_t channel, Belongings& belongings) {
  if (channel < 0) return 0;
  struct stat status;
  if (real::fstat(channel, &status) != 0) return EBADF;
  if (!S_ISFIFO(status.st_mode)) return EINVAL;
  belongings.channel_inode = status.st_ino;
  return 0;
}

int find_file(int32_t file, Belongings& belongings) {
  if (file == -1) return 0;
  if (fcntl(file, F_GETFD) < 0) return EBADF;
  belongings.descriptors[belongings.descriptor_count++] = file;
  return 0;
}

int collect(int device, const ProgramMemory& memory, const UverbsCommand& command, Belongings& belongings) {
  switch (command.number) {
    case IB_USER_VERBS_CMD_GET_CONTEXT:
      return introduce(device, belongings);
    case IB_USER_VERBS_CMD_CREATE_CQ:
      return find_channel(number_at<int32_t>(memory, command, offsetof(ib_uverbs_create_cq, comp_channel)),
                          belongings);
    case extended(IB_USER_VERBS_EX_CMD_CREATE_CQ):
      return find_channel(number_at<int32_t>(memory, command, offsetof(ib_uverbs_ex_create_cq, comp_channel)),
                          belongings);
    case IB_USER_VERBS_CMD_OPEN_XRCD:
      return find_file(number_at<int32_t>(memory, command, offsetof(ib_uverbs_open_xrcd, fd)), belongings);
    default:
      return 0;
  }
}

iovec vector_of(const ProgramPart& part) { return {const_cast<void*>(part.place), part.length}; }

struct Answer {
  abi::UverbsCommandReply head;
  unsigned char* core;
  unsigned char* driver;
};

bool read_answer(UverbsReply& reply, Answer& answer) {
  if (reply.length < sizeof answer.head) return false;
  std::memcpy(&answer.head, reply.body, sizeof answer.head);
  const size_t rest = reply.length - sizeof answer.head;
  if (answer.head.page_count > abi::kMaxQueuePages) return false;
  const bool has_files = answer.head.page_action != abi::PageAction::region_back;
  for (uint32_t i = 0; has_files && i < answer.head.page_count; ++i)
    if (!reply.descriptors[i].valid()) return false;
  if (answer.head.core_length > rest || answer.head.driver_length != rest - answer.head.core_length)
    return false;
  answer.core = reply.body + sizeof answer.head;
  answer.driver = answer.core + answer.head.core_length;
  return true;
}

// What has come of pages that the device process has named, for the command that comes again.
struct Outcome {
  uint32_t flags = 0;  // abi::UverbsCommandFlag
  abi::Sharing sharing = abi::Sharing::willing;
};

int ask(UverbsTurn& turn, const UverbsCommand& command, Belongings& belongings, const Outcome& outcome,
        UverbsReply& reply, Answer& answer) {
  abi::UverbsCommandRequest request = {};
  request.command = command.number;
  request.flags = outcome.flags | (command.is_apart ? static_cast<uint32_t>(abi::uverbs_parts_apart) : 0);
  request.core_length = static_cast<uint32_t>(command.core.length);
  request.driver_length = static_cast<uint32_t>(command.driver.length);
  request.core_room = static_cast<uint32_t>(command.core_answer.length);
  request.driver_room = static_cast<uint32_t>(command.driver_answer.length);
  request.channel_inode = belongings.channel_inode;
  request.sharing = outcome.sharing;
  const iovec parts[] = {{&request, sizeof request},
                         vector_of(command.core),
                         vector_of(command.driver),
                         {&belongings.opening, sizeof belongings.opening}};
  const bool opens = command.number == IB_USER_VERBS_CMD_GET_CONTEXT;
  const int error = turn.ask({abi::ControlOpcode::uverbs_command, parts, opens ? 4U : 3U,
                              belongings.descriptors, belongings.descriptor_count},
                             reply);
  if (error != 0) return error;
  return read_answer(reply, answer) ? 0 : EIO;
}

abi::PageRange range_of(const abi::QueuePages& pages) { return {pages.address, pages.length}; }

void tell_of_refusal(int error) {
  BoundedText<320> line;
  line.append("urnic: the memory of a queue cannot be shared with the device: ")
      .append(std::strerror(error))
      .append(
          ". Queues need private memory of small pages, a System V segment, or a file in memory that is open "
          "or in "
          "/dev/shm\n");
  [[maybe_unused]] const ssize_t written = real::write(STDERR_FILENO, line.text(), line.length());
}

// All pages or none.
uint32_t share_pages(const Answer& answer, const UverbsReply& reply) {
  const provider::Lock lock(provider::registration_lock());
  for (uint32_t i = 0; i < answer.head.page_count; ++i) {
    const abi::QueuePages& pages = answer.head.pages[i];
    const int error = provider::share_part(range_of(pages), reply.descriptors[i], pages.offset);
    if (error == 0) continue;
    for (uint32_t j = 0; j < i; ++j)
      provider::unshare_part(range_of(answer.head.pages[j]), reply.descriptors[j]);
    return abi::uverbs_pages_refused;
  }
  return abi::uverbs_pages_shared;
}

// While memory is registered or deregistered nobody else registers pages that are being exchanged.
class Registration {
 public:
  explicit Registration(uint32_t command) {
    if (command == IB_USER_VERBS_CMD_REG_MR || command == IB_USER_VERBS_CMD_REREG_MR ||
        command == IB_USER_VERBS_CMD_DEREG_MR)
      hold();
  }
  ~Registration() {
    if (held_) provider::registration_lock().unlock();
  }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  // Until this ends.
  void hold() {
    if (!held_) provider::registration_lock().lock();
    held_ = true;
  }

 private:
  bool held_ = false;
};

// The reply to any command may give back pages: those of one that has failed come with the next.
void take_pages_back(const Answer& answer, const UverbsReply& reply, Registration& registration) {
  registration.hold();
  for (uint32_t i = 0; i < answer.head.page_count; ++i)
    provider::unshare_part(range_of(answer.head.pages[i]), reply.descriptors[i]);
}

// A region's pages are shared for it if that is possible (provider/plugin/objects/mr.cpp does the same).
int share_region(UverbsTurn& turn, const UverbsCommand& command, Belongings& belongings, UverbsReply& reply,
                 Answer& answer) {
  const abi::PageRange range = range_of(answer.head.pages[0]);
  const auto file = static_cast<provider::Descriptor&&>(reply.descriptors[0]);
  Outcome outcome;
  outcome.sharing = provider::share(range, file);
  const int error = ask(turn, command, belongings, outcome, reply, answer);
  const bool in_vain = error != 0 || answer.head.page_action == abi::PageAction::region_back;
  if (outcome.sharing == abi::Sharing::shared && in_vain) provider::unshare(range, file);
  if (error == 0 && in_vain) answer.head.page_action = abi::PageAction::none;
  return error;
}

int share_queues(UverbsTurn& turn, const UverbsCommand& command, Belongings& belongings, UverbsReply& reply,
                 Answer& answer) {
  Outcome outcome;
  outcome.flags = share_pages(answer, reply);
  const int error = ask(turn, command, belongings, outcome, reply, answer);
  if (error != 0 && outcome.flags == abi::uverbs_pages_refused) tell_of_refusal(error);
  return error;
}

bool comes_again(const Answer& answer) {
  return answer.head.page_action == abi::PageAction::queues_first ||
         answer.head.page_action == abi::PageAction::region_first;
}

// Asks, and does with pages what the device process wants.
int ask_and_exchange(UverbsTurn& turn, const UverbsCommand& command, Belongings& belongings,
                     Registration& registration, UverbsReply& reply, Answer& answer) {
  int error = ask(turn, command, belongings, {}, reply, answer);
  if (error != 0) return error;
  // Once more for what the device could not map itself.
  for (int offers = 0; offers < 2 && error == 0 && answer.head.page_action == abi::PageAction::queues_first;
       ++offers)
    error = share_queues(turn, command, belongings, reply, answer);
  if (error == 0 && answer.head.page_action == abi::PageAction::region_first)
    error = share_region(turn, command, belongings, reply, answer);
  if (error != 0) return error;
  if (comes_again(answer)) return EIO;
  if (answer.head.page_action == abi::PageAction::queues_back) take_pages_back(answer, reply, registration);
  if (answer.head.page_action == abi::PageAction::region_back)
    provider::unshare(range_of(answer.head.pages[0]), reply.descriptors[0]);
  return 0;
}

bool give(const ProgramMemory& memory, const ProgramPart& to, const void* from, size_t length) {
  if (length == 0) return true;
  return length <= to.length && memory.write(const_cast<void*>(to.place), from, length);
}

// The answer of a command whose parts are not apart goes to one place.
bool give(const ProgramMemory& memory, const UverbsCommand& command, const Answer& answer) {
  const size_t core = answer.head.core_length;
  const size_t driver = answer.head.driver_length;
  if (command.answer_length != nullptr) {
    if (core > command.core_answer.length) return false;
    std::memcpy(const_cast<void*>(command.core_answer.place), answer.core, core);
    *command.answer_length = core;
    return true;
  }
  if (!command.is_apart) return give(memory, command.core_answer, answer.core, core + driver);
  return give(memory, command.core_answer, answer.core, core) &&
         give(memory, command.driver_answer, answer.driver, driver);
}

// The program's context is open: it gets the pipe's end for its asynchronous events.
void finish_opening(UverbsTurn& turn, Belongings& belongings, const Answer& answer) {
  turn.opened(answer.head.token);
  const auto descriptor = static_cast<uint32_t>(belongings.events.read_end.get());
  if (answer.head.core_length >= sizeof(ib_uverbs_get_context_resp))
    std::memcpy(answer.core + offsetof(ib_uverbs_get_context_resp, async_fd), &descriptor, sizeof descriptor);
}

}  // namespace

int run_uverbs_command(int device, const ProgramMemory& memory, const UverbsCommand& given) {
  const KeptErrno kept;
  UverbsCommand command = given;
  FlowCounters counters;
  if (const int error = collect_flow_counters(memory, command, counters)) return error;
  const bool opens = command.number == IB_USER_VERBS_CMD_GET_CONTEXT;
  UverbsTurn turn(device, opens);
  if (turn.error() != 0) return turn.error();
  Belongings belongings;
  if (const int error = collect(device, memory, command, belongings)) return error;
  UverbsReply reply;
  Answer answer;
  Registration registration(command.number);
  if (const int error = ask_and_exchange(turn, command, belongings, registration, reply, answer))
    return error;
  if (opens) finish_opening(turn, belongings, answer);
  if (!give(memory, command, answer)) return EFAULT;
  if (opens) belongings.events.read_end.release();
  return 0;
}

}  // namespace urnic::kernel
