#include "web/server/arrow.hpp"

#include "analysis/flows/verdict_text.hpp"

namespace urnic::web {
namespace {

using analysis::Answer;
using analysis::Order;
using analysis::Packet;
using analysis::Role;
using nlohmann::json;

// By which the page colours it.
const char* kind_of(const Packet& packet) {
  switch (packet.answer) {
    case Answer::sequence_nak:
    case Answer::rnr_nak:
    case Answer::error_nak:
    case Answer::selective:
      return "nak";
    case Answer::acknowledge:
      return "ack";
    case Answer::read_response:
    case Answer::atomic_response:
      return "response";
    case Answer::none:
      break;
  }
  return packet.role == Role::request || packet.role == Role::datagram ? "request" : "other";
}

json microseconds(std::int64_t time, std::int64_t zero) {
  return time == 0 ? json() : json(static_cast<double>(time - zero) / 1000);
}

}  // namespace

json arrow(const analysis::FlowTracker& tracker, const Packet& packet, const ArrowPlace& place) {
  return {{"n", packet.number},
          {"to", place.to_first_lane ? 0 : 1},
          {"sent", microseconds(packet.sent, place.zero)},
          {"arrived", microseconds(packet.arrived, place.zero)},
          {"kind", kind_of(packet)},
          {"label", analysis::short_text(packet)},
          {"psn", packet.psn.value()},
          {"bytes", packet.frame_bytes},
          {"payload", packet.payload},
          {"lost", analysis::is_lost(packet.fate)},
          {"again", packet.order == Order::retransmission},
          {"copy", packet.order == Order::copy},
          {"asks", packet.ack_request},
          {"says", analysis::verdict_text(tracker, packet)}};
}

}  // namespace urnic::web
