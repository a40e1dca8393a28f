// The values of a running script: its variables, the attributes of its objects, and what expressions make of
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "script/host.hpp"
#include "script/language/syntax_tree.hpp"

namespace urnic::script {

class Scope {
 public:
  // `name` may be an attribute: a.qpn.
  void set(const std::string& name, std::uint64_t value) { values_[name] = value; }
  // The same for one whose value is text, as a field of a packet is written: a.gid.
  void set_text(const std::string& name, const std::string& text) { texts_[name] = text; }
  // Sets the variable whatever the script says: for values that are given beside the script.
  void fix(const std::string& name, std::uint64_t value) {
    set(name, value);
    fixed_[name] = true;
  }
  bool is_fixed(std::string_view name) const { return fixed_.find(name) != fixed_.end(); }
  std::uint64_t value(std::string_view name) const;

  // Numbers are 64 bits and wrap, as in C. Throws ScriptError: a division by zero, a shift by 64 or more.
  std::uint64_t number(const Expression& expression) const;
  Nanoseconds span(const Expression& expression) const;
  // In quotes, or a value that is text; null: it is none.
  const std::string* text(const Expression& expression) const;
  // A bare number is a pattern of that many bytes. `memory` reads what a place has.
  using ReadMemory = std::function<Bytes(const Place&)>;
  Bytes bytes(const Expression& expression, const ReadMemory& memory) const;
  // Throws ScriptError if it does not lie within its region.
  Place place(const Expression& expression) const;

 private:
  std::uint64_t binary(const Expression& expression) const;
  std::uint64_t syndrome(const Expression& expression) const;
  Bytes call(const Expression& expression) const;

  std::map<std::string, std::uint64_t, std::less<>> values_;
  std::map<std::string, std::string, std::less<>> texts_;
  std::map<std::string, bool, std::less<>> fixed_;
};

// Byte `position` of the pattern that fills payloads and memory: a shift or a swap of bytes shows.
std::byte pattern_byte(std::uint64_t position, std::uint64_t seed);

}  // namespace urnic::script
