// One direction of a connection in a soak: messages from a requester to a responder in the same program, so
// that both ends of each can be looked at.
//
// The lane has an area of memory at both ends. A message has a place there, the same in both. Around and
// between the messages, and where there was one, lies a background byte: what is written beside a message,
// or late, is found there.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <optional>
#include <string>

#include "tests/apps/programs/endpoint.hpp"
#include "tests/apps/programs/soak_message.hpp"
#include "tests/apps/programs/soak_places.hpp"
#include "tests/apps/programs/soak_window.hpp"

namespace urnic::apps {

using SoakClock = std::chrono::steady_clock;

struct SoakTotals {
  std::array<std::uint64_t, kSoakOperations> messages{};
  std::uint64_t bytes = 0;
};

// One end of a connection as a lane sees it. They outlive the lane.
struct SoakEnd {
  Endpoint& endpoint;
  const Memory& area;
  SoakWindow& window;  // of that end's memory that it gives to its peer
};

struct SoakLaneSettings {
  std::uint64_t seed;
  std::uint64_t lane;
  std::size_t longest;
};

class SoakLane {
 public:
  // Messages under way. A bind and an empty write may come on top of them.
  static constexpr std::size_t kWindow = 16;
  static constexpr std::uint32_t kSendRequests = kWindow + 4;
  static constexpr std::uint32_t kReceives = kWindow + 4;
  // Memory for the longest message, others beside it, and the word of the atomics.
  static std::size_t area_size(std::size_t longest) { return longest + longest / 4 + 8192; }

  SoakLane(const SoakLaneSettings& settings, const SoakEnd& requester, const SoakEnd& responder);

  // Posts what fits: new messages only if `goes_on`. Throws std::runtime_error, as all that follows, when
  // something is wrong; the text names the lane's QPs and what they were doing.
  void post_more(bool goes_on);
  // A completion at the requester, and of a receive at the responder.
  void sent(const ibv_wc& completion);
  void received(const ibv_wc& completion);

  bool is_idle() const { return under_way_.empty(); }
  // When something is under way and nothing of it has ended for so long.
  void check_progress(SoakClock::time_point now, std::chrono::seconds limit) const;
  // What has not ended is waited for from `now` on.
  void wait_anew(SoakClock::time_point now) { progress_ = now; }
  // When all has ended: no byte has changed that should not have.
  void check_rest() const;

  const SoakTotals& totals() const { return totals_; }

 private:
  struct UnderWay {
    std::uint64_t number;  // among all that the lane has posted: its wr_id
    SoakMessage message;
    std::size_t place = 0;  // of `space` bytes in both areas; 0 if it needs none
    std::size_t space = 0;
    std::size_t data = 0;
    std::uint64_t old_word = 0;  // what an atomic must find
    std::uint32_t invalidates = 0;
    bool is_sent = false;
    bool is_received = false;
    bool is_checked = false;
  };

  bool post_drawn(const SoakMessage& message);
  void post_bind();
  void post_flush();
  void post(UnderWay message);
  void post_receive(const UnderWay& message);
  void prepare_memory(const UnderWay& message);
  void prepare_atomic(UnderWay& message, ibv_send_wr& request);
  void prepare_write(const UnderWay& message, ibv_send_wr& request) const;

  void check_received(const UnderWay& message, const ibv_wc& completion) const;
  void check_data(UnderWay& message);
  void check_background(const Memory& area, std::size_t begin, std::size_t end, const char* where) const;
  void retire();
  UnderWay& find(std::uint64_t number);
  const Memory& target_of(const UnderWay& message) const;

  std::string describe() const;
  std::string describe(const UnderWay& message) const;
  template <typename... Arguments>
  void expect(bool condition, const UnderWay& message, fmt::format_string<Arguments...> text,
              Arguments&&... arguments) const;

  const SoakLaneSettings settings_;
  const SoakEnd requester_;
  const SoakEnd responder_;
  const std::byte background_;
  SoakPlaces places_;
  std::deque<UnderWay> under_way_;              // as posted
  std::deque<std::uint64_t> awaited_receives_;  // numbers of the messages, as posted
  std::optional<std::uint64_t> owed_receive_;   // of a message whose receive is posted late
  std::optional<SoakMessage> waiting_;          // drawn, but there is no room yet
  std::uint64_t drawn_ = 0;
  std::uint64_t posted_ = 0;
  std::uint64_t word_ = 0;  // what the responder's word is once all that is posted is done
  SoakClock::time_point progress_ = SoakClock::now();
  SoakTotals totals_;
};

}  // namespace urnic::apps
