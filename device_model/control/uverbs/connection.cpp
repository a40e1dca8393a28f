#include "device_model/control/uverbs/connection.hpp"

#include <fmt/core.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "device_model/control/log/log.hpp"
#include "device_model/control/loop/peer.hpp"

namespace urnic::control {
namespace {

// For log lines.
std::string peer_of(const Session& session) {
  if (session.process == nullptr) return session.device.settings.name + ": a program";
  return fmt::format("{}: {} (pid {})", session.device.settings.name, session.process->program(),
                     session.process->pid());
}

}  // namespace

Connection::Connection(EventLoop& loop, DescriptorDisposal& disposal, memory::Descriptor socket,
                       Session session, std::function<void()> handled, std::function<void()> closed)
    : loop_(loop),
      disposal_(disposal),
      sender_(peer_number(socket.get())),
      socket_(std::move(socket)),
      session_(std::move(session)),
      handled_(std::move(handled)),
      closed_(std::move(closed)),
      watch_(loop, socket_.get(), EPOLLIN, [this](std::uint32_t events) { ready(events); }) {}

Connection::~Connection() {
  watch_.reset();
  // Tells the program at once; unread messages may hold descriptors, whose closing may take time.
  shutdown(socket_.get(), SHUT_RDWR);
  disposal_.close(std::move(socket_), sender_);
  if (unfinished_ != nullptr) disposal_.close(unfinished_->descriptors, sender_);
}

std::shared_ptr<Context> Connection::take_context() {
  session_.queue_pages = {};  // they are parts of the context's memory
  if (session_.context == nullptr) return nullptr;
  if (session_.context.use_count() != 1) {
    if (session_.context->face != nullptr) session_.context->face->withdraw(*session_.process);
    return nullptr;
  }
  const ObjectCounts alive = session_.context->counts();
  if (alive.qp + alive.srq + alive.cq + alive.mr + alive.mw + alive.pd != 0) {
    log::debug("{} ended with objects alive: {} QPs, {} CQs, {} MRs, {} MWs, {} PDs", peer_of(session_),
               alive.qp, alive.cq, alive.mr, alive.mw, alive.pd);
  }
  return std::move(session_.context);
}

// While a request is unfinished, waits only for the program's end.
void Connection::ready(std::uint32_t events) {
  if (unfinished_ != nullptr) {
    if ((events & (EPOLLHUP | EPOLLERR)) != 0) close();
    return;
  }
  if (handle_one()) return handled_();
  close();
}

void Connection::close() {
  watch_.reset();
  const auto closed = std::move(closed_);
  closed();
}

bool Connection::handle_one() {
  Message message;
  const bool go_on = receive_and_handle(message);
  disposal_.close(message.descriptors, sender_);
  return go_on;
}

bool Connection::receive_and_handle(Message& message) {
  switch (receive_message(socket_.get(), message)) {
    case ReceiveResult::message:
      break;
    case ReceiveResult::nothing:
      return true;
    case ReceiveResult::closed:
      return false;
    case ReceiveResult::unusable:
      log::warn("{} sent a message that is too long or has too many descriptors: connection closed",
                peer_of(session_));
      return false;
  }
  if (!message.descriptors.empty() && disposal_.refuses(sender_)) {
    log::warn("{} has sent descriptors that block when they are closed: connection closed",
              peer_of(session_));
    return false;
  }
  Reply reply;
  switch (dispatch(session_, message, reply)) {
    case Dispatched::answered:
      break;
    case Dispatched::not_yet:
      put_aside(std::move(message));
      return true;
    case Dispatched::nonsense:
      log::warn("{} sent {} bytes that are no control message: connection closed", peer_of(session_),
                message.length);
      return false;
  }
  return answer(reply);
}

void Connection::put_aside(Message&& message) {
  unfinished_ = std::make_unique<Message>(std::move(message));
  watch_.change(0);
  work_ = WorkInPortions::Work(loop_.work(), [this] { return go_on(); });
}

bool Connection::go_on() {
  Reply reply;
  if (dispatch(session_, *unfinished_, reply) == Dispatched::not_yet) return true;
  disposal_.close(unfinished_->descriptors, sender_);
  unfinished_.reset();
  watch_.change(EPOLLIN);
  if (answer(reply)) {
    handled_();
  } else {
    close();
  }
  return false;
}

bool Connection::answer(const Reply& reply) {
  if (reply.length == 0) return true;
  if (send_message(socket_.get(), reply.bytes(), reply.descriptors)) return true;
  if (errno != EPIPE && errno != ECONNRESET) {
    log::warn("{} cannot be answered: {}: connection closed", peer_of(session_), std::strerror(errno));
  }
  return false;
}

}  // namespace urnic::control
