#include "device_model/transport/responder/psn_check.hpp"

namespace urnic::transport {

PsnRegion psn_region(wire::Psn psn, wire::Psn expected) {
  if (psn == expected) return PsnRegion::expected;
  return wire::before(psn, expected) ? PsnRegion::duplicate : PsnRegion::out_of_sequence;
}

}  // namespace urnic::transport
