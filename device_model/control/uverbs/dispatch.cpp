#include "device_model/control/uverbs/dispatch.hpp"

#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>
#include <type_traits>

#include "device_model/control/log/log.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "device_model/control/uverbs/kernel_commands.hpp"

namespace urnic::control {
namespace {

using Body = std::span<const std::byte>;

struct Command {
  // Reads the body, calls the handler, writes the reply's body after `reply.length`.
  int (*run)(Session&, Body, Reply&, DescriptorExchange&) = nullptr;
  bool before_context = false;
  bool has_reply = true;
  bool lays_out_queues = false;  // as abi/queues.hpp: not in a context that was opened by way of another face
};

// Empty bodies may be left out.
template <class RequestBody>
bool read_body(Body bytes, RequestBody& body) {
  static_assert(std::is_trivially_copyable_v<RequestBody>);
  if constexpr (std::is_same_v<RequestBody, abi::Empty>) {
    if (bytes.empty()) return true;
  }
  if (bytes.size() != sizeof body) return false;
  std::memcpy(&body, bytes.data(), sizeof body);
  return true;
}

template <class RequestBody, class ReplyBody,
          int (*handler)(Session&, const RequestBody&, ReplyBody&, DescriptorExchange&)>
int run_handler(Session& session, Body bytes, Reply& reply, DescriptorExchange& descriptors) {
  static_assert(sizeof(abi::ReplyHeader) + sizeof(ReplyBody) <= abi::kMaxControlMessage);
  RequestBody request{};
  ReplyBody body{};
  if (!read_body(bytes, request)) return EINVAL;
  if (const int error = handler(session, request, body, descriptors)) return error;
  std::memcpy(reply.storage.data() + reply.length, &body, sizeof body);
  reply.length += sizeof body;
  return 0;
}

int run_kernel_command(Session& session, Body bytes, Reply& reply, DescriptorExchange& descriptors) {
  if (session.kernel_commands == nullptr) return EOPNOTSUPP;
  std::size_t length = 0;
  const int error = session.kernel_commands->uverbs_command(
      session, bytes, std::span(reply.storage).subspan(reply.length), length, descriptors);
  reply.length += length;
  return error;
}

int map_pages(Session& session, const abi::MapPagesRequest& request, abi::MapPagesReply& reply,
              DescriptorExchange& descriptors) {
  return session.kernel_commands != nullptr
             ? session.kernel_commands->map_pages(session, request, reply, descriptors)
             : EINVAL;
}

int watch_page(Session& session, const abi::WatchPageRequest& request, abi::Empty& reply,
               DescriptorExchange& descriptors) {
  return session.kernel_commands != nullptr
             ? session.kernel_commands->watch_page(session, request, reply, descriptors)
             : EOPNOTSUPP;
}

template <class RequestBody, class ReplyBody,
          int (*handler)(Session&, const RequestBody&, ReplyBody&, DescriptorExchange&)>
constexpr Command command() {
  return Command{&run_handler<RequestBody, ReplyBody, handler>};
}

constexpr Command opening(Command command) {
  command.before_context = true;
  return command;
}

constexpr Command of_queues(Command command) {
  command.lays_out_queues = true;
  return command;
}

constexpr Command one_way(Command command) {
  command.has_reply = false;
  return command;
}

Command find_command(std::uint32_t opcode) {
  using Op = abi::ControlOpcode;
  using abi::Empty;
  using abi::HandleRequest;
  switch (static_cast<Op>(opcode)) {
    case Op::open_context:
      return opening(command<abi::OpenContextRequest, abi::OpenContextReply, open_context>());
    case Op::join_context:
      return opening(command<abi::JoinContextRequest, abi::JoinContextReply, join_context>());
    case Op::open_shared_context:
      return opening(command<abi::OpenSharedContextRequest, abi::OpenContextReply, open_shared_context>());
    case Op::announce_exec:
      return opening(command<abi::AnnounceExecRequest, Empty, announce_exec>());
    case Op::tell_token:
      return one_way(command<Empty, Empty, tell_token>());
    case Op::async_channel:
      return command<Empty, Empty, async_channel>();
    case Op::import_pd:
      return command<HandleRequest, abi::HandleReply, import_pd>();
    case Op::import_mr:
      return command<HandleRequest, abi::ImportMrReply, import_mr>();
    case Op::add_completion_channel:
      return one_way(command<abi::AddCompletionChannelRequest, Empty, add_completion_channel>());
    case Op::query_device:
      return command<Empty, abi::QueryDeviceReply, query_device>();
    case Op::query_port:
      return command<abi::QueryPortRequest, abi::QueryPortReply, query_port>();
    case Op::allocate_pd:
      return command<Empty, abi::HandleReply, allocate_pd>();
    case Op::deallocate_pd:
      return command<HandleRequest, abi::HandleReply, deallocate_pd>();
    case Op::allocate_reserved_pd:
      return one_way(command<HandleRequest, Empty, allocate_reserved_pd>());
    case Op::register_mr:
      return command<abi::RegisterMrRequest, abi::RegisterMrReply, register_mr>();
    case Op::deregister_mr:
      return command<HandleRequest, abi::DeregisterMrReply, deregister_mr>();
    case Op::reregister_mr:
      return command<abi::ReregisterMrRequest, abi::RegisterMrReply, reregister_mr>();
    case Op::place_received:
      return command<abi::PlaceReceivedRequest, Empty, place_received>();
    case Op::allocate_mw:
      return command<abi::AllocateMwRequest, abi::AllocateMwReply, allocate_mw>();
    case Op::deallocate_mw:
      return command<HandleRequest, Empty, deallocate_mw>();
    case Op::allocate_null_mr:
      return command<HandleRequest, abi::RegisterMrReply, allocate_null_mr>();
    case Op::advise_mr:
      return command<abi::AdviseMrRequest, abi::AdviseMrReply, advise_mr>();
    case Op::allocate_dm:
      return command<abi::AllocateDmRequest, abi::DmReply, allocate_dm>();
    case Op::free_dm:
      return command<HandleRequest, Empty, free_dm>();
    case Op::import_dm:
      return command<HandleRequest, abi::DmReply, import_dm>();
    case Op::register_dm_mr:
      return command<abi::RegisterDmMrRequest, abi::RegisterMrReply, register_dm_mr>();
    case Op::register_dma_buf_mr:
      return command<abi::RegisterDmaBufMrRequest, abi::RegisterMrReply, register_dma_buf_mr>();
    case Op::create_cq:
      return of_queues(command<abi::CreateCqRequest, abi::CreateCqReply, create_cq>());
    case Op::destroy_cq:
      return command<HandleRequest, abi::DestroyReply, destroy_cq>();
    case Op::resize_cq:
      return of_queues(command<abi::ResizeCqRequest, abi::ResizeCqReply, resize_cq>());
    case Op::modify_cq:
      return command<abi::ModifyCqRequest, Empty, modify_cq>();
    case Op::create_qp:
      return of_queues(command<abi::CreateQpRequest, abi::CreateQpReply, create_qp>());
    case Op::modify_qp:
      return command<abi::ModifyQpRequest, Empty, modify_qp>();
    case Op::modify_qp_unanswered:
      return one_way(command<abi::ModifyQpRequest, Empty, modify_qp_unanswered>());
    case Op::query_qp:
      return command<HandleRequest, abi::QueryQpReply, query_qp>();
    case Op::destroy_qp:
      return command<HandleRequest, abi::DestroyReply, destroy_qp>();
    case Op::set_ece:
      return command<abi::SetEceRequest, Empty, set_ece>();
    case Op::query_ece:
      return command<HandleRequest, abi::QueryEceReply, query_ece>();
    case Op::limit_rate:
      return command<abi::LimitRateRequest, Empty, limit_rate>();
    case Op::create_srq:
      return of_queues(command<abi::CreateSrqRequest, abi::CreateSrqReply, create_srq>());
    case Op::modify_srq:
      return of_queues(command<abi::ModifySrqRequest, abi::ModifySrqReply, modify_srq>());
    case Op::query_srq:
      return command<HandleRequest, abi::QuerySrqReply, query_srq>();
    case Op::destroy_srq:
      return command<HandleRequest, abi::DestroyReply, destroy_srq>();
    case Op::create_tag_matching:
      return of_queues(
          command<abi::CreateTagMatchingRequest, abi::CreateTagMatchingReply, create_tag_matching>());
    case Op::open_xrcd:
      return command<abi::OpenXrcdRequest, abi::HandleReply, open_xrcd>();
    case Op::close_xrcd:
      return command<HandleRequest, Empty, close_xrcd>();
    case Op::create_xrc_srq:
      return of_queues(command<abi::CreateXrcSrqRequest, abi::CreateSrqReply, create_xrc_srq>());
    case Op::open_qp:
      return command<abi::OpenQpRequest, abi::HandleReply, open_qp>();
    case Op::create_ah:
      return command<abi::CreateAhRequest, abi::CreateAhReply, create_ah>();
    case Op::destroy_ah:
      return command<HandleRequest, Empty, destroy_ah>();
    case Op::attach_multicast:
      return command<abi::MulticastRequest, Empty, attach_multicast>();
    case Op::detach_multicast:
      return command<abi::MulticastRequest, Empty, detach_multicast>();
    case Op::create_flow:
      return command<abi::CreateFlowRequest, abi::HandleReply, create_flow>();
    case Op::destroy_flow:
      return command<HandleRequest, Empty, destroy_flow>();
    case Op::create_counters:
      return command<Empty, abi::HandleReply, create_counters>();
    case Op::destroy_counters:
      return command<HandleRequest, Empty, destroy_counters>();
    case Op::read_counters:
      return command<HandleRequest, abi::ReadCountersReply, read_counters>();
    case Op::create_rss_qp:
      return command<abi::CreateRssQpRequest, abi::HandleReply, create_rss_qp>();
    case Op::destroy_rss_qp:
      return command<HandleRequest, Empty, destroy_rss_qp>();
    case Op::uverbs_command:
      return opening(Command{&run_kernel_command});  // it may be GET_CONTEXT, and looks itself
    case Op::map_pages:
      return command<abi::MapPagesRequest, abi::MapPagesReply, map_pages>();
    case Op::watch_page:
      return command<abi::WatchPageRequest, abi::Empty, watch_page>();
  }
  return {};
}

int run_command(const Command& command, Session& session, Body body, Reply& reply,
                DescriptorExchange& descriptors) {
  if (command.run == nullptr) return EINVAL;
  if (!command.before_context && session.context == nullptr) return EINVAL;
  if (command.lays_out_queues && session.context->face != nullptr) return EINVAL;
  try {
    return command.run(session, body, reply, descriptors);
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  } catch (const std::system_error& error) {
    log::debug("{}: request refused: {}", session.device.settings.name, error.what());
    return error.code().value() > 0 ? error.code().value() : EIO;
  } catch (const std::exception& error) {
    log::error("{}: a request could not be handled: {}", session.device.settings.name, error.what());
    return EIO;
  }
}

bool read_header(const Message& message, abi::RequestHeader& header) {
  if (message.length < sizeof header) return false;
  std::memcpy(&header, message.storage.data(), sizeof header);
  return header.magic == abi::kControlMagic && header.length == message.length;
}

}  // namespace

Dispatched dispatch(Session& session, Message& message, Reply& reply) {
  abi::RequestHeader header{};
  if (!read_header(message, header)) return Dispatched::nonsense;
  // A program expects the room of closed contexts to be free at its next request.
  if (session.account != nullptr && session.account->endings() != 0) return Dispatched::not_yet;
  session.unneeded.reset();
  const Command command = find_command(header.opcode);
  DescriptorExchange descriptors{std::move(message.descriptors), {}};
  message.descriptors.clear();

  reply.length = sizeof(abi::ReplyHeader);
  const int error = run_command(command, session, message.bytes().subspan(sizeof header), reply, descriptors);
  message.descriptors = std::move(descriptors.received);  // descriptors that no handler took
  if (error == kNotYet) return Dispatched::not_yet;
  session.looking.reset();
  if (error != 0) {
    reply.length = sizeof(abi::ReplyHeader);
    descriptors.sent.clear();
    for (const std::uint32_t arena : descriptors.new_arenas) session.known_arenas.erase(arena);
  }
  if (!command.has_reply) {
    if (error != 0) {
      log::warn("{}: message {} refused: {}", session.device.settings.name, header.opcode,
                std::strerror(error));
    }
    reply.length = 0;
    return Dispatched::answered;
  }
  const abi::ReplyHeader reply_header{
      abi::kControlMagic, header.opcode, static_cast<std::uint32_t>(reply.length), header.sequence, error, 0};
  std::memcpy(reply.storage.data(), &reply_header, sizeof reply_header);
  reply.descriptors = std::move(descriptors.sent);
  return Dispatched::answered;
}

}  // namespace urnic::control
