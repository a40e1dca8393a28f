// Parameters in a request's address.
#pragma once

#include <cstdint>

#include "web/server/queue_pair_name.hpp"
#include "web/server/web_server.hpp"

namespace urnic::web {

// Throw WrongAction, which says what the parameter must be.
std::uint64_t number_in(const WebRequest& request, const char* parameter);
QueuePairName queue_pair_in(const WebRequest& request);

}  // namespace urnic::web
