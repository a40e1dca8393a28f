#include "web/server/web_server.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "tools/urnic/admin_client.hpp"
#include "web/server/access_rules.hpp"
#include "web/server/actions.hpp"
#include "web/server/device_connection.hpp"
#include "web/server/http_server.hpp"
#include "web/server/page_files.hpp"
#include "web/server/query_text.hpp"

namespace urnic::web {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

const Headers kHeaders{
    // Nothing is loaded from elsewhere, nothing is written into the page as script, no other site shows it in
    // a
    // or reads it.
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

// With the headers that every answer has.
HttpAnswer http_answer(WebAnswer answer) {
  HttpAnswer made{.status = answer.status, .headers = kHeaders, .content = std::move(answer.content)};
  made.headers.emplace_back("Content-Type", answer.type);
  if (!answer.file_name.empty())
    made.headers.emplace_back("Content-Disposition",
                              fmt::format("attachment; filename=\"{}\"", answer.file_name));
  return made;
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

WebRequest request_of(const HttpRequest& request) {
  return {request.body, [&request](const std::string& name) { return parameter_in(request.query, name); }};
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
  explicit Parts(const Options& wanted)
      : options(wanted),
        files(read_page(wanted.page)),
        server(wanted.address, wanted.port,
               {.admit = [this](const HttpRequest& request) { return admit(request); },
                .answer = [this](const HttpRequest& request) { return answer(request); },
                .refuse = [](int status,
                             const std::string& says) { return http_answer(error_answer(says, status)); }}),
        rules(wanted.token, allowed_hosts(wanted, server.port())) {}

  Admission admit(const HttpRequest& request) const;
  HttpAnswer answer(const HttpRequest& request) const;
  HttpAnswer open(const OpenStream& stream, const HttpRequest& request) const;

  const Options options;
  const std::map<std::string, PageFile> files;
  std::map<std::string, Answer> gets;
  std::map<std::string, Answer> posts;
  std::map<std::string, OpenStream> streams;
  HttpServer server;
  const AccessRules rules;
};

// Ranges of the page's files are of no use; a compressed body would cost memory.
Admission WebServer::Parts::admit(const HttpRequest& request) const {
  const RequestHead head{request.host, request.origin, request.authorization};
  std::optional<AccessRefusal> refusal = rules.refuses(head);
  if (!refusal && request.has_range) refusal = AccessRefusal{416, "Ask for the whole."};
  if (!refusal && request.has_content_encoding) refusal = AccessRefusal{415, "Send it uncompressed."};
  const std::optional<AccessRefusal> stranger = rules.refuses_without_token(head);
  if (!refusal && files.count(request.path) == 0) refusal = stranger;
  if (refusal) return {.refusal = http_answer(error_answer(refusal->says, refusal->status))};
  return {.admitted = true, .trusted = !stranger};
}

HttpAnswer WebServer::Parts::answer(const HttpRequest& request) const {
  const bool get = request.method == "GET" || request.method == "HEAD";
  const auto file = files.find(request.path);
  if (get && file != files.end()) return http_answer({200, file->second.type, file->second.content, ""});
  const auto stream = streams.find(request.path);
  if (request.method == "GET" && stream != streams.end()) return open(stream->second, request);
  const auto& answers = get ? gets : posts;
  const auto found = answers.find(request.path);
  if ((get || request.method == "POST") && found != answers.end())
    return http_answer(answer_of([&] { return found->second(request_of(request)); }));
  return http_answer(error_answer("There is nothing at this address.", 404));
}

HttpAnswer WebServer::Parts::open(const OpenStream& stream, const HttpRequest& request) const {
  Stream next;
  HttpAnswer made = http_answer(answer_of([&] {
    next = stream(request_of(request));
    return WebAnswer{200, "text/event-stream", "", ""};
  }));
  made.next_part = std::move(next);
  return made;
}

WebServer::WebServer(const Options& options) : parts_(std::make_unique<Parts>(options)) {}

WebServer::~WebServer() = default;

void WebServer::get(const std::string& path, Answer answer) { parts_->gets[path] = std::move(answer); }

void WebServer::post(const std::string& path, Answer answer) { parts_->posts[path] = std::move(answer); }

void WebServer::stream(const std::string& path, OpenStream open) { parts_->streams[path] = std::move(open); }

int WebServer::port() const { return parts_->server.port(); }

std::string WebServer::address() const {
  const Options& options = parts_->options;
  const std::string host = options.hosts.empty() ? host_in_address(options.address) : options.hosts.front();
  return fmt::format("http://{}:{}/#token={}", host, port(), options.token);
}

void WebServer::serve() { parts_->server.serve(); }

void WebServer::stop() { parts_->server.stop(); }

}  // namespace urnic::web
