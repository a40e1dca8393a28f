// What a responder remembers of READ and ATOMIC requests that it has executed, so that a duplicate can be
// answered: one resource each, as many as max_dest_rd_atomic (IBTA 9.7.5.1, 9.7.4.1.4).
#pragma once

#include <cstdint>
#include <vector>

#include "device_model/transport/request_check.hpp"
#include "wire/psn.hpp"

namespace urnic::transport {

struct ResponderResource {
  RequestKind kind = RequestKind::read;  // or atomic, or atomic_write
  wire::Psn first = {};
  std::uint32_t packets = 0;   // of the response, and PSNs that the request covers
  std::uint64_t original = 0;  // atomic: what was at the target before, in host order
};

// A ring: a new request takes the place of the oldest one, which a conforming requester has seen answered.
class ResponderResources {
 public:
  // Allocates for `most` resources.
  explicit ResponderResources(std::uint32_t most) : ring_(most) {}

  // Forgets all; `limit` resources from now on (at most what was allocated).
  void reset(std::uint32_t limit);
  // Changes how many are kept while the QP runs (SQD); forgets all if the number changes.
  void set_limit(std::uint32_t limit);
  std::uint32_t limit() const { return limit_; }

  // limit() must not be 0. The reference stays valid until as many more resources have been taken.
  ResponderResource& take();

  // The resource whose PSNs hold `psn`, or null.
  ResponderResource* find(wire::Psn psn);

  // The last PSN from `psn` on that comes before the next READ or ATOMIC, at most `latest`. An ACK may go
  // that far without claiming that responses were sent which the requester may have lost.
  wire::Psn last_before_response(wire::Psn psn, wire::Psn latest) const;

 private:
  std::vector<ResponderResource> ring_;
  std::uint32_t limit_ = 0;
  std::uint32_t used_ = 0;
  std::uint32_t next_ = 0;
};

}  // namespace urnic::transport
