#include "device_model/control/netlink/netlink_file.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "device_model/control/loop/message_socket.hpp"
#include "device_model/control/loop/peer.hpp"
#include "device_model/control/loop/unread_descriptors.hpp"

namespace urnic::control::netlink {
namespace {

constexpr std::uint64_t kDescriptorsOfFile = 1;
constexpr std::uint64_t kBytesOfFile = 32 * 1024;
// Requests of libibverbs, librdmacm and rdma are below 200 bytes.
constexpr std::size_t kMaxRequests = 8192;
// At once: a request, its answer and its result, each made and sent.
constexpr int kStepsAtOnce = 6;
constexpr int kStepsOfPortion = 2;

}  // namespace

NetlinkFile::NetlinkFile(const Surroundings& surroundings, memory::Descriptor socket,
                         std::function<void()> closed)
    : surroundings_(surroundings),
      peer_(peer_number(socket.get())),
      socket_(std::move(socket)),
      closed_(std::move(closed)),
      charge_(surroundings.subjects.fabric.quotas().account(peer_)->charge(Resource::descriptors,
                                                                           kDescriptorsOfFile, kBytesOfFile)),
      watch_(surroundings.loop, socket_.get(), EPOLLIN, [this](std::uint32_t events) { ready(events); }) {}

NetlinkFile::~NetlinkFile() {
  watch_.reset();
  // Messages that nobody has read may hold descriptors.
  shutdown(socket_.get(), SHUT_RDWR);
  surroundings_.disposal.close(std::move(socket_), peer_);
}

void NetlinkFile::close() {
  watch_.reset();
  const auto closed = std::move(closed_);
  closed();
}

void NetlinkFile::ready(std::uint32_t events) {
  const bool is_over = (events & (EPOLLHUP | EPOLLERR)) != 0 || (waits_ && finds_descriptors(socket_.get()));
  if (is_over || (!waits_ && (events & EPOLLIN) != 0 && !receive())) return close();
  go_on();
}

// Only while nothing is left to do. False: the program has closed its socket.
bool NetlinkFile::receive() {
  received_.resize(kMaxRequests);
  std::vector<memory::Descriptor> descriptors;
  int flags = 0;
  const ssize_t length = receive_bytes(socket_.get(), received_, descriptors, flags);
  surroundings_.disposal.close(descriptors, peer_);
  if (length < 0) return errno == EAGAIN;
  not_handled_ = std::span(received_).first(static_cast<std::size_t>(length));
  return length != 0 && !surroundings_.disposal.refuses(peer_);
}

void NetlinkFile::go_on() {
  if (!do_portion(kStepsAtOnce)) return;
  watch_.change(0);
  waits_ = false;
  work_ = WorkInPortions::Work(surroundings_.loop.work(), [this] { return do_portion(kStepsOfPortion); });
}

bool NetlinkFile::do_portion(int steps) {
  for (; steps > 0; --steps) {
    const Step result = step();
    if (result == Step::done) continue;
    wait_for_room(result == Step::waits);
    return false;
  }
  return true;
}

// The order is that of Linux: the answer, then the result.
NetlinkFile::Step NetlinkFile::step() {
  if (!datagram_.empty()) return send();
  if (dump_ != nullptr) {
    go_on_with_dump();
  } else if (result_) {
    datagram_.put_error(question_, *std::exchange(result_, std::nullopt));
  } else if (const auto message = take_message(not_handled_)) {
    handle(*message);
  } else {
    return Step::idle;
  }
  return Step::done;
}

// A program that is gone is noticed by the watch.
NetlinkFile::Step NetlinkFile::send() {
  if (!send_message(socket_.get(), datagram_.bytes(), {})) return Step::waits;
  datagram_.cut_back(0);
  return Step::done;
}

// As Linux's rdma_nl_rcv: what is no request is acknowledged, if it asks for that.
void NetlinkFile::handle(const Message& message) {
  question_ = message.header;
  Answered answered;
  if ((question_.nlmsg_flags & NLM_F_REQUEST) != 0 && question_.nlmsg_type >= NLMSG_MIN_TYPE)
    answered = answer(surroundings_.subjects, message, datagram_);
  dump_ = std::move(answered.dump);
  dump_ended_ = false;
  if (dump_ == nullptr) conclude(answered.error);
}

void NetlinkFile::conclude(int error) {
  if ((question_.nlmsg_flags & NLM_F_ACK) != 0 || error != 0) result_ = -error;
}

void NetlinkFile::go_on_with_dump() {
  if (!dump_ended_) dump_ended_ = !dump_->write(datagram_);
  if (!dump_ended_) return;
  const auto result = dump_->result();
  if (result) conclude(*result);
  if (result || datagram_.put_done({question_.nlmsg_seq, question_.nlmsg_pid})) dump_.reset();
}

// Meanwhile nothing is read, but each message that comes is looked at.
void NetlinkFile::wait_for_room(bool wait) {
  if (wait && waits_) return;
  waits_ = wait;
  if (wait) look_from_the_first(socket_.get());
  watch_.change(wait ? EPOLLIN | EPOLLOUT | EPOLLET : EPOLLIN);
}

}  // namespace urnic::control::netlink
