#include "web/server/web_server.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tools/urnic/admin_client.hpp"
#include "web/server/access_rules.hpp"
#include "web/server/actions.hpp"
#include "web/server/device_connection.hpp"
#include "web/server/page_files.hpp"

namespace urnic::web {
namespace {

// Connections that are served at once; a browser opens at most six. Streams may not take them all.
constexpr std::size_t kThreads = 48;
constexpr int kMostStreams = 24;
constexpr std::size_t kMostBody = 64 * 1024;
constexpr int kPatience = 5;  // seconds, for a browser to send or take bytes

const httplib::Headers kHeaders{
    // Nothing is loaded from elsewhere, nothing is written into the page as script, no other site shows it in
    // a
    // frame or reads it.
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src "
     "'self'; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};

void put(const WebAnswer& answer, httplib::Response& response) {
  response.status = answer.status;
  if (!answer.file_name.empty())
    response.set_header("Content-Disposition", fmt::format("attachment; filename=\"{}\"", answer.file_name));
  response.set_content(answer.content, answer.type);
}

template <typename Call>
WebAnswer answer_of(Call call) {
  try {
    return call();
  } catch (const WrongAction& error) {
    return error_answer(error.what(), 400);
  } catch (const cli::RequestRefused& error) {
    return error_answer(error.what(), 400);
  } catch (const NoDeviceProcess& error) {
    return error_answer(error.what(), 503);
  } catch (const std::exception& error) {
    return error_answer(error.what(), 500);
  }
}

RequestHead head_of(const httplib::Request& request) {
  return {request.get_header_value("Host"), request.get_header_value("Origin"),
          request.get_header_value("Authorization")};
}

WebRequest request_of(const httplib::Request& request) {
  return {request.body, [&request](const std::string& name) { return request.get_param_value(name); }};
}

std::string host_in_address(const std::string& address) {
  return address.find(':') == std::string::npos ? address : "[" + address + "]";
}

std::vector<std::string> allowed_hosts(const WebServer::Options& options, int port) {
  std::vector<std::string> names{host_in_address(options.address), "localhost", "127.0.0.1", "[::1]"};
  names.insert(names.end(), options.hosts.begin(), options.hosts.end());
  std::vector<std::string> hosts;
  for (const std::string& name : names) {
    hosts.push_back(fmt::format("{}:{}", name, port));
    if (port == 80) hosts.push_back(name);
  }
  return hosts;
}

}  // namespace

WebAnswer json_answer(const nlohmann::json& value, int status) {
  return {status, "application/json", json_text(value), ""};
}

WebAnswer error_answer(const std::string& says, int status) { return json_answer({{"error", says}}, status); }

struct WebServer::Parts {
  explicit Parts(const Options& wanted) : options(wanted), files(read_page(wanted.page)) {}

  void bind();
  httplib::Server::HandlerResponse check(const httplib::Request& request, httplib::Response& response) const;
  bool may(const httplib::Request& request, httplib::Response& response) const;
  void serve_files();

  const Options options;
  const std::map<std::string, PageFile> files;
  httplib::Server server;
  int port = 0;
  std::optional<AccessRules> rules;
  std::atomic<int> streams{0};
};

void WebServer::Parts::bind() {
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  server.set_payload_max_length(kMostBody);
  server.set_read_timeout(kPatience);
  server.set_write_timeout(kPatience);
  server.set_keep_alive_timeout(1);  // also for how long the end waits for a browser that is silent
  server.set_default_headers(kHeaders);
  server.set_tcp_nodelay(true);
  if (options.port == 0) {
    port = server.bind_to_any_port(options.address);
  } else {
    port = server.bind_to_port(options.address, options.port) ? options.port : -1;
  }
  if (port <= 0) {
    throw std::runtime_error(
        fmt::format("the server cannot listen on {} port {}: another program does, or this machine has "
                    "no such address; choose another with --port or --listen",
                    options.address, options.port));
  }
  rules.emplace(options.token, allowed_hosts(options, port));
}

// Before the request's body is read. Ranges of the page's files are of no use, and their sums cost memory; so
// does a compressed body.
httplib::Server::HandlerResponse WebServer::Parts::check(const httplib::Request& request,
                                                         httplib::Response& response) const {
  std::optional<AccessRefusal> refusal = rules->refuses(head_of(request));
  if (!refusal && request.has_header("Range")) refusal = AccessRefusal{416, "Ask for the whole."};
  if (!refusal && request.has_header("Content-Encoding"))
    refusal = AccessRefusal{415, "Send it uncompressed."};
  if (!refusal) return httplib::Server::HandlerResponse::Unhandled;
  put(error_answer(refusal->says, refusal->status), response);
  return httplib::Server::HandlerResponse::Handled;
}

bool WebServer::Parts::may(const httplib::Request& request, httplib::Response& response) const {
  const auto refusal = rules->refuses_without_token(head_of(request));
  if (refusal) put(error_answer(refusal->says, refusal->status), response);
  return !refusal;
}

void WebServer::Parts::serve_files() {
  for (const auto& [path, file] : files) {
    std::string pattern;  // a regular expression, in which the paths' only special character is the dot
    for (const char character : path)
      pattern += character == '.' ? std::string("\\.") : std::string(1, character);
    server.Get(pattern, [&served = file](const httplib::Request&, httplib::Response& response) {
      response.set_content(served.content, served.type);
    });
  }
}

WebServer::WebServer(const Options& options) : parts_(std::make_unique<Parts>(options)) {
  parts_->bind();
  parts_->serve_files();
  parts_->server.set_pre_routing_handler([parts = parts_.get()](const auto& request, auto& response) {
    return parts->check(request, response);
  });
  parts_->server.set_error_handler([](const httplib::Request&, httplib::Response& response) {
    if (response.body.empty())
      put(error_answer("There is nothing at this address.", response.status), response);
  });
}

WebServer::~WebServer() = default;

void WebServer::get(const std::string& path, Answer answer) {
  parts_->server.Get(path,
                     [parts = parts_.get(), answer = std::move(answer)](const auto& request, auto& response) {
                       if (parts->may(request, response))
                         put(answer_of([&] { return answer(request_of(request)); }), response);
                     });
}

void WebServer::post(const std::string& path, Answer answer) {
  parts_->server.Post(
      path, [parts = parts_.get(), answer = std::move(answer)](const auto& request, auto& response) {
        if (parts->may(request, response))
          put(answer_of([&] { return answer(request_of(request)); }), response);
      });
}

void WebServer::stream(const std::string& path, OpenStream open) {
  parts_->server.Get(path,
                     [parts = parts_.get(), open = std::move(open)](const auto& request, auto& response) {
                       if (!parts->may(request, response)) return;
                       if (parts->streams.fetch_add(1) >= kMostStreams) {
                         --parts->streams;
                         return put(error_answer("Too many pages are open.", 503), response);
                       }
                       Stream next;
                       const WebAnswer opened = answer_of([&] {
                         next = open(request_of(request));
                         return WebAnswer{};
                       });
                       if (!next) {
                         --parts->streams;
                         return put(opened, response);
                       }
                       response.set_chunked_content_provider(
                           "text/event-stream",
                           [next](std::size_t, httplib::DataSink& sink) {
                             try {
                               const std::string text = next();
                               if (!text.empty()) return sink.write(text.data(), text.size());
                               sink.done();
                               return true;
                             } catch (const std::exception&) {
                               return false;  // the page opens the stream anew
                             }
                           },
                           [parts](bool) { --parts->streams; });
                     });
}

int WebServer::port() const { return parts_->port; }

std::string WebServer::address() const {
  const Options& options = parts_->options;
  const std::string host = options.hosts.empty() ? host_in_address(options.address) : options.hosts.front();
  return fmt::format("http://{}:{}/#token={}", host, port(), options.token);
}

void WebServer::serve() { parts_->server.listen_after_bind(); }

// A server that has not begun yet would not notice.
void WebServer::stop() {
  for (int wait = 0; wait < 1000 && !parts_->server.is_running(); ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  parts_->server.stop();
}

}  // namespace urnic::web
