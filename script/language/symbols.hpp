// The names that a script has given to objects and values, and those that the language has for functions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "script/language/vocabulary.hpp"

namespace urnic::script {

// What an expression calls, as in pattern(64).
struct FunctionSpec {
  std::string_view name;
  std::uint32_t least = 1;  // operands
  std::uint32_t most = 1;
  bool takes_text = false;  // its operand is in quotes
  bool gives_bytes = false;
  bool takes_nak_code = false;  // its operand may be a word for one
};

const FunctionSpec* find_function(std::string_view name);
std::string function_list();

// Of the statements parsed so far. A name means one thing.
class Symbols {
 public:
  // False: the name is taken, or a word of the language.
  bool add_object(const std::string& name, ObjectKind kind);
  // A value may be set again.
  bool add_variable(const std::string& name);

  // The script's link is of InfiniBand: objects have attributes of such a link, too.
  void on_infiniband() { on_infiniband_ = true; }

  // The object is destroyed. Of a region the name stays, because its keys may still be used.
  void remove(std::string_view name);

  ObjectKind kind_of(std::string_view name) const;
  // A variable, or an attribute of an object, such as a.qpn.
  bool is_value(std::string_view name) const;
  // The names of objects of `kind`, for messages.
  std::string list(ObjectKind kind) const;

 private:
  std::map<std::string, ObjectKind, std::less<>> objects_;
  std::set<std::string, std::less<>> variables_;
  bool on_infiniband_ = false;
};

}  // namespace urnic::script
