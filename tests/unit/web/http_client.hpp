// Requests to the server over a socket, byte by byte as a test wants them.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <system_error>

#include "device_model/memory/descriptor.hpp"

namespace urnic::web::test {

using HttpHeaders = std::multimap<std::string, std::string>;

struct HttpReply {
  int status = -1;                               // -1: the connection has ended without an answer
  std::map<std::string, std::string> headers{};  // names in small letters
  std::string body{};                            // without the chunks' frames
};

class HttpClient {
 public:
  explicit HttpClient(int port) : port_(port), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw std::system_error(errno, std::generic_category(), "connect");
  }

  // What the socket takes; the server may have closed it.
  void send(const std::string& bytes) const {
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t size = ::send(socket_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (size <= 0) return;
      sent += static_cast<std::size_t>(size);
    }
  }
  void request(const std::string& method, const std::string& path, const HttpHeaders& headers = {},
               const std::string& body = "", bool keep = false) const {
    std::string text = method + " " + path + " HTTP/1.1\r\n";
    if (headers.count("Host") == 0) text += "Host: 127.0.0.1:" + std::to_string(port_) + "\r\n";
    for (const auto& [name, value] : headers) text += name + ": " + value + "\r\n";
    if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    if (!keep) text += "Connection: close\r\n";
    send(text + "\r\n" + body);
  }
  // The next bytes; empty at the connection's end.
  std::string some() const {
    std::array<char, 65536> bytes;
    const ssize_t size = recv(socket_.get(), bytes.data(), bytes.size(), 0);
    return {bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  }
  bool has_ended() const { return some().empty(); }
  // One answer, up to its end or the connection's.
  HttpReply reply() const {
    std::string text;
    std::size_t end = std::string::npos;
    while ((end = text.find("\r\n\r\n")) == std::string::npos) {
      const std::string more = some();
      if (more.empty()) return {};
      text += more;
    }
    HttpReply reply;
    std::istringstream lines(text.substr(0, end));
    std::string line;
    std::getline(lines, line);
    reply.status = std::atoi(line.c_str() + line.find(' '));
    while (std::getline(lines, line)) {
      const std::size_t colon = line.find(':');
      std::string name = line.substr(0, colon);
      std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
      const std::string value = line.substr(colon + 2);
      reply.headers[name] = value.substr(0, value.find('\r'));
    }
    std::string rest = text.substr(end + 4);
    const auto length = reply.headers.find("content-length");
    const std::size_t wanted = length == reply.headers.end() ? std::string::npos : std::stoul(length->second);
    for (std::string more; rest.size() < wanted && !(more = some()).empty();) rest += more;
    reply.body = length == reply.headers.end() ? without_frames(rest) : rest;
    return reply;
  }

 private:
  static std::string without_frames(const std::string& chunks) {
    std::string body;
    for (std::size_t at = 0; at < chunks.size();) {
      const std::size_t line_end = chunks.find("\r\n", at);
      const std::size_t size = std::stoul(chunks.substr(at, line_end - at), nullptr, 16);
      if (size == 0) break;
      body += chunks.substr(line_end + 2, size);
      at = line_end + 2 + size + 2;
    }
    return body;
  }

  int port_;
  memory::Descriptor socket_;
};

}  // namespace urnic::web::test
