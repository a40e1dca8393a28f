#include "tools/urnic/trace_lines.hpp"

#include <fmt/format.h>

#include "analysis/dissection/frame_text.hpp"
#include "analysis/dissection/port_address.hpp"
#include "analysis/flows/verdict_text.hpp"
#include "json/json.hpp"

namespace urnic::cli {
namespace {

using analysis::Packet;

const char* colour_of(const Packet& packet) {
  if (analysis::is_lost(packet.fate)) return "\x1b[31m";
  if (packet.order == analysis::Order::retransmission) return "\x1b[33m";
  switch (packet.answer) {
    case analysis::Answer::sequence_nak:
    case analysis::Answer::rnr_nak:
    case analysis::Answer::error_nak:
    case analysis::Answer::selective:
      return "\x1b[35m";
    case analysis::Answer::none:
    case analysis::Answer::acknowledge:
    case analysis::Answer::read_response:
    case analysis::Answer::atomic_response:
      break;
  }
  return "";
}

nlohmann::json number_or_null(analysis::FrameNumber number) {
  return number == 0 ? nlohmann::json() : nlohmann::json(number);
}

nlohmann::json queue_pairs_of(const analysis::FlowTracker& tracker, const Packet& packet) {
  if (packet.flow == analysis::kNoFlow) return {{"source", nullptr}, {"destination", nullptr}};
  const analysis::Flow& flow = tracker.flows()[packet.flow];
  const bool knows_source = flow.pairing != analysis::Pairing::unknown;
  return {{"source", knows_source ? nlohmann::json(flow.source_qp.value) : nlohmann::json()},
          {"destination", flow.destination_qp.value}};
}

nlohmann::json acknowledged_by(const Packet& packet) {
  if (packet.acks == 0) return nullptr;
  return {{"first", number_or_null(packet.acks_first)},
          {"last", number_or_null(packet.acks_last)},
          {"psns", packet.acks}};
}

}  // namespace

void TraceLines::add(const analysis::CapturedPacket& record, const analysis::Dissection& dissection,
                     analysis::PacketId id) {
  if (tracker_.packets()[id].number != record.number || !filter_.takes(record, dissection)) return;
  const wire::NetworkHeaders& network = dissection.network();
  held_.push_back({id, address_text(analysis::source_of(network)),
                   address_text(analysis::destination_of(network)), analysis::summary(dissection)});
}

void TraceLines::print_settled() {
  for (; !held_.empty() && !is_full() && !must_wait(held_.front()); held_.pop_front()) print(held_.front());
}

bool TraceLines::must_wait(const Held& held) const {
  const Packet& packet = tracker_.packets()[held.id];
  if (!style_.wait_for_answers && tracker_.is_settled(packet)) return false;
  return tracker_.packets().end() - held.id <= style_.hold &&
         tracker_.last_time() - packet.sent <= style_.hold_nanoseconds;
}

void TraceLines::print_all() {
  for (; !held_.empty() && !is_full(); held_.pop_front()) print(held_.front());
}

void TraceLines::print(const Held& held) {
  const Packet& packet = tracker_.packets()[held.id];
  if (!filter_.takes(tracker_, packet)) return;
  ++printed_;
  if (style_.progress != nullptr) style_.progress->hide();
  style_.json ? print_json(held, packet) : print_line(held, packet);
}

void TraceLines::print_line(const Held& held, const Packet& packet) const {
  const std::int64_t since = packet.sent - tracker_.first_time();
  const std::string verdict = analysis::verdict_text(tracker_, packet);
  const char* const colour = style_.colour && !verdict.empty() ? colour_of(packet) : "";
  fmt::print("{:>6} {:>5}.{:09} {} > {}  {}{}{}{}{}\n", packet.number, since / 1'000'000'000,
             since % 1'000'000'000, held.source, held.destination, held.summary,
             verdict.empty() ? "" : "  <- ", colour, verdict, *colour == '\0' ? "" : "\x1b[0m");
}

void TraceLines::print_json(const Held& held, const Packet& packet) const {
  nlohmann::json line{
      {"number", packet.number},
      {"time", fmt::format("{}.{:09}", packet.sent / 1'000'000'000, packet.sent % 1'000'000'000)},
      {"source", held.source},
      {"destination", held.destination},
      {"qp", queue_pairs_of(tracker_, packet)},
      {"opcode", wire::name(packet.opcode)},
      {"psn", packet.psn.value()},
      {"payload", packet.payload},
      {"summary", held.summary},
      {"verdicts", analysis::verdict_words(packet)},
      {"text", analysis::verdict_text(tracker_, packet)},
      {"transmission", packet.transmission},
      {"of", number_or_null(packet.of)},
      {"answers", number_or_null(packet.answers)},
      {"acknowledges", acknowledged_by(packet)},
      {"on_its_way_ns",
       packet.arrived == 0 ? nlohmann::json() : nlohmann::json(packet.arrived - packet.sent)},
      {"comment", tracker_.comment(packet.number)},
  };
  fmt::print("{}\n", json_text(line));
}

}  // namespace urnic::cli
