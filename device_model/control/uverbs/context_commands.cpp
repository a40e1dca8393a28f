// open_context, open_shared_context, join_context, add_completion_channel: what a connection begins with, and
// its channels.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/log/log.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "device_model/engine/completion/event_pipe.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/memory/descriptor_facts.hpp"

namespace urnic::control {
namespace {

// The device writes into the pipe and must not block: the descriptors must be both ends of one pipe. Refuses
// a FIFO of a file system: with FUSE even a look at it could block. Takes the descriptors if it returns.
std::unique_ptr<engine::EventPipe> take_pipe(memory::Descriptor& read_end, memory::Descriptor& write_end,
                                             std::size_t record) {
  struct stat reading {};
  struct stat writing {};
  const bool is_pipe = memory::is_unnamed_pipe(read_end.get()) && memory::is_unnamed_pipe(write_end.get()) &&
                       fstat(read_end.get(), &reading) == 0 && fstat(write_end.get(), &writing) == 0 &&
                       S_ISFIFO(reading.st_mode) && S_ISFIFO(writing.st_mode) &&
                       reading.st_ino == writing.st_ino && reading.st_dev == writing.st_dev &&
                       (fcntl(read_end.get(), F_GETFL) & O_ACCMODE) == O_RDONLY &&
                       (fcntl(write_end.get(), F_GETFL) & O_ACCMODE) == O_WRONLY;
  if (!is_pipe) throw std::system_error(EINVAL, std::generic_category(), "not the two ends of a pipe");
  return std::make_unique<engine::EventPipe>(std::move(read_end), std::move(write_end), record);
}

// Throws std::system_error. Refuses this process's own pidfd or memory: otherwise the device would write into
// its own state.
std::shared_ptr<Process> make_process(const Session& session, std::vector<memory::Descriptor>& received,
                                      const char (&program)[sizeof(abi::OpenContextRequest::program)]) {
  const std::string name = printable_name(program, sizeof program);
  if (session.refuse_own_process && is_of_own_process(received[0].get(), received[1].get())) {
    log::warn("{}: {} sent a descriptor of the device process itself: refused", session.device.settings.name,
              name);
    throw std::system_error(EINVAL, std::generic_category(), "a descriptor of the device process itself");
  }
  return std::make_shared<Process>(std::move(received[0]), std::move(received[1]), name);
}

// The pidfd, which comes first, may be missing: some processes cannot make one.
bool complete(const Session& session, std::vector<memory::Descriptor>& received, std::size_t wanted) {
  if (received.size() + 1 == wanted) received.insert(received.begin(), session.peer_pidfd());
  return received.size() == wanted;
}

void introduce(Session& session, std::shared_ptr<Context> context, std::shared_ptr<Process> process) {
  context->add_process(process);
  session.context = std::move(context);
  session.process = std::move(process);
  if (session.process->memory() == nullptr) {
    log::warn("context {}: {} (pid {}): {}; registering memory will fail", session.context->id,
              session.process->program(), session.process->pid(), session.process->memory_problem());
  }
}

// `shared`: the objects that the new context imports; or null.
int open(Session& session, const abi::OpenContextRequest& request, abi::OpenContextReply& reply,
         DescriptorExchange& descriptors, const std::shared_ptr<MemoryObjects>& shared) {
  auto& received = descriptors.received;
  auto process = make_process(session, received, request.program);
  auto events = take_pipe(received[2], received[3], 16);
  auto context = std::make_shared<Context>(session.contexts.next_id(), make_token(), session.fabric,
                                           session.device, std::move(events), shared, session.account);
  session.contexts.add(context);
  log::debug("context {}: {} (pid {}) opens {}, memory by {}", context->id, process->program(),
             process->pid(), session.device.settings.name,
             process->memory() != nullptr ? process->memory()->way() : "no way");

  reply.token = context->token;
  reply.context = context->id;
  reply.completion_vectors = limits::kCompletionVectors;
  descriptors.sent = {context->doorbell_descriptor(),
                      session.fabric.engine(session.device).status_descriptor(), context->wake_descriptor()};
  introduce(session, std::move(context), std::move(process));
  reply.reserved_pd = reserve_pd(session);
  return 0;
}

bool same_version(const Session& session, std::uint32_t version) {
  if (version == abi::kControlVersion) return true;
  log::warn(
      "{}: a program's provider speaks version {} of the control protocol, this is version {}: "
      "install provider and device process of one release",
      session.device.settings.name, version, abi::kControlVersion);
  return false;
}

}  // namespace

int open_context(Session& session, const abi::OpenContextRequest& request, abi::OpenContextReply& reply,
                 DescriptorExchange& descriptors) {
  if (session.context != nullptr || !complete(session, descriptors.received, 4)) return EINVAL;
  if (!same_version(session, request.version)) return EPROTO;
  return open(session, request, reply, descriptors, nullptr);
}

int open_shared_context(Session& session, const abi::OpenSharedContextRequest& request,
                        abi::OpenContextReply& reply, DescriptorExchange& descriptors) {
  if (session.context != nullptr || !complete(session, descriptors.received, 4)) return EINVAL;
  if (!same_version(session, request.open.version)) return EPROTO;
  const auto original = session.contexts.find(request.token);
  if (original == nullptr || &original->device != &session.device) return EINVAL;
  if (!memory::is_unnamed_pipe(descriptors.received[2].get())) return EINVAL;
  memory::Descriptor read_end(fcntl(descriptors.received[2].get(), F_DUPFD_CLOEXEC, 0));
  if (!read_end) return errno;
  const int error = open(session, request.open, reply, descriptors, original->share_memory());
  if (error == 0) session.async_read_end = std::move(read_end);
  return error;
}

int join_context(Session& session, const abi::JoinContextRequest& request, abi::JoinContextReply& reply,
                 DescriptorExchange& descriptors) {
  if (session.context != nullptr || !complete(session, descriptors.received, 2)) return EINVAL;
  if (request.version != abi::kControlVersion) return EPROTO;
  auto context = session.contexts.find(request.token);
  if (context == nullptr || &context->device != &session.device) return EINVAL;
  auto process = make_process(session, descriptors.received, request.program);
  log::debug("context {}: {} (pid {}) joins", context->id, process->program(), process->pid());
  reply.context = context->id;
  introduce(session, std::move(context), std::move(process));
  return 0;
}

int add_completion_channel(Session& session, const abi::AddCompletionChannelRequest&, abi::Empty&,
                           DescriptorExchange& descriptors) {
  if (descriptors.received.size() != 2) return EINVAL;
  Charge charge = session.account->charge(Resource::descriptors, 2);
  session.context->add_channel(take_pipe(descriptors.received[0], descriptors.received[1], 8),
                               std::move(charge));
  return 0;
}

}  // namespace urnic::control
