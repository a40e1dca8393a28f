// The server as a browser and others speak to it.
#include "web/server/web_server.hpp"

#include <httplib.h>

#include <boost/test/unit_test.hpp>
#include <map>
#include <thread>

#include "web/server/actions.hpp"

namespace urnic::web::test {
namespace {

const std::string kToken = "0123456789abcdef";
const httplib::Headers kWithToken{{"Authorization", "Bearer " + kToken}};

struct Served {
  Served() : server({.token = kToken, .page = PAGE}) {
    server.get("/api/source", [](const WebRequest& request) {
      return json_answer({{"x", request.parameter("x")}});
    });
    server.get("/api/broken", [](const WebRequest&) -> WebAnswer { throw std::runtime_error("it broke"); });
    server.post("/api/link", [this](const WebRequest& request) -> WebAnswer {
      if (request.body == "wrong") throw WrongAction("this is wrong");
      ++changes;
      return json_answer({{"ok", true}});
    });
    server.stream("/api/stream", [](const WebRequest&) -> WebServer::Stream {
      return [left = 3]() mutable {
        return left-- > 0 ? std::string("event: tick\ndata: 1\n\n") : std::string();
      };
    });
    thread = std::thread([this] { server.serve(); });
  }
  ~Served() {
    server.stop();
    thread.join();
  }
  httplib::Client client() { return httplib::Client("127.0.0.1", server.port()); }
  int status(const httplib::Result& result) { return result ? result->status : -1; }

  WebServer server;
  std::atomic<int> changes{0};
  std::thread thread;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(web_server, Served)

BOOST_AUTO_TEST_CASE(the_page_is_for_everybody_and_data_for_those_with_the_token) {
  auto http = client();
  BOOST_TEST(status(http.Get("/")) == 200);
  BOOST_TEST(http.Get("/")->get_header_value("Content-Type").find("text/html") == 0);
  BOOST_TEST(status(http.Get("/main.js")) == 200);
  BOOST_TEST(http.Get("/main.js")->get_header_value("Content-Type").find("text/javascript") == 0);
  BOOST_TEST(status(http.Get("/style/page.css")) == 200);
  BOOST_TEST(status(http.Get("/api/source")) == 401);
  BOOST_TEST(status(http.Get("/api/source", kWithToken)) == 200);
  BOOST_TEST(http.Get("/api/source?x=%C3%BC", kWithToken)->body == "{\"x\":\"ü\"}");
}

BOOST_AUTO_TEST_CASE(nothing_else_is_served) {
  auto http = client();
  for (const char* path :
       {"/nothing", "/../server/main.cpp", "/%2e%2e/server/main.cpp", "/style", "/main.js/", "//etc/passwd"})
    BOOST_TEST(status(http.Get(path, kWithToken)) == 404, path);
}

BOOST_AUTO_TEST_CASE(a_change_needs_token_and_own_origin) {
  auto http = client();
  const auto post = [&](httplib::Headers headers) {
    return status(http.Post("/api/link", headers, "{}", "application/json"));
  };
  BOOST_TEST(post({}) == 401);
  BOOST_TEST(post({{"Authorization", "Bearer wrong"}}) == 401);
  httplib::Headers foreign = kWithToken;
  foreign.emplace("Origin", "http://evil.example");
  BOOST_TEST(post(foreign) == 403);
  httplib::Headers renamed = kWithToken;
  renamed.emplace("Host", "evil.example");
  BOOST_TEST(post(renamed) == 421);
  BOOST_TEST(changes == 0);
  httplib::Headers own = kWithToken;
  own.emplace("Origin", "http://127.0.0.1:" + std::to_string(server.port()));
  BOOST_TEST(post(own) == 200);
  BOOST_TEST(changes == 1);
  // A link or an image cannot change anything.
  BOOST_TEST(status(http.Get("/api/link", kWithToken)) == 404);
}

BOOST_AUTO_TEST_CASE(errors_say_what_is_wrong) {
  auto http = client();
  const auto wrong = http.Post("/api/link", kWithToken, "wrong", "application/json");
  BOOST_TEST(wrong->status == 400);
  BOOST_TEST(wrong->body == "{\"error\":\"this is wrong\"}");
  const auto broken = http.Get("/api/broken", kWithToken);
  BOOST_TEST(broken->status == 500);
  BOOST_TEST(broken->body == "{\"error\":\"it broke\"}");
  BOOST_TEST(status(http.Post("/api/link", kWithToken, std::string(1 << 17, ' '), "application/json")) ==
             413);
}

BOOST_AUTO_TEST_CASE(the_page_loads_nothing_from_elsewhere_and_is_in_no_frame) {
  auto http = client();
  for (const char* path : {"/", "/main.js", "/nothing"}) {
    const auto answer = http.Get(path);
    const std::string policy = answer->get_header_value("Content-Security-Policy");
    BOOST_TEST(policy.find("default-src 'none'") == 0);
    BOOST_TEST(policy.find("frame-ancestors 'none'") != std::string::npos);
    BOOST_TEST(answer->get_header_value("X-Content-Type-Options") == "nosniff");
    BOOST_TEST(answer->get_header_value("Referrer-Policy") == "no-referrer");
  }
}

BOOST_AUTO_TEST_CASE(ranges_and_compressed_bodies_are_refused) {
  auto http = client();
  BOOST_TEST(status(http.Get("/main.js", {{"Range", "bytes=0-1,0-1"}})) == 416);
  httplib::Headers compressed = kWithToken;
  compressed.emplace("Content-Encoding", "gzip");
  BOOST_TEST(status(http.Post("/api/link", compressed, "{}", "application/json")) == 415);
}

BOOST_AUTO_TEST_CASE(a_stream_is_a_row_of_events) {
  auto http = client();
  BOOST_TEST(status(http.Get("/api/stream")) == 401);
  const auto streamed = http.Get("/api/stream", kWithToken);
  BOOST_TEST(streamed->get_header_value("Content-Type") == "text/event-stream");
  BOOST_TEST(streamed->body == "event: tick\ndata: 1\n\nevent: tick\ndata: 1\n\nevent: tick\ndata: 1\n\n");
}

BOOST_AUTO_TEST_CASE(the_address_has_the_token_where_a_browser_keeps_it_to_itself) {
  BOOST_TEST(server.address() == "http://127.0.0.1:" + std::to_string(server.port()) + "/#token=" + kToken);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::web::test
