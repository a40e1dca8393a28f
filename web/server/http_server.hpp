// The HTTP server, by Boost.Beast: what a client may cost before its rights are known, and after.
//
// One thread reads, writes and waits for all connections, so that a slow client holds none. Handlers, which
// may wait for a device process, run on threads of their own.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace urnic::web {

// Bounds of what clients may cost.
namespace http_limits {
inline constexpr std::size_t kHeader = 8 * 1024;  // bytes of request line and header fields
inline constexpr std::size_t kBody = 64 * 1024;   // bytes; only of a client that knows the token
inline constexpr std::size_t kConnections = 128;  // in all; then the oldest that has shown no token makes way
inline constexpr std::size_t kStreams = 24;
inline constexpr std::size_t kAnswers = 8;          // that are made at once
inline constexpr std::size_t kDrained = 64 * 1024;  // bytes that are read and dropped behind a refusal
inline constexpr std::chrono::seconds kToAsk{5};    // for a whole header, also of the next request
inline constexpr std::chrono::seconds kToSend{5};   // for a whole body
inline constexpr std::chrono::seconds kToTake{60};  // for a client that knows the token to take an answer
inline constexpr std::chrono::seconds kStrangerToTake{5};
inline constexpr std::chrono::seconds kToTakeEvents{10};  // one part of a stream
inline constexpr std::chrono::seconds kToDrain{1};
}  // namespace http_limits

struct HttpRequest {
  std::string method;
  std::string path;   // as it was sent
  std::string query;  // what was behind '?'
  std::string host;
  std::string origin;
  std::string authorization;
  bool has_range = false;
  bool has_content_encoding = false;
  std::string body;  // empty until the request is admitted
};

struct HttpAnswer {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string content{};
  // Not null: the answer is what this returns, part by part, until it returns an empty text or throws. Called
  // on a thread of the stream's own, not before the client has taken the part before.
  std::function<std::string()> next_part{};
};

// Whether a request may go on once its header is known.
struct Admission {
  bool admitted = false;
  bool trusted = false;  // it has shown the token: it may send a body, and its connection makes way for none
  HttpAnswer refusal{};  // if not admitted
};

class HttpServer {
 public:
  struct Handlers {
    // On the server's thread: must not wait.
    std::function<Admission(const HttpRequest&)> admit;
    // On one of several other threads, of an admitted request. Must not throw.
    std::function<HttpAnswer(const HttpRequest&)> answer;
    // What the server itself refuses, such as a header that is too long.
    std::function<HttpAnswer(int status, const std::string& says)> refuse;
  };

  // Binds the port; 0: any that is free. Throws std::runtime_error if the address cannot be used.
  HttpServer(const std::string& address, int port, Handlers handlers);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  // Until `stop`, which any thread may call, also before. Then waits for the handlers that are at work.
  void serve();
  void stop();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace urnic::web
