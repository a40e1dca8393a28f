// What the services without acknowledgements have in common (IBTA 9.8): states, a send queue whose requests
// complete when they are sent, a receive queue, errors. The derived services make packets and decide which
// packets are let in.
//
// Driven like a QueuePair: single-threaded, without I/O. Nothing is ever awaited: only the pace needs the
// time.
#pragma once

#include <cstdint>

#include "device_model/transport/host.hpp"
#include "device_model/transport/queue_pair_config.hpp"
#include "device_model/transport/receive_placement.hpp"
#include "device_model/transport/send_pace.hpp"
#include "device_model/transport/shared_state.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::transport {

class UnreliableQueuePair {
 public:
  explicit UnreliableQueuePair(const QpConfig& config);
  virtual ~UnreliableQueuePair() = default;
  UnreliableQueuePair(const UnreliableQueuePair&) = delete;
  UnreliableQueuePair& operator=(const UnreliableQueuePair&) = delete;

  // These are QueuePair's, with the difference that an error of a send request leads to SQE, where receives
  // go on (IBTA 10.3.1.6).
  QpState state() const { return shared_.state; }
  const QpParameters& parameters() const { return shared_.parameters; }
  void modify(QpState state, const QpParameters& parameters, bool notify_drained = false);
  // As QueuePair::set_pkey.
  void set_pkey(wire::Pkey pkey) { shared_.parameters.pkey = pkey; }
  bool drained() const { return shared_.state == QpState::sqd && !sending_; }
  void doorbell();
  void receive(const InboundPacket& packet);
  std::uint32_t pump(Time now, std::uint32_t packets);
  bool wants_pump() const;
  SendPace& pace() { return pace_; }
  const SendPace& pace() const { return pace_; }
  void memory_failed(const AccessTag& tag);

 protected:
  const QpConfig& config() const { return shared_.config; }
  Counters& counters() { return *shared_.config.counters; }
  ReceivePlacement& receives() { return receives_; }

  // Sends `packet` with bytes [offset, offset + length) of the request's message. Fills its tag in.
  WorkStatus send_with_payload(OutboundPacket& packet, const SendRequest& request, std::uint64_t offset,
                               std::uint32_t length, Time now);
  // A receive is under way or could be taken. If not, counts the message, which is to be dropped.
  bool have_receive();
  // A message of one packet: takes a receive and places `front` and then `data` in it. True if the receive is
  // to be completed; the message is dropped if there is no receive or it is too short.
  bool receive_whole(std::span<const std::byte> front, std::span<const std::byte> data, wire::Psn psn);
  // To the error state, with everything flushed.
  void enter_error();
  // The receive under way completes with `status`, and the QP is in error (IBTA 9.9.3, class A).
  void fail_receive(WorkStatus status);

 private:
  // Called when the QP enters RTR, and when it enters RTS from RTR.
  virtual void start_receiving() = 0;
  virtual void start_sending() = 0;
  // Anything but success: the request completes with this status and is not sent.
  virtual WorkStatus check(const SendRequest& request) const = 0;
  // Packets that a request becomes, 1 at least.
  virtual std::uint32_t packets_of(const SendRequest& request) const = 0;
  // Emits the packet at place `at` of `count`. As `check`.
  virtual WorkStatus send_packet(const SendRequest& request, std::uint32_t at, std::uint32_t count,
                                 Time now) = 0;
  // A packet that arrived in a state that lets it in.
  virtual void take_packet(const InboundPacket& packet) = 0;

  bool take_request();
  WorkStatus check_taken() const;
  void execute_local();
  void finish_request();
  void fail_send(WorkStatus status);
  void complete_send(std::uint32_t index, WorkStatus status);
  void flush_sends();
  void reset();
  void raise_drained();
  WorkStatus place_whole(std::span<const std::byte> front, std::span<const std::byte> data, wire::Psn psn);

  SharedState shared_;
  ReceivePlacement receives_;
  SendPace pace_;
  SendRequest request_;  // under way if `sending_`
  bool sending_ = false;
  std::uint32_t next_packet_ = 0;  // of that request
  std::uint32_t packet_count_ = 0;
  std::uint32_t next_index_ = 0;  // of the send WQE that is taken next
  bool notify_drained_ = false;
};

}  // namespace urnic::transport
