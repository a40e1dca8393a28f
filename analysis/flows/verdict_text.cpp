#include "analysis/flows/verdict_text.hpp"

#include <fmt/format.h>

#include "analysis/dissection/frame_text.hpp"
#include "analysis/dissection/selective_ack_ranges.hpp"

namespace urnic::analysis {
namespace {

class Phrases {
 public:
  void add(std::string_view phrase) {
    if (phrase.empty()) return;
    if (!text_.empty()) text_ += "; ";
    text_ += phrase;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string ordinal(unsigned number) {
  const bool teen = number / 10 % 10 == 1;
  const char* const ending = teen               ? "th"
                             : number % 10 == 1 ? "st"
                             : number % 10 == 2 ? "nd"
                             : number % 10 == 3 ? "rd"
                                                : "th";
  return fmt::format("{}{}", number, ending);
}

std::string order_text(const Packet& packet) {
  switch (packet.order) {
    case Order::unknown:
    case Order::next:
      return {};
    case Order::after_gap:
      return packet.gap == 1 ? "a PSN is missing before it"
                             : fmt::format("{} PSNs are missing before it", packet.gap);
    case Order::late:
      return "late: was overtaken";
    case Order::retransmission: {
      std::string text = packet.of == 0 ? std::string("retransmission of a packet that is not in the capture")
                                        : fmt::format("retransmission of {}", packet.of);
      if (packet.transmission > 2) text += fmt::format(", sent the {} time", ordinal(packet.transmission));
      return text;
    }
    case Order::copy:
      return fmt::format("the network's copy of {}", packet.of);
    case Order::repeated:
      return "repeats an answer";
  }
  return {};
}

std::string arrival_text(const Packet& packet) {
  if (packet.arrival == Arrival::early) return "arrives early";
  if (packet.arrival == Arrival::again) return "arrives again";
  return {};
}

std::string acknowledged_text(const Packet& packet) {
  if (packet.acks == 0 || packet.acks_first == 0) return {};
  if (packet.acks_first == packet.acks_last) return fmt::format("acknowledges {}", packet.acks_first);
  return fmt::format("acknowledges {} to {}, {} PSNs", packet.acks_first, packet.acks_last, packet.acks);
}

std::string named(const Packet& packet) {
  return packet.answers == 0 ? fmt::format("PSN {}", packet.psn.value())
                             : fmt::format("PSN {}, frame {}", packet.psn.value(), packet.answers);
}

std::string answer_text(const Packet& packet) {
  switch (packet.answer) {
    case Answer::none:
    case Answer::acknowledge:
      return {};
    case Answer::read_response:
      return packet.answers == 0 ? std::string{} : fmt::format("answers READ {}", packet.answers);
    case Answer::atomic_response:
      return packet.answers == 0 ? std::string{} : fmt::format("answers atomic {}", packet.answers);
    case Answer::sequence_nak:
      return fmt::format("asks for {}", named(packet));
    case Answer::rnr_nak:
      return fmt::format("no receive for {}", named(packet));
    case Answer::error_nak:
      return fmt::format("refuses {}", named(packet));
    case Answer::selective: {
      const wire::SelectiveAckEth header{.latest = packet.latest, .earlier = packet.earlier};
      const auto ranges = selective_ack_ranges(packet.psn, header);
      std::string text = fmt::format("asks for {}", named(packet));
      if (!ranges.empty()) text += fmt::format(", has {}", ranges_text(ranges));
      return text;
    }
  }
  return {};
}

std::string fate_text(const FlowTracker& tracker, const Packet& packet) {
  switch (packet.fate) {
    case Fate::unknown:
    case Fate::arrived:
    case Fate::acknowledged:
      return {};
    case Fate::dropped:
      return packet.has_comment ? fmt::format("lost: {}", tracker.comment(packet.number))
                                : std::string("lost");
    case Fate::damaged:
      return "lost: damaged, so the receiver drops it";
    case Fate::vanished:
      return "lost: it never arrives";
    case Fate::presumed_lost:
      return fmt::format("lost, as {} shows", packet.fate_record);
    case Fate::unanswered:
      return fmt::format("it or its answer is lost: sent again as {}", packet.fate_record);
    case Fate::refused:
      return fmt::format("refused by {}", packet.fate_record);
  }
  return {};
}

bool is_nak(const Packet& packet) {
  return packet.answer == Answer::sequence_nak || packet.answer == Answer::rnr_nak ||
         packet.answer == Answer::error_nak || packet.answer == Answer::selective;
}

std::string text_of(const FlowTracker& tracker, const Packet& packet, bool with_ordinary) {
  Phrases phrases;
  if (packet.injected) phrases.add("made by a fault");
  phrases.add(order_text(packet));
  const bool ends_message = packet.message_bytes != 0 && packet.order != Order::copy;
  if (with_ordinary && ends_message)
    phrases.add(fmt::format("ends message {}: {} bytes", packet.message, packet.message_bytes));
  if (with_ordinary || is_nak(packet)) phrases.add(answer_text(packet));
  if (with_ordinary) phrases.add(acknowledged_text(packet));
  if (packet.is_repeated_ack) phrases.add("acknowledges nothing new");
  const bool has_unknown_peer = packet.role == Role::response && packet.flow != kNoFlow &&
                                tracker.flows()[packet.flow].opposite == kNoFlow;
  if (has_unknown_peer) phrases.add("of an unknown connection");
  if (packet.congestion) phrases.add("marked: congestion experienced");
  if (packet.role == Role::notification && packet.answers != 0)
    phrases.add(fmt::format("answers the mark of {}", packet.answers));
  phrases.add(arrival_text(packet));
  phrases.add(fate_text(tracker, packet));
  const bool comment_is_told = packet.fate == Fate::dropped || packet.injected;
  if (packet.has_comment && !comment_is_told) phrases.add(tracker.comment(packet.number));
  return phrases.text();
}

}  // namespace

const std::vector<std::string_view>& all_verdict_words() {
  static const std::vector<std::string_view> kWords{
      "new", "gap", "retransmission", "duplicate", "out-of-order", "lost", "unanswered", "refused", "ack",
      "nak", "rnr", "sack",           "response",  "congestion",   "fault"};
  return kWords;
}

std::vector<std::string_view> verdict_words(const Packet& packet) {
  std::vector<std::string_view> words;
  const auto add = [&words](bool is_so, std::string_view word) {
    if (is_so) words.push_back(word);
  };
  const Answer answer = packet.answer;
  add(packet.order == Order::next || packet.order == Order::after_gap, "new");
  add(packet.order == Order::after_gap, "gap");
  add(packet.order == Order::retransmission, "retransmission");
  add(packet.order == Order::copy || packet.order == Order::repeated || packet.arrival == Arrival::again,
      "duplicate");
  add(packet.order == Order::late || packet.arrival == Arrival::early, "out-of-order");
  add(is_lost(packet.fate), "lost");
  add(packet.fate == Fate::unanswered, "unanswered");
  add(packet.fate == Fate::refused, "refused");
  add(answer == Answer::acknowledge, "ack");
  add(answer == Answer::sequence_nak || answer == Answer::error_nak || answer == Answer::selective, "nak");
  add(answer == Answer::rnr_nak, "rnr");
  add(answer == Answer::selective, "sack");
  add(answer == Answer::read_response || answer == Answer::atomic_response, "response");
  add(packet.congestion || packet.role == Role::notification, "congestion");
  add(packet.injected || packet.has_comment, "fault");
  return words;
}

std::string verdict_text(const FlowTracker& tracker, const Packet& packet) {
  return text_of(tracker, packet, true);
}

std::string remark_text(const FlowTracker& tracker, const Packet& packet) {
  return text_of(tracker, packet, false);
}

std::string short_text(const Packet& packet) {
  if (packet.management.management_class != wire::mad::ManagementClass{}) return mad_name(packet.management);
  std::string_view name = wire::name(packet.opcode);
  // The connection is of one service.
  for (const std::string_view service : {"RC ", "UC ", "XRC "})
    if (name.starts_with(service)) name.remove_prefix(service.size());
  if (name == "Acknowledge")
    name = packet.answer == Answer::rnr_nak ? "RNR NAK" : is_nak(packet) ? "NAK" : "ACK";
  std::string text = fmt::format("{} {}", name, packet.psn.value());
  if (is_nak(packet) && packet.answer != Answer::selective && packet.answer != Answer::rnr_nak)
    text += syndrome_text(packet.syndrome).substr(std::string_view("NAK").size());
  return text;
}

const char* describe(Pairing pairing) {
  switch (pairing) {
    case Pairing::unknown:
      return "unknown";
    case Pairing::by_traffic:
      return "by PSNs that answers fit";
    case Pairing::by_cm:
      return "by REQ and REP of the connection manager";
    case Pairing::by_header:
      return "by source QPs in datagrams";
  }
  return "unknown";
}

}  // namespace urnic::analysis
