// What a page asks a server that watches a device process.
#pragma once

#include "web/server/page_stream.hpp"
#include "web/server/web_server.hpp"

namespace urnic::web {

// All outlive the server.
void add_live_routes(WebServer& server, const PageStream::Surroundings& surroundings);

}  // namespace urnic::web
