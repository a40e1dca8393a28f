#include "web/server/row_changes.hpp"

#include <functional>

namespace urnic::web {

using nlohmann::json;

json RowChanges::since_last(const std::map<std::string, json>& rows) {
  json changed = json::object();
  json gone = json::array();
  for (auto told = told_.begin(); told != told_.end();) {
    if (rows.contains(told->first)) {
      ++told;
    } else {
      gone.push_back(told->first);
      told = told_.erase(told);
    }
  }
  for (const auto& [key, row] : rows) {
    const std::size_t hash = std::hash<std::string>{}(json_text(row));
    const auto [told, is_new] = told_.try_emplace(key, hash);
    if (!is_new && told->second == hash) continue;
    told->second = hash;
    changed[key] = row;
  }
  if (changed.empty() && gone.empty()) return nullptr;
  return {{"changed", changed}, {"gone", gone}};
}

}  // namespace urnic::web
