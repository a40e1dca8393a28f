#include "web/server/file_routes.hpp"

#include "web/server/request_parameters.hpp"

namespace urnic::web {

void add_file_routes(WebServer& server, const FileCapture& file) {
  server.get("/api/source", [&file](const WebRequest&) { return json_answer(file.progress()); });
  server.get("/api/file/connections", [&file](const WebRequest&) { return json_answer(file.connections()); });
  server.get("/api/file/arrows", [&file](const WebRequest& request) {
    return json_answer(file.arrows(number_in(request, "connection"), number_in(request, "from"),
                                   number_in(request, "count")));
  });
  server.get("/api/file/series", [&file](const WebRequest& request) {
    return json_answer(file.series(number_in(request, "connection")));
  });
  server.get("/api/file/frame", [&file](const WebRequest& request) {
    return json_answer(file.frame(number_in(request, "number")));
  });
}

}  // namespace urnic::web
