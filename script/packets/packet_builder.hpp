// Packets to send: the fields that a statement names have its values, all others are right.
#pragma once

#include <optional>

#include "analysis/dissection/edited_frame.hpp"
#include "script/packets/script_end.hpp"
#include "script/values/scope.hpp"

namespace urnic::script {

// What requests are about where the statement does not say: the first memory region and the first shared
// receive queue of the script.
struct Targets {
  std::uint64_t address = 0;
  std::uint32_t rkey = 0;
  std::uint32_t srq = 0;
};

// The frame of a `send` statement. Notes at `end` that it is sent. Throws ScriptError.
Bytes build_packet(const Statement& statement, ScriptEnd& end, const Targets& targets, const Scope& scope,
                   const Scope::ReadMemory& memory);

}  // namespace urnic::script
