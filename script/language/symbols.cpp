#include "script/language/symbols.hpp"

#include <algorithm>

namespace urnic::script {
namespace {

constexpr FunctionSpec kFunctions[] = {
    {.name = "pattern", .most = 3, .gives_bytes = true},
    {.name = "zeros", .gives_bytes = true},
    {.name = "hex", .takes_text = true, .gives_bytes = true},
    {.name = "text", .takes_text = true, .gives_bytes = true},
    {.name = "u64", .gives_bytes = true},
    {.name = "ack"},
    {.name = "rnr"},
    {.name = "nak", .takes_nak_code = true},
};

}  // namespace

const FunctionSpec* find_function(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                         [&](const auto& each) { return each.name == name; });
  return found == std::end(kFunctions) ? nullptr : found;
}

std::string function_list() {
  std::string list;
  for (const FunctionSpec& each : kFunctions) list += (list.empty() ? "" : ", ") + std::string(each.name);
  return list;
}

bool Symbols::add_object(const std::string& name, ObjectKind kind) {
  if (variables_.contains(name) || find_keyword(name) != nullptr || find_function(name) != nullptr)
    return false;
  return objects_.emplace(name, kind).second;
}

bool Symbols::add_variable(const std::string& name) {
  if (objects_.contains(name) || find_keyword(name) != nullptr || find_function(name) != nullptr)
    return false;
  variables_.insert(name);
  return true;
}

void Symbols::remove(std::string_view name) {
  const auto found = objects_.find(name);
  if (found != objects_.end() && found->second != ObjectKind::region) objects_.erase(found);
}

ObjectKind Symbols::kind_of(std::string_view name) const {
  const auto found = objects_.find(name);
  return found == objects_.end() ? ObjectKind::none : found->second;
}

bool Symbols::is_value(std::string_view name) const {
  if (variables_.contains(name)) return true;
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return false;
  const ObjectKind kind = kind_of(name.substr(0, dot));
  const auto has = [&](std::span<const std::string_view> known) {
    return std::find(known.begin(), known.end(), name.substr(dot + 1)) != known.end();
  };
  return has(attributes(kind)) || (on_infiniband_ && has(infiniband_attributes(kind)));
}

std::string Symbols::list(ObjectKind kind) const {
  std::string list;
  for (const auto& [name, its_kind] : objects_)
    if (its_kind == kind) list += (list.empty() ? "" : ", ") + name;
  return list;
}

}  // namespace urnic::script
