// What a rule's action asks of the link.
#pragma once

#include "device_model/fault/answer_packet.hpp"
#include "device_model/fault/fault_rule.hpp"
#include "device_model/fault/packet_view.hpp"
#include "device_model/link/fault_hook.hpp"

namespace urnic::fault {

// Adds the rule's action to `verdict`, with a remark. Stopping a QP is FaultPlan's task; here stop_qp only
// drops. `answer` holds the bytes of an answer.
void act(const FaultRule& rule, const link::PacketAtLink& packet, const PacketView& view,
         AnswerPacket& answer, link::Verdict& verdict);

}  // namespace urnic::fault
