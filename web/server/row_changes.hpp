// What has changed in a table since a page was told last: of thousands of rows that rest, nothing.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "json/json.hpp"

namespace urnic::web {

class RowChanges {
 public:
  // {"changed":{key:row,…},"gone":[key,…]}; null if nothing has changed.
  nlohmann::json since_last(const std::map<std::string, nlohmann::json>& rows);

 private:
  std::map<std::string, std::size_t> told_;  // by key, the hash of the row's text
};

}  // namespace urnic::web
