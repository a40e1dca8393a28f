// The server as a browser and others speak to it.
#include "web/server/web_server.hpp"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <memory>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/unit/web/http_client.hpp"
#include "web/server/actions.hpp"
#include "web/server/http_server.hpp"
#include "web/server/query_text.hpp"

namespace urnic::web::test {
namespace web_server {

const std::string kToken = "0123456789abcdef";
const HttpHeaders kWithToken{{"Authorization", "Bearer " + kToken}};

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
    server.stream("/api/endless", [this](const WebRequest&) -> WebServer::Stream {
      return [this] {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        return ended ? std::string() : std::string("event: tick\ndata: 1\n\n");
      };
    });
    thread = std::thread([this] { server.serve(); });
  }
  ~Served() {
    ended = true;
    server.stop();
    thread.join();
  }
  HttpClient client() const { return HttpClient(server.port()); }
  HttpReply get(const std::string& path, const HttpHeaders& headers = {}) const {
    const HttpClient http = client();
    http.request("GET", path, headers);
    return http.reply();
  }
  HttpReply post(const std::string& path, const HttpHeaders& headers, const std::string& body) const {
    const HttpClient http = client();
    http.request("POST", path, headers, body);
    return http.reply();
  }

  WebServer server;
  std::atomic<int> changes{0};
  std::atomic<bool> ended{false};
  std::thread thread;
};

}  // namespace web_server

BOOST_FIXTURE_TEST_SUITE(web_server, Served)

BOOST_AUTO_TEST_CASE(the_page_is_for_everybody_and_data_for_those_with_the_token) {
  BOOST_TEST(get("/").status == 200);
  BOOST_TEST(get("/").headers["content-type"].find("text/html") == 0u);
  BOOST_TEST(get("/main.js").status == 200);
  BOOST_TEST(get("/main.js").headers["content-type"].find("text/javascript") == 0u);
  BOOST_TEST(get("/style/page.css").status == 200);
  BOOST_TEST(get("/api/source").status == 401);
  BOOST_TEST(get("/nothing").status == 401);
  BOOST_TEST(get("/api/source", kWithToken).status == 200);
  BOOST_TEST(get("/api/source?x=%C3%BC", kWithToken).body == "{\"x\":\"ü\"}");
}

BOOST_AUTO_TEST_CASE(nothing_else_is_served) {
  for (const char* path :
       {"/nothing", "/../server/main.cpp", "/%2e%2e/server/main.cpp", "/style", "/main.js/", "//etc/passwd"})
    BOOST_TEST(get(path, kWithToken).status == 404, path);
}

BOOST_AUTO_TEST_CASE(a_change_needs_token_and_own_origin) {
  const auto change = [&](const HttpHeaders& headers) { return post("/api/link", headers, "{}").status; };
  BOOST_TEST(change({}) == 401);
  BOOST_TEST(change({{"Authorization", "Bearer wrong"}}) == 401);
  HttpHeaders foreign = kWithToken;
  foreign.emplace("Origin", "http://evil.example");
  BOOST_TEST(change(foreign) == 403);
  HttpHeaders renamed = kWithToken;
  renamed.emplace("Host", "evil.example");
  BOOST_TEST(change(renamed) == 421);
  BOOST_TEST(changes == 0);
  HttpHeaders own = kWithToken;
  own.emplace("Origin", "http://127.0.0.1:" + std::to_string(server.port()));
  BOOST_TEST(change(own) == 200);
  BOOST_TEST(changes == 1);
  // A link or an image cannot change anything.
  BOOST_TEST(get("/api/link", kWithToken).status == 404);
}

BOOST_AUTO_TEST_CASE(errors_say_what_is_wrong) {
  const HttpReply wrong = post("/api/link", kWithToken, "wrong");
  BOOST_TEST(wrong.status == 400);
  BOOST_TEST(wrong.body == "{\"error\":\"this is wrong\"}");
  const HttpReply broken = get("/api/broken", kWithToken);
  BOOST_TEST(broken.status == 500);
  BOOST_TEST(broken.body == "{\"error\":\"it broke\"}");
}

BOOST_AUTO_TEST_CASE(a_connection_carries_one_request_after_the_other) {
  const HttpClient http = client();
  for (int i = 0; i < 5; ++i) {
    http.request("GET", "/api/source?x=" + std::to_string(i), kWithToken, "", true);
    BOOST_TEST(http.reply().body == "{\"x\":\"" + std::to_string(i) + "\"}");
    http.request("POST", "/api/link", kWithToken, "{}", true);
    BOOST_TEST(http.reply().status == 200);
  }
  BOOST_TEST(changes == 5);
}

BOOST_AUTO_TEST_CASE(the_head_of_an_answer_comes_without_its_content) {
  const HttpClient http = client();
  http.request("HEAD", "/main.js");
  std::string text;
  for (std::string more; !(more = http.some()).empty();) text += more;
  BOOST_TEST(text.find("200") != std::string::npos);
  BOOST_TEST(text.find("Content-Length: " + std::to_string(get("/main.js").body.size())) !=
             std::string::npos);
  BOOST_TEST(text.substr(text.size() - 4) == "\r\n\r\n");
}

BOOST_AUTO_TEST_CASE(the_page_loads_nothing_from_elsewhere_and_is_in_no_frame) {
  for (const char* path : {"/", "/main.js", "/nothing"}) {
    HttpReply answer = get(path);
    const std::string policy = answer.headers["content-security-policy"];
    BOOST_TEST(policy.find("default-src 'none'") == 0u);
    BOOST_TEST(policy.find("frame-ancestors 'none'") != std::string::npos);
    BOOST_TEST(answer.headers["x-content-type-options"] == "nosniff");
    BOOST_TEST(answer.headers["referrer-policy"] == "no-referrer");
  }
}

BOOST_AUTO_TEST_CASE(ranges_and_compressed_bodies_are_refused) {
  BOOST_TEST(get("/main.js", {{"Range", "bytes=0-1,0-1"}}).status == 416);
  HttpHeaders compressed = kWithToken;
  compressed.emplace("Content-Encoding", "gzip");
  BOOST_TEST(post("/api/link", compressed, "{}").status == 415);
}

BOOST_AUTO_TEST_CASE(a_stream_is_a_row_of_events) {
  BOOST_TEST(get("/api/stream").status == 401);
  HttpReply streamed = get("/api/stream", kWithToken);
  BOOST_TEST(streamed.headers["content-type"] == "text/event-stream");
  BOOST_TEST(streamed.body == "event: tick\ndata: 1\n\nevent: tick\ndata: 1\n\nevent: tick\ndata: 1\n\n");
}

BOOST_AUTO_TEST_CASE(the_address_has_the_token_where_a_browser_keeps_it_to_itself) {
  BOOST_TEST(server.address() == "http://127.0.0.1:" + std::to_string(server.port()) + "/#token=" + kToken);
}

// The answer comes before any byte of the body has been sent: nothing of it is kept.
BOOST_AUTO_TEST_CASE(who_may_send_a_body_is_known_before_it_is_read) {
  HttpHeaders wrong{{"Authorization", "Bearer 0123456789abcdeF"}}, chunked{{"Transfer-Encoding", "chunked"}};
  const HttpHeaders long_body{{"Content-Length", "200000000"}};
  const auto with = [](HttpHeaders headers, const HttpHeaders& more) {
    headers.insert(more.begin(), more.end());
    return headers;
  };
  for (const auto& [path, headers, status] : std::vector<std::tuple<std::string, HttpHeaders, int>>{
           {"/api/link", long_body, 401},
           {"/api/link", chunked, 401},
           {"/api/link", with(wrong, long_body), 401},
           {"/api/link", with(long_body, {{"Host", "evil.example"}}), 421},
           {"/api/link", with(kWithToken, long_body), 413},
           {"/api/link", with(kWithToken, chunked), 411},
           {"/", {{"Content-Length", "1000"}}, 400},
           {"/", chunked, 411}}) {
    const HttpClient http = client();
    http.request("POST", path, headers, "", true);
    const HttpReply reply = http.reply();
    BOOST_TEST(reply.status == status, path << " " << reply.status << " instead of " << status);
    BOOST_TEST(reply.body.find("error") != std::string::npos);
    BOOST_TEST(http.has_ended());
  }
  BOOST_TEST(changes == 0);
}

BOOST_AUTO_TEST_CASE(headers_have_a_limit) {
  for (const std::string& text : {"GET /" + std::string(20'000, 'x') + " HTTP/1.1\r\n\r\n",
                                  "GET / HTTP/1.1\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n"}) {
    const HttpClient http = client();
    http.send(text);
    BOOST_TEST(http.reply().status == 431);
    BOOST_TEST(http.has_ended());
  }
  const HttpClient many = client();
  many.send("GET / HTTP/1.1\r\n");
  for (int i = 0; i < 10'000; ++i) many.send("A: b\r\n");
  BOOST_TEST(many.reply().status == 431);
}

BOOST_AUTO_TEST_CASE(what_is_no_http_is_refused) {
  for (const char* text : {"\r\n\r\n\r\n", "hello\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n",
                           "POST /api/link HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"}) {
    const HttpClient http = client();
    http.send(text);
    BOOST_TEST(http.reply().status == 400, text);
  }
}

// The oldest connections that have shown no token make way; a page's stream stays.
BOOST_AUTO_TEST_CASE(idle_connections_do_not_keep_others_out) {
  const HttpClient page = client();
  page.request("GET", "/api/endless", kWithToken);
  BOOST_TEST(page.some().find("200 OK") != std::string::npos);
  std::vector<std::unique_ptr<HttpClient>> idle;
  for (int round = 0; round < 4; ++round) {
    for (std::size_t i = 0; i < http_limits::kConnections; ++i)
      idle.push_back(std::make_unique<HttpClient>(server.port()));
    BOOST_TEST(get("/api/source", kWithToken).status == 200);
  }
  BOOST_TEST(idle.front()->has_ended());
  BOOST_TEST(!page.has_ended());
}

BOOST_AUTO_TEST_CASE(streams_have_a_limit) {
  std::vector<std::unique_ptr<HttpClient>> pages;
  for (std::size_t i = 0; i < http_limits::kStreams; ++i) {
    pages.push_back(std::make_unique<HttpClient>(server.port()));
    pages.back()->request("GET", "/api/endless", kWithToken);
    BOOST_TEST(pages.back()->some().find("200 OK") != std::string::npos);
  }
  BOOST_TEST(get("/api/endless", kWithToken).status == 503);
  BOOST_TEST(get("/api/source", kWithToken).status == 200);  // answers have threads of their own
  pages.pop_back();
  int status = 503;
  for (int look = 0; look < 1000 && status == 503; ++look) {
    const HttpClient http = client();
    http.request("GET", "/api/endless", kWithToken);
    status = http.some().find("200 OK") != std::string::npos ? 200 : 503;
    if (status == 503) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  BOOST_TEST(status == 200);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(parameters_are_decoded) {
  const std::string query = "a=1&b=%2F%c3%BC+x&a=2&c&d=&=e&%66=g&h=%4&i=%zz&j=a=b";
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"a", "1"},
                                                                                    {"b", "/ü x"},
                                                                                    {"c", ""},
                                                                                    {"d", ""},
                                                                                    {"", "e"},
                                                                                    {"f", "g"},
                                                                                    {"h", "%4"},
                                                                                    {"i", "%zz"},
                                                                                    {"j", "a=b"},
                                                                                    {"k", ""}})
    BOOST_TEST(parameter_in(query, name) == value, name);
  BOOST_TEST(parameter_in("", "a") == "");
}

}  // namespace urnic::web::test
