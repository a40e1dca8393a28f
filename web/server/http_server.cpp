#include "web/server/http_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <list>
#include <map>
#include <stdexcept>

#include "web/server/http_connection.hpp"

namespace urnic::web {
namespace {

namespace net = boost::asio;
using net::ip::tcp;

}  // namespace

struct HttpServer::Parts {
  explicit Parts(Handlers wanted) : handlers(std::move(wanted)) {}

  void bind(const std::string& address, int port);
  void accept();
  void accepted(tcp::socket socket);
  void make_room();
  void forget(const HttpConnection& connection);
  void end();

  const Handlers handlers;
  net::io_context context{1};
  tcp::acceptor acceptor{context};
  net::steady_timer again{context};
  // In the order of their beginning.
  std::list<std::shared_ptr<HttpConnection>> connections;
  std::size_t streams = 0;
  net::thread_pool answering{http_limits::kAnswers};
  net::thread_pool streaming{http_limits::kStreams};
};

void HttpServer::Parts::bind(const std::string& address, int port) {
  try {
    const tcp::endpoint place =
        *tcp::resolver(context).resolve(address, std::to_string(port), tcp::resolver::passive).begin();
    acceptor.open(place.protocol());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    acceptor.bind(place);
    acceptor.listen();
  } catch (const boost::system::system_error& error) {
    throw std::runtime_error(fmt::format(
        "the server cannot listen on {} port {} ({}): another program does, or this machine has no such "
        "address; choose another with --port or --listen",
        address, port, error.code().message()));
  }
}

void HttpServer::Parts::accept() {
  acceptor.async_accept([this](const boost::system::error_code& error, tcp::socket socket) {
    if (!acceptor.is_open()) return;
    if (!error) {
      accepted(std::move(socket));
      return accept();
    }
    // No descriptor is free, for example.
    again.expires_after(std::chrono::milliseconds(100));
    again.async_wait([this](const boost::system::error_code& stopped) {
      if (!stopped) accept();
    });
  });
}

void HttpServer::Parts::accepted(tcp::socket socket) {
  make_room();
  const HttpConnection::Surroundings surroundings{handlers, answering, streaming, streams,
                                                  [this](const HttpConnection& ended) { forget(ended); }};
  connections.push_back(std::make_shared<HttpConnection>(std::move(socket), surroundings));
  connections.back()->read_request();
}

// Of the client that has the most connections without a token the oldest makes way, so that a client that
// opens many loses its own.
void HttpServer::Parts::make_room() {
  if (connections.size() < http_limits::kConnections) return;
  std::map<net::ip::address, std::size_t> strangers;
  for (const auto& connection : connections) {
    if (!connection->is_trusted()) ++strangers[connection->client()];
  }
  const auto most =
      std::max_element(strangers.begin(), strangers.end(),
                       [](const auto& one, const auto& other) { return one.second < other.second; });
  const auto oldest = std::find_if(connections.begin(), connections.end(), [&](const auto& connection) {
    return most == strangers.end() || (!connection->is_trusted() && connection->client() == most->first);
  });
  const std::shared_ptr<HttpConnection> leaving = *oldest;
  leaving->close();
}

void HttpServer::Parts::forget(const HttpConnection& connection) {
  connections.remove_if([&](const auto& each) { return each.get() == &connection; });
}

void HttpServer::Parts::end() {
  boost::system::error_code ignored;
  acceptor.close(ignored);
  again.cancel();
  for (const auto& connection : std::list(connections)) connection->close();
}

HttpServer::HttpServer(const std::string& address, int port, Handlers handlers)
    : parts_(std::make_unique<Parts>(std::move(handlers))) {
  parts_->bind(address, port);
}

HttpServer::~HttpServer() = default;

int HttpServer::port() const { return parts_->acceptor.local_endpoint().port(); }

void HttpServer::serve() {
  net::post(parts_->context, [this] {
    if (parts_->acceptor.is_open()) parts_->accept();
  });
  parts_->context.run();
  parts_->answering.join();
  parts_->streaming.join();
}

void HttpServer::stop() {
  net::post(parts_->context, [this] { parts_->end(); });
}

}  // namespace urnic::web
