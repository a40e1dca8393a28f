#include "tests/apps/programs/soak_lane.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>

#include "tests/apps/programs/require.hpp"

namespace urnic::apps {
namespace {

constexpr std::size_t kGuard = 64;  // background on both sides of a message
constexpr std::size_t kWordSpace =
    64;  // at the beginning of an area; the word that atomics change is its first
constexpr std::size_t kReceiveSurplus = 32;  // by so much a receive is longer than what comes

std::uint64_t word_at(const Memory& area, std::size_t offset) {
  std::uint64_t word = 0;
  std::memcpy(&word, area.data() + offset, sizeof word);
  return word;
}

std::uint32_t immediate_of(std::uint64_t chance) { return htonl(static_cast<std::uint32_t>(chance >> 16)); }

// Always in words of 8 bytes, and with room for guards and for data that is not aligned.
std::size_t space_for(const SoakMessage& message) { return (message.length + 2 * kGuard + 64 + 7) / 8 * 8; }

}  // namespace

SoakLane::SoakLane(const SoakLaneSettings& settings, const SoakEnd& requester, const SoakEnd& responder)
    : settings_(settings),
      requester_(requester),
      responder_(responder),
      background_(static_cast<std::byte>(0xA0 + settings.lane % 0x40)),
      places_(kWordSpace, area_size(settings.longest)) {
  for (const Memory* area : {&requester_.area, &responder_.area}) {
    std::fill_n(area->data(), area->size(), background_);
  }
  word_ = word_at(responder_.area, 0);
}

// ---------------------------------------------------------------- posting

void SoakLane::post_more(bool goes_on) {
  if (owed_receive_) {
    post_receive(find(*owed_receive_));
    owed_receive_.reset();
  }
  if (requester_.window.state == SoakWindow::State::unbound && goes_on) post_bind();
  while (goes_on && under_way_.size() < kWindow && !owed_receive_) {
    if (!waiting_) waiting_ = soak_message(settings_.seed, settings_.lane, drawn_++, settings_.longest);
    if (!post_drawn(*waiting_)) break;
    waiting_.reset();
  }
  // What was not asked to say when it is done must not be the last.
  if (!under_way_.empty() && !under_way_.back().message.is_signaled) post_flush();
}

bool SoakLane::post_drawn(const SoakMessage& message) {
  const std::size_t space = space_for(message);
  const auto place = places_.take(space);
  if (!place) return false;
  UnderWay next{posted_, message};
  next.place = *place;
  next.space = space;
  if (is_atomic(message.operation)) next.message.misalignment = 0;
  if (message.operation == SoakOperation::send_with_invalidate) {
    if (responder_.window.state == SoakWindow::State::bound) {
      responder_.window.state = SoakWindow::State::doomed;
      next.invalidates = responder_.window.rkey();
    } else {
      next.message.operation = SoakOperation::send;
    }
  }
  next.data = *place + kGuard + next.message.misalignment;
  post(next);
  return true;
}

void SoakLane::post_bind() {
  UnderWay next{posted_, {}};
  next.message.operation = SoakOperation::bind_window;
  post(next);
}

void SoakLane::post_flush() { post({posted_, {}}); }

void SoakLane::post(UnderWay next) {
  const SoakMessage& message = next.message;
  const bool is_bind = message.operation == SoakOperation::bind_window;
  ibv_send_wr request = is_bind ? requester_.window.begin_bind() : ibv_send_wr{};
  request.wr_id = next.number;
  request.opcode = request_opcode(message.operation);
  if (message.is_signaled) request.send_flags |= IBV_SEND_SIGNALED;
  if (message.is_inline) request.send_flags |= IBV_SEND_INLINE;
  ibv_sge segment = requester_.area.segment(next.data, message.length);
  if (message.length > 0) {
    request.sg_list = &segment;
    request.num_sge = 1;
    prepare_memory(next);
  }
  if (has_immediate(message.operation)) request.imm_data = immediate_of(message.chance);
  if (message.operation == SoakOperation::send_with_invalidate) request.invalidate_rkey = next.invalidates;
  if (is_atomic(message.operation)) {
    prepare_atomic(next, request);
  } else if (!is_bind && !is_send(message.operation)) {
    prepare_write(next, request);
  }
  if (takes_receive(message.operation)) {
    awaited_receives_.push_back(next.number);
    if (message.late_receive) {
      owed_receive_ = next.number;
    } else {
      post_receive(next);
    }
  }
  if (under_way_.empty()) progress_ = SoakClock::now();
  requester_.endpoint.post(request);
  under_way_.push_back(next);
  ++posted_;
}

// The data's source gets its pattern; where it goes there must be background only.
void SoakLane::prepare_memory(const UnderWay& message) {
  const bool is_fetch = fetches(message.message.operation);
  const Memory& source = is_fetch ? responder_.area : requester_.area;
  check_background(target_of(message), message.place, message.place + message.space,
                   "where the next message goes");
  if (!is_atomic(message.message.operation)) {
    fill(source.bytes(message.data, message.message.length), message.message.chance);
  }
}

void SoakLane::prepare_atomic(UnderWay& message, ibv_send_wr& request) {
  const std::uint64_t operand = soak_chance(message.message.chance, 0, 0);
  message.old_word = word_;
  request.wr.atomic.remote_addr = responder_.area.address();
  request.wr.atomic.rkey = responder_.area.rkey();
  if (message.message.operation == SoakOperation::fetch_add) {
    request.wr.atomic.compare_add = operand;
    word_ += operand;
    return;
  }
  // Half of them find what they look for.
  const bool is_equal = operand % 2 == 0;
  request.wr.atomic.compare_add = is_equal ? word_ : ~word_;
  request.wr.atomic.swap = operand;
  if (is_equal) word_ = operand;
}

void SoakLane::prepare_write(const UnderWay& message, ibv_send_wr& request) const {
  request.wr.rdma.remote_addr = responder_.area.address(message.data);
  request.wr.rdma.rkey = responder_.area.rkey();
  const bool is_write = message.message.operation == SoakOperation::write ||
                        message.message.operation == SoakOperation::write_with_immediate;
  if (is_write && message.message.through_window && responder_.window.state == SoakWindow::State::bound) {
    request.wr.rdma.rkey = responder_.window.rkey();
  }
}

void SoakLane::post_receive(const UnderWay& message) {
  // A write with immediate takes a receive and leaves its memory alone.
  std::vector<ibv_sge> segments;
  if (is_send(message.message.operation)) {
    segments.push_back(responder_.area.segment(message.data, message.message.length + kReceiveSurplus));
  }
  responder_.endpoint.post_receive(message.number, std::move(segments));
}

// ---------------------------------------------------------------- completions

void SoakLane::sent(const ibv_wc& completion) {
  const auto expected = std::find_if(under_way_.begin(), under_way_.end(), [](const UnderWay& message) {
    return !message.is_sent && message.message.is_signaled;
  });
  require(expected != under_way_.end(),
          "{}: a completion with wr_id {} came although none is awaited: a doubled one", describe(),
          completion.wr_id);
  expect(completion.status == IBV_WC_SUCCESS, *expected,
         "it ended with: {} (vendor error {}, wr_id {}), {} ms after the lane's last completion",
         ibv_wc_status_str(completion.status), completion.vendor_err, completion.wr_id,
         std::chrono::duration_cast<std::chrono::milliseconds>(SoakClock::now() - progress_).count());
  expect(completion.wr_id == expected->number, *expected,
         "instead of its completion that of wr_id {} came: lost, doubled or out of order", completion.wr_id);
  expect(completion.opcode == completion_opcode(expected->message.operation), *expected,
         "its completion has the opcode {}", static_cast<int>(completion.opcode));
  for (auto message = under_way_.begin(); message <= expected; ++message) {
    message->is_sent = true;
    if (!takes_receive(message->message.operation)) check_data(*message);
  }
  if (expected->message.operation == SoakOperation::bind_window) {
    requester_.window.end_bind();
  }
  retire();
}

void SoakLane::received(const ibv_wc& completion) {
  require(!awaited_receives_.empty(),
          "{}: a receive completed with wr_id {} although none is awaited: a doubled one", describe(),
          completion.wr_id);
  UnderWay& message = find(awaited_receives_.front());
  check_received(message, completion);
  awaited_receives_.pop_front();
  message.is_received = true;
  // Writes that were posted before it are there when it is (IBTA 9.5).
  for (UnderWay& earlier : under_way_) {
    if (earlier.number >= message.number) break;
    if (earlier.message.operation == SoakOperation::write) check_data(earlier);
  }
  check_data(message);
  if (message.invalidates != 0) responder_.window.state = SoakWindow::State::unbound;
  retire();
}

void SoakLane::check_received(const UnderWay& message, const ibv_wc& completion) const {
  const SoakOperation operation = message.message.operation;
  expect(completion.status == IBV_WC_SUCCESS, message, "its receive ended with: {} (wr_id {})",
         ibv_wc_status_str(completion.status), completion.wr_id);
  expect(completion.wr_id == message.number, message,
         "instead of its receive that with wr_id {} completed: lost, doubled or out of order",
         completion.wr_id);
  expect(completion.byte_len == message.message.length, message, "its receive has {} bytes",
         completion.byte_len);
  expect(completion.opcode == (is_send(operation) ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM), message,
         "its receive has the opcode {}", static_cast<int>(completion.opcode));
  const bool has_value = (completion.wc_flags & IBV_WC_WITH_IMM) != 0;
  expect(has_value == has_immediate(operation), message, "its receive has the flags {}", completion.wc_flags);
  expect(!has_value || completion.imm_data == immediate_of(message.message.chance), message,
         "its receive has the immediate value 0x{:08x}", ntohl(completion.imm_data));
  const bool invalidated = (completion.wc_flags & IBV_WC_WITH_INV) != 0;
  expect(invalidated == (message.invalidates != 0), message, "its receive has the flags {}",
         completion.wc_flags);
  expect(!invalidated || completion.invalidated_rkey == message.invalidates, message,
         "its receive says that 0x{:08x} was invalidated", completion.invalidated_rkey);
}

// ---------------------------------------------------------------- memory

const Memory& SoakLane::target_of(const UnderWay& message) const {
  return fetches(message.message.operation) ? requester_.area : responder_.area;
}

void SoakLane::check_background(const Memory& area, std::size_t begin, std::size_t end,
                                const char* where) const {
  const auto bytes = area.bytes(begin, end - begin);
  const auto wrong =
      std::find_if(bytes.begin(), bytes.end(), [this](std::byte byte) { return byte != background_; });
  require(wrong == bytes.end(), "{}: {}, the byte at {} of the area has been changed to 0x{:02x}", describe(),
          where, begin + static_cast<std::size_t>(wrong - bytes.begin()),
          wrong == bytes.end() ? 0U : static_cast<unsigned>(*wrong));
}

void SoakLane::check_data(UnderWay& message) {
  if (message.is_checked || message.space == 0) return;
  message.is_checked = true;
  const Memory& target = target_of(message);
  const std::size_t end = message.data + message.message.length;
  check_background(target, message.place, message.data, "before the data of a message");
  check_background(target, end, message.place + message.space, "behind the data of a message");
  if (is_atomic(message.message.operation)) {
    const std::uint64_t found = word_at(target, message.data);
    expect(found == message.old_word, message, "it found 0x{:016x} instead of 0x{:016x}", found,
           message.old_word);
    return;
  }
  const auto wrong = difference(target.bytes(message.data, message.message.length), message.message.chance);
  expect(!wrong, message, "{}", wrong.value_or(""));
}

// Frees what is done at both ends, in order.
void SoakLane::retire() {
  progress_ = SoakClock::now();
  while (!under_way_.empty()) {
    const UnderWay& message = under_way_.front();
    const SoakMessage& what = message.message;
    if (!message.is_sent || (takes_receive(what.operation) && !message.is_received)) return;
    ++totals_.messages[static_cast<std::size_t>(what.operation)];
    totals_.bytes += what.length;
    const bool has_place = message.space > 0;
    for (const Memory* area : {&requester_.area, &responder_.area}) {
      if (has_place) std::fill_n(area->data() + message.data, what.length, background_);
    }
    under_way_.pop_front();
    if (!has_place) continue;
    const auto next = std::find_if(under_way_.begin(), under_way_.end(),
                                   [](const UnderWay& other) { return other.space > 0; });
    places_.free(next == under_way_.end() ? std::nullopt : std::optional(next->place));
  }
}

void SoakLane::check_rest() const {
  require(under_way_.empty() && awaited_receives_.empty(), "{}: something is still under way", describe());
  check_background(requester_.area, 0, requester_.area.size(), "after all messages, at the requester");
  check_background(responder_.area, sizeof word_, responder_.area.size(),
                   "after all messages, at the responder");
  const std::uint64_t word = word_at(responder_.area, 0);
  require(word == word_, "{}: after all atomics the word is 0x{:016x} instead of 0x{:016x}", describe(), word,
          word_);
}

// ---------------------------------------------------------------- reports

SoakLane::UnderWay& SoakLane::find(std::uint64_t number) {
  const auto found = std::find_if(under_way_.begin(), under_way_.end(),
                                  [&](const UnderWay& message) { return message.number == number; });
  require(found != under_way_.end(), "{}: message {} is no longer under way", describe(), number);
  return *found;
}

std::string SoakLane::describe() const {
  const Endpoint& from = requester_.endpoint;
  const Endpoint& to = responder_.endpoint;
  return fmt::format("lane {}, {} QP 0x{:06x} to {} QP 0x{:06x}, MTU {}", settings_.lane,
                     from.device().name(), from.qp()->qp_num, to.device().name(), to.qp()->qp_num,
                     128 << from.options().mtu);
}

std::string SoakLane::describe(const UnderWay& message) const {
  return fmt::format("message {}, a {} of {} bytes{}", message.number, to_string(message.message.operation),
                     message.message.length, message.message.is_signaled ? "" : ", not signaled");
}

template <typename... Arguments>
void SoakLane::expect(bool condition, const UnderWay& message, fmt::format_string<Arguments...> text,
                      Arguments&&... arguments) const {
  if (condition) return;
  throw std::runtime_error(fmt::format("{}: {}: {}", describe(), describe(message),
                                       fmt::format(text, std::forward<Arguments>(arguments)...)));
}

void SoakLane::check_progress(SoakClock::time_point now, std::chrono::seconds limit) const {
  if (under_way_.empty() || now - progress_ < limit) return;
  const UnderWay& oldest = under_way_.front();
  throw std::runtime_error(fmt::format(
      "{}: stuck: nothing has completed for {} seconds. The oldest of {} under way is {}; it {} at the "
      "requester (state {}) and {} at the responder (state {}); {} receives are awaited",
      describe(), limit.count(), under_way_.size(), describe(oldest),
      oldest.is_sent ? "has completed" : "has not completed", static_cast<int>(requester_.endpoint.state()),
      !takes_receive(oldest.message.operation) ? "takes no receive"
      : oldest.is_received                     ? "has been received"
                                               : "has not been received",
      static_cast<int>(responder_.endpoint.state()), awaited_receives_.size()));
}

}  // namespace urnic::apps
