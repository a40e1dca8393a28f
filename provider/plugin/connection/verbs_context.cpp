#include "provider/plugin/connection/verbs_context.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

#include "device_model/abi/memory_messages.hpp"
#include "provider/freestanding/allocation.hpp"
#include "provider/plugin/connection/death_watch.hpp"
#include "provider/plugin/connection/import_connection.hpp"
#include "provider/plugin/device.hpp"
#include "provider/plugin/errno_rule.hpp"
#include "provider/plugin/library/operation_table.hpp"
#include "provider/plugin/operations.hpp"
#include "provider/process_identity.hpp"

namespace urnic::provider {
namespace {

// RDMA_DRIVER_UNKNOWN (rdma/ib_user_ioctl_verbs.h): the kernel has no number for this driver.
constexpr std::uint32_t kUnknownDriver = 0;

// Those of the fast path follow the rule of errno by themselves.
constexpr private_abi::ContextOps make_operations() {
  private_abi::ContextOps ops{};
  ops.alloc_pd = ruled<allocate_pd>;
  ops.dealloc_pd = ruled<deallocate_pd>;
  ops.alloc_td = ruled<allocate_td>;
  ops.dealloc_td = ruled<deallocate_td>;
  ops.alloc_parent_domain = ruled<allocate_parent_domain>;
  ops.reg_mr = ruled<register_mr>;
  ops.reg_mr_ex = ruled<register_mr_by_attributes>;
  ops.rereg_mr = ruled<reregister_mr>;
  ops.dereg_mr = ruled<deregister_mr>;
  ops.alloc_null_mr = ruled<allocate_null_mr>;
  ops.advise_mr = ruled<advise_mr>;
  ops.alloc_dm = ruled<allocate_dm>;
  ops.free_dm = ruled<free_dm>;
  ops.import_dm = ruled<import_dm>;
  ops.unimport_dm = ruled<unimport_dm>;
  ops.reg_dm_mr = ruled<register_dm_mr>;
  ops.reg_dmabuf_mr = ruled<register_dma_buf_mr>;
  ops.alloc_mw = ruled<allocate_mw>;
  ops.dealloc_mw = ruled<deallocate_mw>;
  ops.bind_mw = ruled<bind_mw>;
  ops.create_cq = ruled<create_cq>;
  ops.create_cq_ex = ruled<create_cq_ex>;
  ops.resize_cq = ruled<resize_cq>;
  ops.modify_cq = ruled<modify_cq>;
  ops.destroy_cq = ruled<destroy_cq>;
  ops.poll_cq = poll_cq;
  ops.req_notify_cq = request_notification;
  ops.cq_event = ruled<completion_event_read>;
  ops.async_event = ruled<async_event_read>;
  ops.open_xrcd = ruled<open_xrcd>;
  ops.close_xrcd = ruled<close_xrcd>;
  ops.create_srq = ruled<create_srq>;
  ops.create_srq_ex = ruled<create_srq_ex>;
  ops.post_srq_ops = ruled<post_srq_operations>;
  ops.get_srq_num = ruled<get_srq_number>;
  ops.modify_srq = ruled<modify_srq>;
  ops.query_srq = ruled<query_srq>;
  ops.destroy_srq = ruled<destroy_srq>;
  ops.post_srq_recv = post_srq_receive;
  ops.create_qp = ruled<create_qp>;
  ops.create_qp_ex = ruled<create_qp_ex>;
  ops.open_qp = ruled<open_qp>;
  ops.modify_qp = ruled<modify_qp>;
  ops.query_qp = ruled<query_qp>;
  ops.destroy_qp = ruled<destroy_qp>;
  ops.modify_qp_rate_limit = ruled<modify_qp_rate_limit>;
  ops.set_ece = ruled<set_ece>;
  ops.query_ece = ruled<query_ece>;
  ops.create_ah = ruled<create_ah>;
  ops.destroy_ah = ruled<destroy_ah>;
  ops.attach_mcast = ruled<attach_multicast>;
  ops.detach_mcast = ruled<detach_multicast>;
  ops.create_wq = ruled<create_wq>;
  ops.modify_wq = ruled<modify_wq>;
  ops.destroy_wq = ruled<destroy_wq>;
  ops.create_rwq_ind_table = ruled<create_rwq_ind_table>;
  ops.destroy_rwq_ind_table = ruled<destroy_rwq_ind_table>;
  ops.create_flow = ruled<create_flow>;
  ops.destroy_flow = ruled<destroy_flow>;
  ops.create_counters = ruled<create_counters>;
  ops.destroy_counters = ruled<destroy_counters>;
  ops.attach_counters_point_flow = ruled<attach_counters_to_flow>;
  ops.read_counters = ruled<read_counters>;
  ops.post_send = post_send;
  ops.post_recv = post_receive;
  ops.query_device_ex = ruled<query_device>;
  ops.query_port = ruled<query_port>;
  ops.query_port_speed = ruled<query_port_speed>;
  ops.query_rt_values = ruled<query_rt_values>;
  ops.import_pd = ruled<import_pd>;
  ops.unimport_pd = ruled<unimport_pd>;
  ops.import_mr = ruled<import_mr>;
  ops.unimport_mr = ruled<unimport_mr>;
  ops.free_context = ruled<free_context>;
  return ops;
}
constexpr private_abi::ContextOps kOperations = make_operations();

// Where the library's own structure begins.
std::size_t verbs_offset(const Library& library) {
  return offsetof(VerbsContext, verbs) - library.layout->measures.context_at;
}

verbs_context* library_part(VerbsContext& verbs, const Library& library) {
  return reinterpret_cast<verbs_context*>(reinterpret_cast<std::byte*>(&verbs) + verbs_offset(library));
}

// Opens the pipe of asynchronous events. The provider keeps a write end, so that readers see no end of file
// when the device process dies and the provider can report the death.
int open_async_pipe(ibv_context& verbs, Context& context) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  verbs.async_fd = ends[0];
  context.async_events_writer.reset(ends[1]);
  return fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0 ? 0 : errno;
}

int map_doorbells(Context& context, ReceivedDescriptors& received) {
  const Descriptor doorbells = received.take();
  const Descriptor status = received.take();
  context.engine_wakeup = received.take();
  if (!context.engine_wakeup.valid()) return EIO;
  void* bits = mmap(nullptr, sizeof(abi::Doorbells), PROT_READ | PROT_WRITE, MAP_SHARED, doorbells.get(), 0);
  if (bits == MAP_FAILED) return errno;
  context.doorbells = static_cast<abi::Doorbells*>(bits);
  void* page = mmap(nullptr, sizeof(abi::EngineStatus), PROT_READ, MAP_SHARED, status.get(), 0);
  if (page == MAP_FAILED) return errno;
  context.engine_status = static_cast<const abi::EngineStatus*>(page);
  return 0;
}

int send_introduction(Context& context, const abi::OpenContextRequest& request,
                      std::span<const int> descriptors, const abi::ContextToken* imported,
                      abi::OpenContextReply& reply, ReceivedDescriptors& received) {
  const std::size_t count = descriptors.size();
  if (imported == nullptr) {
    return context.control.exchange({abi::ControlOpcode::open_context, &request, sizeof request,
                                     descriptors.data(), count, &reply, sizeof reply},
                                    received);
  }
  const abi::OpenSharedContextRequest shared{request, *imported};
  return context.control.exchange({abi::ControlOpcode::open_shared_context, &shared, sizeof shared,
                                   descriptors.data(), count, &reply, sizeof reply},
                                  received);
}

// `imported`: the token of the context whose objects this one shares, or null. 0 or an errno.
int introduce(ibv_context& verbs, Context& context, const abi::ContextToken* imported) {
  ProcessIdentity identity;
  if (const int error = identity.open()) return error;
  allow_memory_access_by_peer(verbs.cmd_fd);
  abi::OpenContextRequest request{};
  request.version = abi::kControlVersion;
  copy_program_name(request.program);
  const int all[] = {identity.pid_descriptor.get(), identity.memory.get(), verbs.async_fd,
                     context.async_events_writer.get()};
  const auto descriptors = identity.to_send(all);
  abi::OpenContextReply reply{};
  ReceivedDescriptors received;
  if (const int error = send_introduction(context, request, descriptors, imported, reply, received))
    return error;
  context.token = reply.token;
  context.reserved_pd = reply.reserved_pd;
  verbs.num_comp_vectors = static_cast<int>(reply.completion_vectors);
  return map_doorbells(context, received);
}

void release_context(Context* context) {
  if (context->doorbells != nullptr) munmap(context->doorbells, sizeof(abi::Doorbells));
  if (context->engine_status != nullptr) {
    munmap(const_cast<abi::EngineStatus*>(context->engine_status), sizeof(abi::EngineStatus));
  }
  context->arenas.unmap_all();
  context->qps_by_number.clear();
  context->srqs_by_number.clear();
  destroy_object(context);
}

int open_parts(VerbsContext& verbs, const Library& library, const abi::ContextToken* imported) {
  auto* context = create_object<Context>();
  if (context == nullptr) return ENOMEM;
  verbs.context = context;
  context->library = &library;
  context->control.use(verbs.verbs.cmd_fd);
  context->connected_process = getpid();
  context->owner.set();
  if (const int error = open_async_pipe(verbs.verbs, *context)) return error;
  return introduce(verbs.verbs, *context, imported);
}

verbs_context* open_on(ibv_device* device, int command_fd, const abi::ContextToken* imported) {
  const Library& library = library_of(device);
  auto* const offset = reinterpret_cast<verbs_context*>(verbs_offset(library));
  auto* verbs = static_cast<VerbsContext*>(
      library.allocate_context(device, command_fd, sizeof(VerbsContext), offset, kUnknownDriver));
  if (verbs == nullptr) return nullptr;
  if (const int error = open_parts(*verbs, library, imported)) {
    std::fprintf(stderr, "urnic: cannot open %s: the device process behind it answers: %s\n", device->name,
                 std::strerror(error));
    if (verbs->context != nullptr) release_context(verbs->context);
    library.uninit_context(library_part(*verbs, library));
    std::free(verbs);
    errno = error;
    return nullptr;
  }
  const OperationTable operations = table_for(*library.layout, kOperations);
  library.set_operations(library_part(*verbs, library), &operations);
  watch_for_death(*verbs->context);
  return library_part(*verbs, library);
}

}  // namespace

void ring_doorbell(Context& context, std::uint32_t doorbell) {
  context.doorbells->ring(doorbell);
  if (!must_wake(*context.engine_status)) return;
  const KeptErrno kept;
  const std::uint64_t one = 1;
  [[maybe_unused]] ssize_t written = write(context.engine_wakeup.get(), &one, sizeof one);
}

verbs_context* open_context(ibv_device* device, int command_fd, void*) {
  return open_on(device, command_fd, nullptr);
}

// Other contexts keep using the connection behind `command_fd`, and two readers would take each other's
// replies. So `command_fd` becomes a connection of this context's own.
verbs_context* import_context(ibv_device* device, int command_fd) {
  abi::ContextToken token{};
  if (const int error = take_own_connection(command_fd, token)) {
    close(command_fd);
    errno = error;
    return nullptr;
  }
  verbs_context* verbs = open_on(device, command_fd, &token);
  if (verbs == nullptr) return nullptr;
  // The library requests async_fd from the device itself, and would overwrite this one without closing it.
  const std::size_t context_at = library_of(device).layout->measures.context_at;
  ibv_context& context = *reinterpret_cast<ibv_context*>(reinterpret_cast<std::byte*>(verbs) + context_at);
  close(context.async_fd);
  context.async_fd = -1;
  return verbs;
}

void free_context(ibv_context* library) {
  VerbsContext& verbs = verbs_context_of(library);
  Context* context = verbs.context;
  const Library& loaded = *context->library;
  stop_watching(*context);
  // shutdown ends the connection even if another process, such as a forked child, has the descriptor too. A
  // child without a connection of its own must not end its parent's.
  if (context->connected_process == getpid()) shutdown(context->control.socket(), SHUT_RDWR);
  release_context(context);
  loaded.uninit_context(library_part(verbs, loaded));
  std::free(&verbs);
}

}  // namespace urnic::provider
