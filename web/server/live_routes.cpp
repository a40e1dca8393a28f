#include "web/server/live_routes.hpp"

#include <atomic>
#include <memory>

#include "web/server/actions.hpp"
#include "web/server/metrics.hpp"
#include "web/server/request_parameters.hpp"

namespace urnic::web {
namespace {

using nlohmann::json;

json action_in(const WebRequest& request) {
  json action = parse_json(request.body);
  if (!action.is_object()) throw WrongAction("the body must be a JSON object");
  return action;
}

void add_streams(WebServer& server, const PageStream::Surroundings& surroundings) {
  server.stream("/api/stream", [surroundings](const WebRequest& request) -> WebServer::Stream {
    PageStream::Watched watched;
    if (!request.parameter("queue_pair").empty()) watched.queue_pair = queue_pair_in(request);
    watched.ladder = request.parameter("ladder") == "1";
    const auto stream = std::make_shared<PageStream>(surroundings, watched);
    return [stream] { return stream->next(); };
  });
}

void add_ladder(WebServer& server, LiveLadders& ladders) {
  server.get("/api/frame", [&ladders](const WebRequest& request) {
    return json_answer(ladders.find(queue_pair_in(request))->frame(number_in(request, "number")));
  });
  server.get("/api/capture", [&ladders](const WebRequest& request) {
    const QueuePairName name = queue_pair_in(request);
    WebAnswer answer;
    answer.type = "application/octet-stream";
    answer.content = ladders.find(name)->pcapng();
    answer.file_name = name.device + "-" + std::to_string(name.qpn) + ".pcapng";
    return answer;
  });
}

// After each, the next look is at once: a person wants to see what happens.
void add_actions(WebServer& server, const PageStream::Surroundings& surroundings) {
  const auto change = [surroundings](const json& request) {
    const json answer = surroundings.devices.ask(request);
    surroundings.overview.look_again();
    return json_answer(answer);
  };
  server.post("/api/link",
              [change](const WebRequest& request) { return change(link_request(action_in(request))); });
  server.post("/api/recovery",
              [change](const WebRequest& request) { return change(recovery_request(action_in(request))); });
  server.post("/api/congestion",
              [change](const WebRequest& request) { return change(congestion_request(action_in(request))); });
  server.post("/api/fault",
              [change, number = std::make_shared<std::atomic<unsigned>>(0)](const WebRequest& request) {
                return change(fault_request(action_in(request), ++*number));
              });
  server.post("/api/faults/clear", [change](const WebRequest&) {
    return change({{"cmd", "fault"}, {"do", "clear"}});
  });
}

}  // namespace

void add_live_routes(WebServer& server, const PageStream::Surroundings& surroundings) {
  server.get("/api/source", [](const WebRequest&) { return json_answer({{"source", "devices"}}); });
  add_streams(server, surroundings);
  add_ladder(server, surroundings.ladders);
  add_actions(server, surroundings);
  server.get("/metrics", [&overview = surroundings.overview](const WebRequest&) {
    return WebAnswer{200, kMetricsType, metrics(*overview.sample()), ""};
  });
}

}  // namespace urnic::web
