// What a page asks a server that shows a capture file.
#pragma once

#include "web/server/file_capture.hpp"
#include "web/server/web_server.hpp"

namespace urnic::web {

// `file` outlives the server.
void add_file_routes(WebServer& server, const FileCapture& file);

}  // namespace urnic::web
