// Whether a packet that has come is the one that a statement expects.
#pragma once

#include <optional>
#include <string>

#include "analysis/dissection/dissection.hpp"
#include "script/packets/script_end.hpp"
#include "script/values/scope.hpp"

namespace urnic::script {

// The first difference between what is expected and what was seen.
struct Difference {
  Position at;
  std::string field;
  std::string expected;
  std::string seen;
};

// Empty: the packet is as the statement, an `expect` or `ignore`, says. Throws ScriptError.
std::optional<Difference> compare_packet(const Statement& statement, const ScriptEnd& end,
                                         const analysis::Dissection& packet, const Scope& scope,
                                         const Scope::ReadMemory& memory);
// Sets the variables that the statement takes from the packet.
void bind_packet(const Statement& statement, const analysis::Dissection& packet, Scope& scope);

// Whether `seen` is as the argument says: "=5", "5..7", "!=3". Empty: it is; else what was expected. With
// `bits` the values are sequence numbers of so many bits, which are compared by their distance.
std::optional<std::string> compare_number(const Argument& argument, std::uint64_t seen, const Scope& scope,
                                          std::uint32_t bits = 0);

}  // namespace urnic::script
