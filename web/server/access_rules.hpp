// Who may ask the server for what. The page's own files are for everybody who may speak to the server at all;
// data and changes are for those who know the token.
//
// Every program on this machine can connect to a port of 127.0.0.1, and every site that a browser shows can
// make the browser connect to it. Host and Origin keep such sites out, also those whose name leads to
// 127.0.0.1 ("DNS rebinding"); the token keeps other users out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace urnic::web {

// What the rules look at. Empty: the request does not have it.
struct RequestHead {
  std::string host;
  std::string origin;
  std::string authorization;
};

struct AccessRefusal {
  int status;        // of HTTP
  std::string says;  // to the person who asked
};

class AccessRules {
 public:
  // `hosts`: what a browser may write for this server, such as "127.0.0.1:4711".
  AccessRules(std::string token, std::vector<std::string> hosts);

  // Empty: go on. To be asked before anything else of a request is looked at.
  std::optional<AccessRefusal> refuses(const RequestHead& head) const;
  // Beside that, for everything but the page's files.
  std::optional<AccessRefusal> refuses_without_token(const RequestHead& head) const;

 private:
  bool is_ours(std::string_view host) const;

  std::string token_;
  std::vector<std::string> hosts_;
};

}  // namespace urnic::web
