// Calls and answers as lines of text, between a script and the agent that makes its calls:
//
//   post_send a 4 wr_id=7 remote=4096 rkey=85 @m:0:64        ok
//   send_completion a 0                                      ok bytes=64 opcode=2 status=0 wr_id=7
//   memory m 0 @m:0:2                                        ok #cafe
//   modify a 0 state=3                                       refused EINVAL
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "script/call.hpp"

namespace urnic::script {

// A line, without its end.
std::string to_line(const Call& call);
std::string to_line(const Answer& answer);
// Empty: the line is none.
std::optional<Call> call_of_line(std::string_view line);
std::optional<Answer> answer_of_line(std::string_view line);

}  // namespace urnic::script
