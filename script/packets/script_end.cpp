#include "script/packets/script_end.hpp"

#include <algorithm>

namespace urnic::script {
namespace {

bool is_read(wire::Opcode opcode) { return opcode.operation() == wire::Operation::read_request; }

// How many PSNs a request takes: a READ one for each packet of its response (IBTA 9.7.3.1).
std::uint32_t psns_of(const wire::TransportHeaders& headers, std::uint32_t mtu) {
  if (!is_read(headers.bth.opcode)) return 1;
  return std::max<std::uint32_t>(1, (headers.reth.dma_length + mtu - 1) / mtu);
}

}  // namespace

void ScriptEnd::note_sent(const wire::TransportHeaders& headers, std::size_t payload) {
  if (headers.bth.opcode == wire::kCongestionNotification) return;  // it takes no PSN (IBTA A17.9.3)
  const wire::Psn psn = headers.bth.psn;
  const auto bytes = static_cast<std::uint32_t>(payload);
  const wire::OpcodeTraits& traits = wire::traits(headers.bth.opcode);
  if (!traits.request) {
    if (headers.bth.opcode.operation() == wire::Operation::acknowledge) return;
    next_response = psn + 1;
    rest_of_read -= std::min(rest_of_read, bytes);
    return;
  }
  if ((traits.headers & wire::has_reth) != 0) rest_of_write = headers.reth.dma_length;
  rest_of_write -= std::min(rest_of_write, bytes);
  const wire::Psn behind = psn + psns_of(headers, mtu);
  if (wire::before(next_request, behind)) next_request = behind;
}

void ScriptEnd::note_seen(const wire::TransportHeaders& headers) {
  const wire::OpcodeTraits& traits = wire::traits(headers.bth.opcode);
  if (!traits.request) return;
  next_response = headers.bth.psn;
  if (is_read(headers.bth.opcode)) rest_of_read = headers.reth.dma_length;
  if (wire::before(headers.bth.psn, awaited)) return;
  awaited = headers.bth.psn + psns_of(headers, mtu);
  if (traits.last) msn = msn.next();
}

}  // namespace urnic::script
