// The calls of the program that uses the device under test, and what they return.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "script/language/syntax_tree.hpp"

namespace urnic::script {

using Bytes = std::vector<std::byte>;

// Bytes of a memory region.
struct Place {
  std::string region;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

// A call of the program: what a statement of the verbs says, with its values. Arguments that the statement
// does not have are not there.
struct Call {
  Keyword verb = Keyword::wait;
  std::string object;
  std::uint64_t opcode = 0;  // of a work request, as ibv_wr_opcode has it; arm: 1 for solicited ones only
  std::map<std::string, std::uint64_t, std::less<>> numbers;
  std::map<std::string, std::string, std::less<>> names;  // of objects
  std::vector<Place> places;
  Bytes bytes;

  std::uint64_t number(std::string_view name, std::uint64_t otherwise = 0) const {
    const auto found = numbers.find(name);
    return found == numbers.end() ? otherwise : found->second;
  }
  bool has(std::string_view name) const { return numbers.find(name) != numbers.end(); }
};

// What the call has returned. Polls return `nothing` if there is nothing.
struct Answer {
  std::string refusal = {};  // why it was refused, with the error's name; empty: it was not
  bool nothing = false;
  std::map<std::string, std::uint64_t, std::less<>> numbers = {};
  Bytes bytes = {};
};

}  // namespace urnic::script
