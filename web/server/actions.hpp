// What the page may change: settings of links, recovery and congestion control, faults for a few packets.
// Each becomes one request on the admin socket, of which nothing is taken over unlooked: a page can do no
// more than this.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "json/json.hpp"

namespace urnic::web {

// The page asked for something that is not allowed, or not in these words. what() says what would be.
struct WrongAction : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// {"device":"urnic0","direction":"tx","set":{"loss":0.01}}
nlohmann::json link_request(const nlohmann::json& action);
// {"device":"urnic0","recovery":"gbn"}, and "qp" for one queue pair
nlohmann::json recovery_request(const nlohmann::json& action);
// {"device":"urnic0","congestion":"dcqcn"}, and "qp" for one queue pair
nlohmann::json congestion_request(const nlohmann::json& action);
// {"device":"urnic0","qpn":17,"packets":"acknowledge","action":"drop","times":1}: the next packets of that
// kind that this queue pair sends. `number` tells several apart.
nlohmann::json fault_request(const nlohmann::json& action, unsigned number);

}  // namespace urnic::web
