// The engine's QP context (IBTA): the transport's QP, its rings, its CQs, its path, and its place in the
// round's lists. Passes the transport's actions to the round.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "device_model/engine/batch/action_stream.hpp"
#include "device_model/engine/device/device_config.hpp"
#include "device_model/engine/queue_pair/event_listeners.hpp"
#include "device_model/engine/queue_pair/queue_pair_config.hpp"
#include "device_model/engine/queue_pair/queue_pair_detail.hpp"
#include "device_model/engine/queue_pair/queue_pair_status.hpp"
#include "device_model/engine/queue_pair/transport_machine.hpp"
#include "device_model/engine/receives/own_receives.hpp"
#include "device_model/engine/receives/xrc_domain_members.hpp"
#include "device_model/engine/rings/program_queues.hpp"
#include "device_model/engine/rings/receive_ring.hpp"
#include "device_model/engine/rings/send_ring.hpp"
#include "device_model/engine/round/participant.hpp"
#include "device_model/engine/round/timers.hpp"
#include "device_model/link/packet_identity.hpp"
#include "device_model/link/port.hpp"
#include "device_model/transport/prefetch.hpp"
#include "wire/frame.hpp"
#include "wire/frame_template.hpp"

namespace urnic::engine {

class MemoryStall;
class QpTable;
class Round;
struct CompletionAction;
struct HeldInput;
struct PacketAction;

class QueuePairContext final : private transport::Host, public Participant, public XrcTarget {
 public:
  // Takes a QPN of the device and private copies of its slots, so that each WQE is read from shared memory
  // once. Null: the device has no free QPN. Any thread. Slot sizes are at least a WQE's head.
  static std::unique_ptr<QueuePairContext> make(const QueuePairConfig& config);
  // `qpn` was reserved in the device's table; the destructor releases it.
  QueuePairContext(const QueuePairConfig& config, wire::Qpn qpn);
  // On any thread if `install` was not called, else on the engine thread.
  ~QueuePairContext();
  QueuePairContext(const QueuePairContext&) = delete;
  QueuePairContext& operator=(const QueuePairContext&) = delete;

  wire::Qpn qpn() const { return qpn_; }
  // Adds it to the QPs of its device and its engine. Throws std::bad_alloc; then it is added nowhere. Engine
  // thread, as everything from here on.
  void install();
  QueuePairStatus status() const;
  // The same with all that its queues hold. Allocates.
  [[gnu::cold]] QueuePairInDetail detail() const;
  transport::QpState state() const { return machine_.state(); }
  const transport::QpParameters& parameters() const { return machine_.parameters(); }
  bool drained() const { return machine_.drained(); }
  // The listeners to its asynchronous events.
  EventListeners& listeners() { return listeners_; }

  // Prefetches the QP before an input.
  void prefetch() const { transport::prefetch_object(*this); }
  // Where the program publishes its producer index.
  const void* send_producer() const;

  // Inputs; `after_input` follows each before the round ends.
  // As transport::QueuePair::modify; `path` is needed from RTR on. To reset: the rings' indices start at 0.
  void modify(transport::QpState state, const transport::QpParameters& parameters,
              const std::optional<wire::NetworkHeaders>& path, bool notify_drained = false);
  // The port's P_Key table is `pkeys` now.
  void follow_pkeys(std::span<const std::uint16_t> pkeys);
  // The LIDs of its InfiniBand port have changed: its path begins at the new ones.
  void follow_lids(const LocalLids& lids);
  // As transport::QueuePair::set_recovery.
  void set_recovery(const transport::RecoverySettings& settings);
  // As transport::QueuePair::set_congestion.
  void set_congestion(const transport::CongestionSettings& settings);
  // As transport::SendPace::limit, of its requests.
  void limit_rate(std::uint32_t rate_kbps, std::uint32_t burst_bytes);
  // As transport::SendPace::limit_path.
  void limit_path(std::uint32_t rate_kbps);
  // The doorbell was rung. False: without effect; no `after_input` follows.
  bool doorbell();
  void receive(const transport::InboundPacket& packet);
  // As `receive`, where `takes_datagrams`.
  void receive_datagram(const transport::InboundPacket& packet);
  // A frame that a steering rule gave it, as the payload of `packet`; for raw packet QPs.
  void receive_frame(const transport::InboundPacket& packet) { receive_datagram(packet); }
  // `now` as timers see it (data_path.hpp).
  void on_timer(transport::Time now);
  std::uint32_t pump(std::uint32_t packets);
  bool tells_of_hole() const { return machine_.tells_of_hole(); }
  std::uint32_t pump_responses(std::uint32_t packets);
  std::uint32_t pump_urgent(std::uint32_t packets);
  // A memory access of `stream` failed; `stream` has the first failure.
  void memory_failed(const ActionStream& stream);
  // The program that owns the responder's memory has ended: moves to the error state, without a NAK.
  void owner_died();
  void forget(const SharedReceiveQueue& queue) override;

  // The QP begins to wait for memory, or resumes and takes the inputs that arrived meanwhile. While it waits
  // it sends nothing and holds its inputs.
  [[gnu::cold]] void stall(MemoryStall& stall);
  [[gnu::cold]] void resume(MemoryStall& stall);
  bool is_stalled() const { return stall_ != nullptr; }
  // Holds a frame for the stalled QP, to arrive again when the QP resumes.
  [[gnu::cold]] void hold(const wire::Frame& frame, const link::PacketOrigin& origin);

  // Asks the transport once, after a burst of inputs, what it wants: a pump, a timer, the error state.
  void after_input();
  bool wants_pump() const { return machine_.wants_pump(); }
  // Room of the port (port_egress.hpp), for the engine's turns; 0 while the QP's rate limit holds it back.
  std::size_t port_room(std::uint64_t round, std::size_t least) const;
  void promise_port(std::uint64_t round, std::size_t bytes);
  transport::Time port_room_at(std::size_t least) const;
  // All that is left to send must wait for its pace (transport/send_pace.hpp).
  bool waits_for_pace() const;
  std::uint32_t ordinal() const { return config_.ordinal; }
  std::uint32_t path_mtu() const { return machine_.parameters().path_mtu; }

  // IBTA 9.6.1.2: a connected QP takes packets only between the two GIDs of its path.
  bool is_on_path(const wire::NetworkHeaders& network) const {
    return frame_template_ && wire::is_return(network, path_);
  }

  // Empty: it has no path.
  std::optional<link::Connection> connection() const;

  // A packet on the QP's path comes from its peer: the device at the path's end, and there the connected QP.
  // Headers cannot prove that: RC, UC and XRC packets have no source QPN (IBTA 9.2), and a program with a raw
  // packet QP writes any address; InfiniBand has no such QPs, and a port writes its own LID. From outside of
  // this process the address alone must do.
  bool is_from_peer(const link::PacketOrigin& origin) const {
    const bool its_queue_pair =
        origin.queue_pair == machine_.parameters().destination || origin.queue_pair == link::kUnknownQpn;
    return its_queue_pair && (path_.local || origin.device == path_.destination_mac);
  }

  // The context of the program that created it.
  std::uint32_t owner() const { return config_.context; }

  // An XRC target, which several programs may use.
  bool is_shared() const { return config_.xrc_domain != nullptr; }

  // IBV_QP_CREATE_BLOCK_SELF_MCAST_LB: takes no copy of what it has sent to a group itself.
  bool blocks_own_multicast() const { return config_.blocks_own_multicast; }

  // IBV_QP_CREATE_SCATTER_FCS: a frame has its check sequence behind it.
  bool takes_check_sequences() const { return config_.takes_check_sequences; }

  // Its completions say which checksums of a frame are right: libmlx5's do.
  bool tells_of_checksums() const { return config_.queues != nullptr; }

  // Takes packets from any sender, with their GRH.
  bool takes_datagrams() const { return config_.service == transport::QpService::ud; }

  // Deferred actions whose turn has come.
  void finish(const transport::Completion& completion);
  void raise(transport::AsyncEvent event);
  void transmit(PacketAction& packet);

 private:
  // transport::Host
  void send(const transport::OutboundPacket& packet) override;
  void write(const transport::MemoryRange& target, std::span<const std::byte> data, bool message_end,
             transport::AccessTag tag) override;
  void atomic(const transport::AtomicAction& action) override;
  std::size_t frame_bytes(const transport::OutboundPacket& packet) const override;
  bool may_notify_peer(transport::Nanoseconds interval, transport::Time now) override;
  std::uint32_t completion_room() const override;
  void complete(const transport::Completion& completion, transport::Stream stream) override;
  void event(transport::AsyncEvent event) override;

  ActionStream& stream(transport::Stream which) {
    return which == transport::Stream::requester ? requester_ : responder_;
  }
  bool waits_for_memory(const ActionStream& stream) const;
  void mark_access(ActionStream& stream);
  const std::byte* gather(std::span<const std::byte> front, std::span<const transport::MemoryRange> ranges,
                          transport::AccessTag tag, std::uint32_t& length);
  const std::byte* keep(std::span<const std::byte> bytes);
  std::size_t in_place_from();
  std::size_t path_takes_in_place_from() const;
  const wire::FrameTemplate* frames_to(const transport::DatagramAddress* address) const;
  void transmit_frame(const PacketAction& packet);
  [[gnu::cold]] void transmit_notification(const PacketAction& packet);
  void make_frame_template();
  link::PacketOrigin origin_of(const wire::TransportHeaders& headers);
  void settle_report(Reported reported);
  [[gnu::cold]] bool take_held(const HeldInput& input);
  transport::Time time_for_answers() const;
  bool queues_make_no_sense() const;
  void enter_error();
  void take_posted();
  void follow_state();
  transport::QpConfig transport_config();

  // In the order of use: with thousands of QPs each cache line that a packet touches may come from main
  // memory.
  Round& round_;
  const wire::Qpn qpn_;
  MemoryStall* stall_ = nullptr;       // while it waits for memory
  std::optional<TimerId> timer_;       // from `install` on
  transport::Time no_timer_before_{};  // after a wait for memory
  bool in_error_ = false;              // as published in the shared indices
  bool must_enter_error_ = false;      // a CQ overran
  std::uint64_t packets_sent_ = 0;     // since creation; a reset does not clear it
  SendRing own_send_ring_;
  PostedSends& sends_;  // the other face's, or own_send_ring_
  ActionStream requester_;
  ActionStream responder_;
  const QueuePairConfig config_;
  ReceiveRing own_receive_ring_;
  OwnReceives own_receives_;
  const std::unique_ptr<Receives> other_receives_;  // null: own receives
  Receives& receives_;                              // own or other receives
  CompletionQueue* const receive_cq_;               // as Receives::completion_queue
  TransportMachine machine_;
  std::uint64_t in_place_in_ = 0;  // the list of `in_place_from_`
  std::size_t in_place_from_ = link::kNeverInPlace;
  std::optional<wire::FrameTemplate> frame_template_;
  wire::NetworkHeaders path_;
  bool ecn_capable_ = false;  // its packets may be marked
  std::uint8_t notification_dscp_ = 0;
  EventListeners listeners_;
};

}  // namespace urnic::engine
