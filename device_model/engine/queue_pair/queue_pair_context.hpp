// A queue pair as the engine keeps it (IBTA: the QP context): the transport's QP, its rings, its CQs, its
// path, and its place in the engine's lists. Carries the transport's actions to the data path.
#pragma once

#include <atomic>
#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "device_model/engine/batch/action_stream.hpp"
#include "device_model/engine/queue_pair/event_listeners.hpp"
#include "device_model/engine/queue_pair/hosted_queue_pair.hpp"
#include "device_model/engine/queue_pair/transport_machine.hpp"
#include "device_model/engine/rings/receive_ring.hpp"
#include "device_model/engine/rings/send_ring.hpp"
#include "device_model/engine/round/timers.hpp"
#include "device_model/engine/shared_receive/shared_receive_view.hpp"
#include "device_model/engine/shared_receive/tagged_queue_pair.hpp"
#include "device_model/engine/shared_receive/xrc_receive_view.hpp"
#include "device_model/link/packet_identity.hpp"
#include "device_model/transport/prefetch.hpp"
#include "wire/frame.hpp"
#include "wire/frame_template.hpp"

namespace urnic::engine {

class DataPath;
class Device;
class MemoryStall;
struct HeldInput;
struct CompletionAction;
struct PacketAction;

// Unlinks itself when its QP goes.
using QueuePairHook =
    boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

class QueuePairContext final : public transport::Host {
 public:
  QueuePairContext(const HostedQueuePairConfig& config, wire::Qpn qpn);
  ~QueuePairContext();
  QueuePairContext(const QueuePairContext&) = delete;
  QueuePairContext& operator=(const QueuePairContext&) = delete;

  wire::Qpn qpn() const { return qpn_; }
  const TransportMachine& machine() const { return machine_; }

  // Takes its place among the QPs of its engine. Engine thread, as everything from here on.
  void install();
  // Of its asynchronous events.
  EventListeners& listeners() { return listeners_; }

  // Has the processor bring the QP into its cache, without waiting for it: an input is to come soon. And the
  // state of the QP that this one is connected to, if it is here.
  void prefetch() const { transport::prefetch_object(*this); }
  void prefetch_peer() const;
  // Where its program says how far it has posted.
  const std::atomic<std::uint32_t>* send_producer() const { return &config_.indices->send_producer; }

  // Inputs, each followed by `after_input` before the round ends.
  void modify(transport::QpState state, const transport::QpParameters& parameters,
              const std::optional<wire::NetworkHeaders>& path, bool notify_drained);
  void set_recovery(const transport::RecoverySettings& settings);
  void limit_rate(std::uint32_t rate_kbps, std::uint32_t burst_bytes);
  // Its program rang. False: for nothing, and no `after_input` follows.
  bool doorbell();
  void receive(const transport::InboundPacket& packet);
  // The same where `takes_datagrams`.
  void receive_datagram(const transport::InboundPacket& packet);
  // A frame that a steering rule gave it, as the payload of `packet`; for raw packet QPs.
  void receive_frame(const transport::InboundPacket& packet) { receive_datagram(packet); }
  // `now` as the timers see it (data_path.hpp).
  void on_timer(transport::Time now);
  std::uint32_t pump(std::uint32_t packets);
  bool tells_of_hole() const { return machine_.tells_of_hole(); }
  std::uint32_t pump_responses(std::uint32_t packets);
  std::uint32_t pump_urgent(std::uint32_t packets);
  // A memory access of `stream` failed, as the stream says.
  void memory_failed(const ActionStream& stream);
  // The program whose memory the responder was to read or write has ended: to the error state, without a NAK.
  void owner_died();
  // XRC target: an SRQ of its domain goes.
  void forget(const SharedReceiveQueue& queue);

  // The QP waits for memory from now on, or does so no longer and takes what has come meanwhile. While it
  // waits it sends nothing, and its inputs are put off.
  [[gnu::cold]] void stall(MemoryStall& stall);
  [[gnu::cold]] void resume(MemoryStall& stall);
  bool is_stalled() const { return stall_ != nullptr; }
  // A frame for the QP, which is stalled, that is to arrive again when it goes on.
  [[gnu::cold]] void hold(const wire::Frame& frame, const link::PacketOrigin& origin);

  // What the transport wants next, asked once after a burst of inputs: to be pumped, a timer, the error
  // state.
  void after_input();
  bool wants_pump() const { return machine_.wants_pump(); }
  // Of the port (device.hpp), for the engine's turns; none while the QP waits for its own pace.
  std::size_t port_room(std::uint64_t round, std::size_t least) const;
  void promise_port(std::uint64_t round, std::size_t bytes);
  transport::Time port_room_at(std::size_t least) const;
  // Only requests are left to send, and their pace holds them back (transport/send_pace.hpp).
  bool waits_for_pace() const;
  std::uint32_t ordinal() const { return config_.ordinal; }
  std::uint32_t path_mtu() const { return machine_.parameters().path_mtu; }

  // IBTA 9.6.1.2: a connected QP takes packets only between the two GIDs of its path.
  bool is_on_path(const wire::NetworkHeaders& network) const {
    return frame_template_ && network.source == path_.destination && network.destination == path_.source;
  }

  // A packet on the QP's path comes from its peer: the device at the path's end, and there the QP that this
  // one is connected to. Headers do not say that. RC, UC and XRC packets have no source QPN (IBTA 9.2), and a
  // program with a raw packet QP writes the addresses as it likes.
  bool is_from_peer(const link::PacketOrigin& origin) const {
    return origin.queue_pair == machine_.parameters().destination && origin.device == path_.destination_mac;
  }

  // The context of the program that created it.
  std::uint32_t owner() const { return config_.context; }

  // An XRC target, which works for several programs.
  bool is_shared() const { return config_.xrc_domain != nullptr; }

  // Takes packets from anybody, with their GRH.
  bool takes_datagrams() const { return config_.service == transport::QpService::ud; }

  // Deferred actions, when their turn has come.
  void finish(const transport::Completion& completion);
  void raise(transport::AsyncEvent event);
  void transmit(PacketAction& packet);

  // transport::Host
  void send(const transport::OutboundPacket& packet) override;
  void write(const transport::MemoryRange& target, std::span<const std::byte> data, bool message_end,
             transport::AccessTag tag) override;
  void atomic(const transport::AtomicAction& action) override;
  std::size_t frame_bytes(const transport::OutboundPacket& packet) const override;
  std::uint32_t completion_room() const override;
  void complete(const transport::Completion& completion, transport::Stream stream) override;
  void event(transport::AsyncEvent event) override;

  QueuePairHook ready_hook;
  transport::Time ready_since{};  // the time of the round in which it got its place
  bool aside_for_pace = false;  // out of its turn until its pace lets requests leave: responses need not wait
  QueuePairHook urgent_hook;
  QueuePairHook touched_hook;

 private:
  ActionStream& stream(transport::Stream which) {
    return which == transport::Stream::requester ? requester_ : responder_;
  }
  bool waits_for_memory(const ActionStream& stream) const;
  void mark_access(ActionStream& stream);
  const std::byte* gather(std::span<const transport::MemoryRange> ranges, transport::AccessTag tag,
                          std::uint32_t& length);
  const std::byte* keep(std::span<const std::byte> bytes);
  const wire::FrameTemplate* frames_to(const transport::DatagramAddress* address) const;
  void transmit_frame(const PacketAction& packet);
  link::PacketOrigin origin_of(const wire::TransportHeaders& headers);
  void finish_tagged(const transport::Completion& completion);
  bool push(CompletionQueue& queue, const transport::Completion& completion);
  void finish_of_domain(const transport::Completion& completion);
  void added(CompletionQueue& queue, bool first, bool there_was_room);
  [[gnu::cold]] bool take_held(const HeldInput& input);
  transport::Time time_for_answers() const;
  bool queues_make_no_sense() const;
  void enter_error();
  void take_posted();
  void follow_state();
  transport::QpConfig transport_config(const HostedQueuePairConfig& config);

  // In the order of use: with thousands of QPs each cache line that a packet touches may come from main
  // memory.
  DataPath& data_path_;
  const wire::Qpn qpn_;
  MemoryStall* stall_ = nullptr;         // while it waits for memory
  std::optional<TimerId> timer_;         // from `install` on
  transport::Time no_timer_before_{};    // after a wait for memory
  bool in_error_ = false;                // as published in the shared indices
  bool must_enter_error_ = false;        // a CQ overran
  std::uint64_t packets_sent_ = 0;       // since it was made; a reset does not begin anew
  const Device* peer_device_ = nullptr;  // where its path ends, if that is one of this engine's devices
  SendRing send_ring_;
  ActionStream requester_;
  ActionStream responder_;
  // Both null: the receive ring has what it takes.
  const std::unique_ptr<SharedReceiveView> shared_receives_;
  const std::unique_ptr<XrcReceiveView> xrc_receives_;
  const std::unique_ptr<TaggedQueuePair> tagged_;  // null: it is not on a tag-matching SRQ
  TransportMachine machine_;
  std::optional<wire::FrameTemplate> frame_template_;
  wire::NetworkHeaders path_;
  ReceiveRing receive_ring_;
  const HostedQueuePairConfig config_;
  EventListeners listeners_;
};

using ReadyList = boost::intrusive::list<
    QueuePairContext,
    boost::intrusive::member_hook<QueuePairContext, QueuePairHook, &QueuePairContext::ready_hook>,
    boost::intrusive::constant_time_size<false>>;
using UrgentList = boost::intrusive::list<
    QueuePairContext,
    boost::intrusive::member_hook<QueuePairContext, QueuePairHook, &QueuePairContext::urgent_hook>,
    boost::intrusive::constant_time_size<false>>;
using TouchedList = boost::intrusive::list<
    QueuePairContext,
    boost::intrusive::member_hook<QueuePairContext, QueuePairHook, &QueuePairContext::touched_hook>,
    boost::intrusive::constant_time_size<false>>;

}  // namespace urnic::engine
