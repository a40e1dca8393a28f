// What the HTTP server serves: who may ask, the page's files, and the routes that others add.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "json/json.hpp"

namespace urnic::web {

// A request whose rights have been checked.
struct WebRequest {
  const std::string& body;
  // The value in the address behind '?'; empty if there is none.
  std::function<std::string(const std::string& name)> parameter;
};

struct WebAnswer {
  int status = 200;
  std::string type = "application/json";
  std::string content;
  std::string file_name;  // not empty: a browser saves it under this name
};
WebAnswer json_answer(const nlohmann::json& value, int status = 200);
// {"error":…}
WebAnswer error_answer(const std::string& says, int status);

class WebServer {
 public:
  struct Options {
    std::string address = "127.0.0.1";
    int port = 0;                      // 0: any that is free
    std::vector<std::string> hosts{};  // names by which browsers may ask, besides the address and localhost
    std::string token;
    std::filesystem::path page;
  };

  // Binds the port. Throws std::runtime_error: the page is missing, or the address cannot be used.
  explicit WebServer(const Options& options);
  ~WebServer();
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  using Answer = std::function<WebAnswer(const WebRequest&)>;
  // Returns the next part of a stream of events; empty at its end. Called on a thread of the stream's own.
  using Stream = std::function<std::string()>;
  using OpenStream = std::function<Stream(const WebRequest&)>;

  // To be called before `serve`. All these need the token. An exception becomes an error answer: WrongAction
  // and cli::RequestRefused 400, NoDeviceProcess 503, others 500.
  void get(const std::string& path, Answer answer);
  void post(const std::string& path, Answer answer);
  void stream(const std::string& path, OpenStream open);

  int port() const;
  // What a person opens: with the token behind '#', which a browser keeps to itself.
  std::string address() const;
  // Until `stop`, which any thread may call.
  void serve();
  void stop();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace urnic::web
