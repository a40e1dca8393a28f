// The messages of one open umad file that are several datagrams: who sends them, to whom segments and
// acknowledgements belong, and what is answered to nonsense (IBTA 13.6).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <vector>

#include "device_model/abi/umad_messages.hpp"
#include "device_model/control/umad/pending_requests.hpp"
#include "device_model/control/umad/rmpp_receiver.hpp"
#include "device_model/control/umad/rmpp_sender.hpp"
#include "wire/mad/mad_header.hpp"

namespace urnic::control {

// A message that a program has written.
struct RmppMessage {
  UmadPacket packet;  // with the headers only
  GsiAddress to;
  RmppSender sender;
};

class RmppExchanges {
 public:
  using Clock = std::chrono::steady_clock;
  // Of one file, and of each of both directions. What a peer begins beyond them it is told to stop; what the
  // program writes beyond them is refused.
  static constexpr std::size_t kMostMessages = 64;
  static constexpr std::size_t kLongestMessage = abi::kMostUmadBytes - sizeof(ib_user_mad_hdr);
  // How many segments leave at most until other work of the process gets its turn.
  static constexpr unsigned kSegmentsPerTurn = 256;
  static constexpr std::chrono::milliseconds kPauseForRoom{1};

  // `transmit` may lead to calls of `take` of this object, before it returns. No other one may.
  struct Surroundings {
    std::function<void(const GsiAddress& to, const wire::mad::Mad& mad)> transmit;
    // A whole message has come for the agent.
    std::function<void(std::uint32_t agent, const GsiAddress& from, std::vector<std::byte> message)> arrived;
    // The sender's state says how a message has ended.
    std::function<void(const RmppMessage& message)> ended;
    // Whether all messages of one direction may have so many bytes from now on. They ask before there are
    // more, and say so when there are fewer.
    std::function<bool(std::size_t bytes)> may_send;
    std::function<bool(std::size_t bytes)> may_receive;
    // Whether segments may leave: else they wait for kPauseForRoom, and nothing else does.
    std::function<bool()> has_room = [] { return true; };
  };

  explicit RmppExchanges(Surroundings surroundings) : surroundings_(std::move(surroundings)) {}

  // Whether `send` may have a message of so many bytes. Returns 0; EINVAL: one like it is under way, or it
  // has no room for its headers; ENOMEM: too much is under way. With 0 it has them, until send() or
  // withdraw(), of which one follows before the next check().
  int check(const UmadPacket& packet, std::size_t bytes, const GsiAddress& to);
  void withdraw();
  // Sends `message`, a packet that the program has written, from its header of a datagram on. check() has
  // been content with it.
  void send(const UmadPacket& packet, std::vector<std::byte> message, const GsiAddress& to,
            Clock::time_point now);

  // A datagram of a class with RMPP for the agent. False: it is no part of a longer message.
  bool take(std::uint32_t agent, const GsiAddress& from, const wire::mad::MadHeader& header, MadBytes mad,
            Clock::time_point now);

  // Nobody waits any more for the answer to the request with this id: it ends, and a new one may have the id.
  void forget_request(const PendingRequests::Key& key);
  void drop_agent(std::uint32_t agent);

  std::optional<Clock::time_point> next_due() const;
  void expire(Clock::time_point now);

 private:
  struct Source {
    std::uint32_t agent = 0;
    GsiAddress from;
    wire::mad::MadHeader header;
    bool matches(const Source& other) const;
  };
  struct Incoming {
    Source source;
    RmppReceiver receiver;
  };
  struct Part {
    const Source& source;
    const wire::mad::RmppHeader& header;
    MadBytes mad;
    Clock::time_point now;
  };

  void take_data(const Part& part);
  void take_acknowledgement(const Part& part);
  void take_end(const Part& part);
  void refuse(const Part& part, wire::mad::RmppStatus why);
  void reply(const GsiAddress& to, std::span<const std::byte> headers, const RmppReply& reply);
  Incoming* begin(const Part& part);
  bool make_room();
  std::size_t outgoing_bytes() const;
  std::size_t incoming_bytes() const;
  void tell_bytes() const;
  Incoming* find_incoming(const Source& source);
  RmppMessage* find_outgoing(const Source& source);
  std::uint32_t first_window(const wire::mad::MadHeader& header, const GsiAddress& to) const;
  void pump(Clock::time_point now);
  void end_finished();

  Surroundings surroundings_;
  std::list<RmppMessage> outgoing_;
  std::size_t promised_ = 0;                  // bytes of the message that check() has been content with
  std::list<Incoming> incoming_;              // the oldest first
  bool pumps_ = false;                        // segments are leaving: what comes meanwhile waits for its turn
  std::optional<Clock::time_point> goes_on_;  // segments could leave, and do so then
};

}  // namespace urnic::control
