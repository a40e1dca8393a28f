// An open rdma_cm node: the queue of its events, and the tokens that make its descriptor readable.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "device_model/control/fabric/quotas.hpp"
#include "device_model/control/rdma_cm/event.hpp"

namespace urnic::control::rdma_cm {

// The program that has opened a channel.
struct Opener {
  std::shared_ptr<Account> account;
  std::function<bool(std::uint16_t port)> may_bind_low_port = [](std::uint16_t) { return false; };
  std::string name;  // for log lines
  // Whether the program has closed the channel, or has ended, though the device process has not noticed yet.
  std::function<bool()> is_gone = [] { return false; };
  pid_t pid = 0;  // in this PID namespace; 0 if hidden
};

class Channel {
 public:
  // `send_token` sends one token (rdma_cm_messages.hpp) and returns whether it could be sent.
  Channel(Opener opener, std::function<bool()> send_token)
      : opener_(std::move(opener)), send_token_(std::move(send_token)) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  const Opener& opener() const { return opener_; }

  void push(const Event& event);
  // The program has taken a token and asks for the event.
  std::optional<Event> take();
  // Moves the events that `wanted` chooses behind those of `other`, which may be a list that is thrown away.
  template <class Predicate>
  void move_events(std::list<Event>& other, std::size_t count, Predicate wanted);
  // Takes over what `move_events` gave.
  void append(std::list<Event>&& events);
  // How many tokens lie in the socket for which there is no event any more. The program is told to discard
  // them.
  std::uint32_t excess_tokens();

  std::size_t events() const { return events_.size(); }
  // The program is gone: no tokens any more.
  void close() {
    send_token_ = [] { return false; };
    opener_.is_gone = [] { return true; };
  }

  // The numbers of the channel's identifiers.
  std::set<std::uint32_t> ids;

 private:
  void top_up();

  Opener opener_;
  std::function<bool()> send_token_;
  std::list<Event> events_;
  std::uint32_t tokens_ = 0;  // in the socket
};

// `count`: how many there are. Channels may have many events, most identifiers none.
template <class Predicate>
void Channel::move_events(std::list<Event>& other, std::size_t count, Predicate wanted) {
  for (auto event = events_.begin(); event != events_.end() && count > 0;) {
    const auto next = std::next(event);
    if (wanted(*event)) {
      other.splice(other.end(), events_, event);
      --count;
    }
    event = next;
  }
}

}  // namespace urnic::control::rdma_cm
