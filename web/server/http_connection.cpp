#include "web/server/http_connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/read.hpp>
#include <cstdint>
#include <exception>
#include <future>
#include <limits>
#include <string_view>
#include <utility>

namespace urnic::web {
namespace {

namespace net = boost::asio;
namespace http = boost::beast::http;

// Beast's texts are of a class of Boost's own.
template <typename Text>
std::string text_of(Text text) {
  return {text.data(), text.size()};
}

HttpRequest request_in(const http::request_header<>& header) {
  const std::string target = text_of(header.target());
  const std::size_t question = target.find('?');
  HttpRequest request;
  request.method = text_of(header.method_string());
  request.path = target.substr(0, question);
  if (question != std::string::npos) request.query = target.substr(question + 1);
  request.host = text_of(header[http::field::host]);
  request.origin = text_of(header[http::field::origin]);
  request.authorization = text_of(header[http::field::authorization]);
  request.has_range = header.find(http::field::range) != header.end();
  request.has_content_encoding = header.find(http::field::content_encoding) != header.end();
  return request;
}

template <typename Message>
void put_head(Message& message, const HttpAnswer& made) {
  message.result(static_cast<unsigned>(made.status));
  for (const auto& [name, value] : made.headers) message.set(name, value);
}

}  // namespace

HttpConnection::HttpConnection(net::ip::tcp::socket socket, const Surroundings& surroundings)
    : surroundings_(surroundings), stream_(std::move(socket)), buffer_(http_limits::kHeader) {
  Error ignored;
  stream_.socket().set_option(net::ip::tcp::no_delay(true), ignored);
  if (const auto peer = stream_.socket().remote_endpoint(ignored); !ignored) client_ = peer.address();
}

void HttpConnection::close() {
  if (std::exchange(closed_, true)) return;
  stream_.close();
  surroundings_.ended(*this);
}

void HttpConnection::read_request() {
  trusted_ = false;
  request_ = {};
  parser_.emplace();
  parser_->header_limit(http_limits::kHeader);
  parser_->body_limit(
      std::numeric_limits<std::uint64_t>::max());  // its length is looked at when the rights are known
  stream_.expires_after(http_limits::kToAsk);
  http::async_read_header(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](const Error& error, std::size_t) { self->header_read(error); });
}

void HttpConnection::header_read(const Error& error) {
  if (closed_) return;
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return refuse(431, "The header is too long.");
  if (error == http::error::end_of_stream || error == http::error::partial_message) return close();
  if (error.category() == make_error_code(http::error::bad_method).category())
    return refuse(400, "This is no HTTP.");
  if (error) return close();  // too slow, too
  request_ = request_in(parser_->get());
  Admission admission = surroundings_.handlers.admit(request_);
  if (!admission.admitted) return refuse(std::move(admission.refusal));
  trusted_ = admission.trusted;
  if (parser_->chunked()) return refuse(411, "Send the body as a whole, with its length.");
  if (parser_->content_length().value_or(0) == 0) return answer();
  if (!trusted_ || request_.method != "POST") return refuse(400, "This request has no body.");
  if (*parser_->content_length() > http_limits::kBody) return refuse(413, "The body is too long.");
  read_body();
}

void HttpConnection::read_body() {
  parser_->body_limit(http_limits::kBody);
  stream_.expires_after(http_limits::kToSend);
  http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](const Error& error, std::size_t) {
    if (self->closed_) return;
    if (error) return self->close();
    self->request_.body = std::move(self->parser_->get().body());
    self->answer();
  });
}

void HttpConnection::answer() {
  stream_.expires_never();
  net::post(surroundings_.answering,
            [self = shared_from_this(), guard = net::make_work_guard(stream_.get_executor())] {
              HttpAnswer made = self->surroundings_.handlers.answer(self->request_);
              net::post(self->stream_.get_executor(), [self, made = std::move(made)]() mutable {
                if (!self->closed_) self->answer_with(std::move(made));
              });
            });
}

void HttpConnection::answer_with(HttpAnswer made) {
  if (made.next_part && parser_->get().version() < 11) return refuse(505, "Events need HTTP/1.1.");
  if (made.next_part) return open_stream(std::move(made));
  write(std::move(made), parser_->keep_alive());
}

void HttpConnection::refuse(HttpAnswer refusal) { write(std::move(refusal), false); }

void HttpConnection::write(HttpAnswer made, bool keep) {
  answer_ = Answer();
  answer_.version(parser_->get().version());
  put_head(answer_, made);
  answer_.keep_alive(keep);
  answer_.content_length(made.content.size());
  // The same header, and nothing behind it (RFC 9110, section 9.3.2).
  if (request_.method != "HEAD") answer_.body() = std::move(made.content);
  stream_.expires_after(trusted_ ? http_limits::kToTake : http_limits::kStrangerToTake);
  http::async_write(stream_, answer_, [self = shared_from_this(), keep](const Error& error, std::size_t) {
    if (self->closed_) return;
    if (error && error != http::error::end_of_stream) return self->close();
    if (keep && !error) return self->read_request();
    Error ignored;
    self->stream_.socket().shutdown(net::ip::tcp::socket::shutdown_send, ignored);
    self->stream_.expires_after(http_limits::kToDrain);
    self->drain();
  });
}

// A connection that closes with bytes unread is reset, and the client may lose the answer (RFC 9112,
// section 9.6).
void HttpConnection::drain() {
  stream_.async_read_some(net::buffer(dropped_),
                          [self = shared_from_this()](const Error& error, std::size_t size) {
                            if (self->closed_) return;
                            self->drained_ += size;
                            if (error || self->drained_ >= http_limits::kDrained) return self->close();
                            self->drain();
                          });
}

void HttpConnection::open_stream(HttpAnswer made) {
  if (surroundings_.streams >= http_limits::kStreams) return refuse(503, "Too many pages are open.");
  ++surroundings_.streams;
  events_header_ = EventsHeader();
  events_header_.version(11);
  put_head(events_header_, made);
  events_header_.chunked(true);
  events_serializer_.emplace(events_header_);
  stream_.expires_after(http_limits::kToTakeEvents);
  http::async_write_header(
      stream_, *events_serializer_,
      [self = shared_from_this(), next = std::move(made.next_part)](const Error& error, std::size_t) {
        if (error || self->closed_) {
          --self->surroundings_.streams;
          return self->close();
        }
        net::post(self->surroundings_.streaming,
                  [self, next, guard = net::make_work_guard(self->stream_.get_executor())] {
                    self->stream_parts(next);
                    net::post(self->stream_.get_executor(), [self] {
                      --self->surroundings_.streams;
                      self->close();
                    });
                  });
      });
}

void HttpConnection::stream_parts(const std::function<std::string()>& next_part) {
  try {
    for (std::string text = next_part(); !text.empty(); text = next_part()) {
      if (!stream_part(text, false)) return;
    }
    stream_part("", true);
  } catch (const std::exception&) {
    // Without the last chunk the page sees that something is missing, and opens the stream anew.
  }
}

bool HttpConnection::stream_part(const std::string& text, bool last) {
  std::promise<bool> written;
  std::future<bool> result = written.get_future();
  net::post(stream_.get_executor(), [&] {
    if (closed_) return written.set_value(false);
    stream_.expires_after(http_limits::kToTakeEvents);
    const auto done = [self = shared_from_this(), &written](const Error& error, std::size_t) {
      written.set_value(!error);
    };
    if (last) {
      net::async_write(stream_, http::make_chunk_last(), done);
    } else {
      net::async_write(stream_, http::make_chunk(net::buffer(text)), done);
    }
  });
  return result.get();
}

}  // namespace urnic::web
