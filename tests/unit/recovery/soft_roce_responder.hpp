// A responder that answers as Linux's Soft-RoCE does (drivers/infiniband/sw/rxe of Linux 6.1), as far as a
// requester can tell: for finding out whether urnic's requester gets along with it. It is made from the
// observable rules, which are these:
//
// - Requests are answered one after another: a READ is answered whole before the next request is looked at.
// - A request behind a hole is dropped. The first one brings a NAK, then none until the hole is filled.
// - A duplicate SEND or WRITE is acknowledged with the PSN of the last SEND, WRITE or atomic executed.
// - READs and atomics are remembered in a ring of as many places as the QP takes READs at once. A duplicate
//   that is not remembered is dropped.
// - A duplicate READ must lie inside of what is remembered of it. Then its address becomes the beginning of
//   what is remembered: what lies before is never answered again.
// - A packet with an unknown opcode goes to the requester, which takes it for a response. With a PSN that is
//   not before all outstanding requests it does harm.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "device_model/transport/host.hpp"
#include "device_model/transport/time.hpp"
#include "wire/headers.hpp"
#include "wire/psn.hpp"

namespace urnic::transport::lab {

struct SoftRoceSettings {
  wire::Psn first_psn;  // of both directions
  std::uint32_t path_mtu = 1024;
  std::uint32_t resources = 16;  // READs and atomics remembered
  // An emulated machine takes or sends this many packets, then its host gives it no processor for that long.
  // 0: it does not stop.
  std::uint32_t burst = 0;
  Nanoseconds pause{0};
};

class SoftRoceResponder {
 public:
  // Sends by `host`, which outlives this.
  SoftRoceResponder(Host& host, const SoftRoceSettings& settings);

  void receive(const wire::TransportHeaders& headers, std::uint32_t payload);
  bool wants_to_transmit() const { return !queue_.empty() && !resumes_at_; }
  // Goes on until it has sent one packet, or has no request left.
  void transmit(Time now);
  // The end of the pause; empty if there is none.
  std::optional<Time> deadline() const { return resumes_at_; }
  void on_timer(Time now) {
    if (resumes_at_ && *resumes_at_ <= now) resumes_at_.reset();
  }

  std::uint64_t messages_received() const { return messages_received_; }  // SENDs
  std::uint64_t forgotten_reads() const { return forgotten_reads_; }      // duplicates that were dropped
  std::uint64_t requests_received() const { return requests_received_; }
  std::uint64_t packets_sent() const { return packets_sent_; }
  std::uint64_t unknown_opcodes() const { return unknown_opcodes_; }
  bool was_harmed() const { return was_harmed_; }

 private:
  struct Resource {
    bool is_read = false;
    wire::Psn first;
    wire::Psn last;
    std::uint64_t begin = 0;  // of what is remembered of a READ
    std::uint32_t length = 0;
    // The answer under way.
    wire::Psn next = {};
    std::uint64_t remaining = 0;
    bool from_the_start = false;
  };

  void work(Time now);
  // True if a packet was sent.
  bool take(const wire::TransportHeaders& request);
  bool execute(const wire::TransportHeaders& request);
  bool repeat(const wire::TransportHeaders& request);
  bool repeat_read(const wire::TransportHeaders& request);
  void answer_read();
  void acknowledge(wire::Operation operation, wire::Psn psn, std::uint8_t syndrome,
                   std::uint32_t payload = 0);
  Resource& remember(Resource resource);
  Resource* find(wire::Psn psn);

  Host& host_;
  const SoftRoceSettings settings_;
  std::deque<wire::TransportHeaders> queue_;
  std::vector<Resource> ring_;
  std::size_t ring_head_ = 0;
  Resource* reading_ = nullptr;  // the READ that is being answered
  wire::Psn expected_;
  wire::Psn acknowledged_;  // the last SEND, WRITE or atomic
  wire::Msn msn_;
  bool nak_sent_ = false;
  std::uint32_t worked_ = 0;
  std::optional<Time> resumes_at_;
  std::uint64_t messages_received_ = 0;
  std::uint64_t forgotten_reads_ = 0;
  std::uint64_t requests_received_ = 0;
  std::uint64_t packets_sent_ = 0;
  std::uint64_t unknown_opcodes_ = 0;
  bool was_harmed_ = false;
};

}  // namespace urnic::transport::lab
