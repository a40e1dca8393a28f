// What all parts of the connection manager work on, and how a connection ends in all of them.
#pragma once

#include <cstddef>
#include <set>

#include "device_model/cm/communication_ids.hpp"
#include "device_model/cm/connection_table.hpp"
#include "device_model/cm/host.hpp"
#include "device_model/cm/listeners.hpp"
#include "device_model/cm/parameters.hpp"
#include "device_model/cm/repetitions.hpp"
#include "device_model/cm/sender.hpp"
#include "device_model/cm/timers.hpp"
#include "device_model/cm/user.hpp"

namespace urnic::cm {

// A message that arrived: from where, and when.
struct Arrival {
  DeviceIndex device;
  GsiAddress from;
  wire::mad::TransactionId transaction;
  Time now;
};

struct Core {
  Core(Host& the_host, User& the_user, const Settings& the_settings)
      : host(the_host),
        user(the_user),
        settings(the_settings),
        ids(the_settings.seed),
        listeners(the_settings.listeners),
        sender(the_host),
        timers(the_host),
        repetitions(sender, timers) {}

  Host& host;
  User& user;
  Settings settings;
  CommunicationIds ids;
  Listeners listeners;
  Sender sender;
  Timers timers;
  Repetitions repetitions;
  ConnectionTable connections;
  std::set<CommunicationId> sidr_requests;  // share ids and limit with the connections

  bool has_room() const { return connections.size() + sidr_requests.size() < settings.connections; }
  // One that nothing else has.
  CommunicationId new_id();
  // A new connection with its own id and starting PSN.
  Connection& add_connection();

  // Sends a message on a connection's own path, once.
  template <class T>
  void send(const Connection& connection, const T& message) {
    sender.send(connection.device, gsi_address(connection.path), message, connection.transaction);
  }
  // Sends a REQ, REP or DREQ and repeats it until Repetitions::end.
  template <class T>
  void send_until_answered(const Connection& connection, const T& message, Time now) {
    repetitions.begin(connection.id,
                      {connection.device, gsi_address(connection.path), message_of(T::kAttribute),
                       wire::mad::encode(message, connection.transaction), connection.response_wait,
                       connection.max_retries},
                      now);
  }
  // Answers a message that arrived.
  template <class T>
  void answer(const Arrival& arrival, const T& message) {
    sender.send(arrival.device, arrival.from, message, arrival.transaction);
  }
  // The same to a message that arrived before: the answer may be lost.
  template <class T>
  void answer_again(const Arrival& arrival, const T& message) {
    sender.send(arrival.device, arrival.from, message_of(T::kAttribute),
                wire::mad::encode(message, arrival.transaction), true);
  }
  // Counts a message that arrived before.
  void count_duplicate(DeviceIndex device, Message message) {
    ++sender.counters(device).duplicates[static_cast<std::size_t>(message)];
  }

  // The connection is over at once. Removes it if the user has destroyed it.
  void close(Connection& connection);
  // The QP may still get late packets: time_wait_over follows after its ACK timeout (IBTA 12.9.8.4).
  void enter_time_wait(Connection& connection, Time now);
};

}  // namespace urnic::cm
