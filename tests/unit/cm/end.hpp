// One side of a wire: a connection manager with its host, and a user that writes down what it is told.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "device_model/cm/connection_manager.hpp"
#include "wire/mad/cm_messages.hpp"

namespace urnic::cm::test {

using namespace wire::mad;
using namespace std::chrono_literals;

enum class Told : std::uint8_t {
  requested,
  replied,
  established,
  rejected,
  unanswered,
  disconnect_requested,
  disconnected,
  time_wait_over,
  sidr_requested,
  sidr_replied,
};

// An event of the user. `message` is what came with it, if anything did.
struct Event {
  Told told{};
  CommunicationId id;
  std::variant<std::monostate, Req, Rep, Rej, SidrReq, SidrRep> message{};
  Path path{};                          // requested
  std::optional<Unanswered> missing{};  // unanswered
  std::optional<Disconnected> how{};    // disconnected
};

// A MAD that left, or that is to arrive.
struct SentMad {
  DeviceIndex device;
  GsiAddress address;
  Mad mad;
};

class End : public Host, public User {
 public:
  // All GIDs and the CA GUID follow from `number`.
  explicit End(std::uint32_t number, const Settings& settings);
  virtual ~End() = default;

  static wire::Gid gid(std::uint32_t number);
  static wire::mad::Guid ca_guid(std::uint32_t number) { return {0x0200'0000'0000'0000u + number}; }
  wire::Gid gid() const { return gid(number_); }
  Path path_to(const End& peer) const;

  // The next event, which must be of this kind; it is taken away.
  Event expect(Told told);
  // How many connections and SIDR requests the manager holds.
  std::size_t entries() const {
    const Usage usage = manager.usage();
    return usage.connections + usage.sidr_requests;
  }
  bool quiet() const { return events.empty(); }
  std::size_t count(Message kind) const { return manager.counters({}).sent[static_cast<std::size_t>(kind)]; }

  // Host.
  void send(DeviceIndex device, const GsiAddress& to, const Mad& mad) override { on_send({device, to, mad}); }
  void wake_at(Time deadline) override { wake = deadline; }
  DeviceDescription describe(DeviceIndex) const override { return {ca_guid(number_), ack_delay, mtu}; }
  bool has_gid(DeviceIndex, const wire::Gid& gid) const override { return gid == this->gid(); }

  // User.
  Decision requested(const RequestEvent& event) override;
  void replied(const ReplyEvent& event) override { add({Told::replied, event.id, event.message}); }
  void established(CommunicationId id) override { add({Told::established, id}); }
  void rejected(const RejectEvent& event) override { add({Told::rejected, event.id, event.message}); }
  void unanswered(CommunicationId id, Unanswered message) override;
  void disconnect_requested(CommunicationId id) override { add({Told::disconnect_requested, id}); }
  void disconnected(CommunicationId id, Disconnected how) override;
  void time_wait_over(CommunicationId id) override { add({Told::time_wait_over, id}); }
  Decision sidr_requested(const SidrRequestEvent& event) override;
  void sidr_replied(const SidrReplyEvent& event) override {
    add({Told::sidr_replied, event.id, event.message});
  }

  std::deque<Event> events;
  Decision decision = Decision::keep;
  MtuCode mtu = MtuCode::bytes_4096;
  TimeoutCode ack_delay{15};
  std::optional<Time> wake;  // what the manager has asked for last
  std::function<void(const SentMad&)> on_send = [](const SentMad&) {};
  // Called with each event after it is written down; may call the manager.
  std::function<void(const Event&)> on_event = [](const Event&) {};
  ConnectionManager manager;

 private:
  void add(Event event);

  std::uint32_t number_;
};

}  // namespace urnic::cm::test
