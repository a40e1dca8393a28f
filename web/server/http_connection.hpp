// One connection of the HTTP server.
#pragma once

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "web/server/http_server.hpp"

namespace urnic::web {

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  // All outlive the connection.
  struct Surroundings {
    const HttpServer::Handlers& handlers;
    boost::asio::thread_pool& answering;
    boost::asio::thread_pool& streaming;
    std::size_t& streams;                              // that are open
    std::function<void(const HttpConnection&)> ended;  // it closes, and is to be forgotten
  };

  HttpConnection(boost::asio::ip::tcp::socket socket, const Surroundings& surroundings);
  // All are called on the server's thread.
  void read_request();
  void close();
  bool is_trusted() const { return trusted_; }
  const boost::asio::ip::address& client() const { return client_; }

 private:
  using Error = boost::beast::error_code;
  using Answer = boost::beast::http::response<boost::beast::http::string_body>;
  using EventsHeader = boost::beast::http::response<boost::beast::http::empty_body>;

  void header_read(const Error& error);
  void read_body();
  // The body is there, or there is none.
  void answer();
  void answer_with(HttpAnswer made);
  // The connection ends behind it.
  void refuse(HttpAnswer refusal);
  void refuse(int status, const std::string& says) { refuse(surroundings_.handlers.refuse(status, says)); }
  void write(HttpAnswer made, bool keep);
  void drain();
  // On the server's thread: opens the stream, whose thread runs `stream_parts`.
  void open_stream(HttpAnswer made);
  void stream_parts(const std::function<std::string()>& next_part);
  // Returns once the client has taken the text; false: the connection has ended. Called on the stream's
  // thread.
  bool stream_part(const std::string& text, bool last);

  Surroundings surroundings_;
  boost::beast::tcp_stream stream_;
  boost::asio::ip::address client_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  HttpRequest request_;
  bool trusted_ = false;
  bool closed_ = false;
  Answer answer_;
  EventsHeader events_header_;
  std::optional<boost::beast::http::response_serializer<boost::beast::http::empty_body>> events_serializer_;
  std::array<char, 4096> dropped_;
  std::size_t drained_ = 0;
};

}  // namespace urnic::web
