// Asks the subnet manager of a port: subnet administration (IBTA 15.2) as Linux's ib_sa uses it. A request is
// repeated until its answer comes, or until there have been enough.
//
// No thread, socket or clock: answers and the time go in, datagrams go out through `Host`.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "device_model/subnet/node.hpp"
#include "device_model/transport/time.hpp"
#include "wire/mad/mad_header.hpp"
#include "wire/mad/subnet_administration.hpp"

namespace urnic::subnet::administration {

using transport::Nanoseconds;
using transport::Time;
using wire::mad::Lid;
using wire::mad::Mad;

// Must not call the client from these.
class Host {
 public:
  // Sends from queue pair 1 of the adapter's port to that of its subnet manager, and says to which LID.
  // Empty: the port has no manager. The datagram may be lost.
  virtual std::optional<Lid> send(NodeIndex adapter, const Mad& mad) = 0;
  // Client::expire is to be called at `deadline`; replaces the deadline given before.
  virtual void wake_at(Time deadline) = 0;

 protected:
  ~Host() = default;
};

enum class Outcome : std::uint8_t {
  answered,
  refused,     // with another status than 0
  unanswered,  // all repetitions are spent
  no_manager,  // the port knows of no subnet manager
};

// How long the client waits for an answer: `wait` for each of 1 + `repeats` requests.
struct Patience {
  Nanoseconds wait{};
  unsigned repeats = 0;
};
// Linux's for a time limit (sa_query.c, send_mad): a tenth of it, and ten repetitions.
Patience patience_for(std::chrono::milliseconds limit);

class Client;

// A request under way; its end cancels it: then nobody is told of an answer.
class Query {
 public:
  Query() = default;
  Query(Query&& other) noexcept : client_(std::exchange(other.client_, nullptr)), number_(other.number_) {}
  Query& operator=(Query&& other) noexcept {
    std::swap(client_, other.client_);
    std::swap(number_, other.number_);
    return *this;
  }
  ~Query();

 private:
  friend class Client;
  Query(Client& client, std::uint32_t number) : client_(&client), number_(number) {}

  Client* client_ = nullptr;  // which outlives it
  std::uint32_t number_ = 0;
};

class Client {
 public:
  // The answer's datagram, if there is one. It may ask again, and end queries.
  using Done = std::function<void(Outcome, const Mad& answer)>;

  // `host` outlives it. `seed`: of the transaction ids.
  Client(Host& host, std::uint32_t seed) : host_(host), last_number_(seed) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Asks from the adapter's port 1. Calls `done` once, never before it returns. Empty: the port has no
  // manager, and `done` is not called.
  template <wire::mad::AdministrationRecord Record>
  [[nodiscard]] std::optional<Query> ask(NodeIndex adapter, wire::mad::Method method,
                                         wire::mad::ComponentMask components, const Record& record,
                                         Patience patience, Time now, Done done) {
    const std::uint32_t number = next_number();
    const Mad mad = encode_request({.method = method, .transaction = {number}}, components, record);
    return start(number, adapter, mad, patience, now, std::move(done));
  }

  // Asks nobody: calls `done` once, with `unanswered`, when `time` has passed; its end cancels it, too.
  [[nodiscard]] Query pause(Nanoseconds time, Time now, Done done);

  // A datagram of the class that has come from `source` to queue pair 1 of the adapter. Whether it was the
  // answer to a request.
  bool receive(NodeIndex adapter, Lid source, const Mad& mad);
  // Repeats what is due, and gives up what has been repeated enough.
  void expire(Time now);

  std::optional<Time> next_deadline() const;
  std::size_t size() const { return requests_.size(); }

 private:
  friend class Query;
  struct Request {
    NodeIndex adapter = 0;
    Lid asked;  // 0 of a pause: no datagram comes from there
    Mad mad{};
    Patience patience;
    Time due{};
    Done done;
  };

  std::uint32_t next_number();
  void set_deadline(std::uint32_t number, Request& request, Time due);
  void cancel(std::uint32_t number);
  Query add(std::uint32_t number, Request request, Time due);
  std::optional<Query> start(std::uint32_t number, NodeIndex adapter, const Mad& mad, Patience patience,
                             Time now, Done done);
  void end(std::uint32_t number, Outcome outcome, const Mad& answer);
  void expire_one(std::uint32_t number, Time now);
  void set_timer();

  Host& host_;
  std::uint32_t last_number_;
  // By the low half of the transaction id. The high half is 0, which no program's agent has.
  std::map<std::uint32_t, Request> requests_;
  std::set<std::pair<Time, std::uint32_t>> deadlines_;  // of all requests; programs may have thousands
};

}  // namespace urnic::subnet::administration
