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

// How the tokens of a channel carry events.
struct Carrier {
  // Sends a token that carries the event. False: it cannot be sent.
  std::function<bool(const Event&, std::uint32_t number)> send;
  // How much of what was sent lies unread in the socket; each token counts the same.
  std::function<std::size_t()> unread;
  // Something is to be sent: `send_tokens` is to be called when the state of all identifiers is settled.
  std::function<void()> has_tokens;
};

class Channel {
 public:
  // `send_token` sends one token (rdma_cm_messages.hpp) and returns whether it could be sent.
  Channel(Opener opener, std::function<bool()> send_token)
      : opener_(std::move(opener)), send_token_(std::move(send_token)) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  const Opener& opener() const { return opener_; }

  // The program takes events with their tokens. Nothing happens at further calls.
  void carry_events(Carrier carrier);
  void push(const Event& event);
  // Sends tokens for the events that have none yet: with a carrier, the only way to send some.
  void send_tokens();
  // The event that has gone with its token, if the program has taken it.
  std::optional<Event> taken();
  // Whether an event has gone with its token, and its taking is not known.
  bool has_carried() const { return carried_.has_value(); }
  // Makes the carried event, which is unread, the first of those that are queued; its token is one like
  // others now. No events are carried on this channel any more: the program may be told to discard tokens.
  void take_back();
  // Whether the event of the token is the reader's, though the program asks for it.
  bool is_readers(std::uint32_t token) const { return token != 0 && token != withdrawn_; }
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
    carrier_.reset();
    opener_.is_gone = [] { return true; };
  }

  // The numbers of the channel's identifiers.
  std::set<std::uint32_t> ids;

 private:
  // Events may lack tokens.
  void announce();
  void top_up();
  // False: the event of the first token is to be asked for.
  bool carry_first();
  bool is_carried_unread() const;

  Opener opener_;
  std::function<bool()> send_token_;
  std::list<Event> events_;
  std::uint32_t tokens_ = 0;  // in the socket, and carrying nothing
  std::optional<Carrier> carrier_;
  bool carries_ = false;
  std::optional<Event> carried_;
  std::uint32_t number_ = 0;     // of the last token that carried an event
  std::size_t token_size_ = 0;   // as `unread` counts
  std::uint32_t withdrawn_ = 0;  // the number of the token whose event was taken back
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
