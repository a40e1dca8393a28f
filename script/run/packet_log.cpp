#include "script/run/packet_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/dissection/dissection.hpp"
#include "analysis/dissection/frame_text.hpp"
#include "analysis/pictures/ladder_text.hpp"
#include "wire/aeth.hpp"

namespace urnic::script {
namespace {

analysis::ArrowKind kind_of(const analysis::Dissection& packet) {
  const wire::OpcodeTraits& traits = wire::traits(packet.transport().bth.opcode);
  if (traits.request) return analysis::ArrowKind::request;
  const bool is_positive = wire::kind(packet.transport().aeth.syndrome) == wire::AethKind::ack;
  if ((traits.headers & wire::has_aeth) != 0 && !is_positive) return analysis::ArrowKind::nak;
  const bool is_ack =
      traits.known && packet.transport().bth.opcode.operation() == wire::Operation::acknowledge;
  return is_ack ? analysis::ArrowKind::acknowledgement : analysis::ArrowKind::response;
}

}  // namespace

// "Send Only 500" beside the arrow, and what else the summary says behind it.
analysis::LadderArrow PacketLog::arrow_of(const Entry& entry, analysis::FrameNumber number,
                                          Time start) const {
  const analysis::Dissection packet = analysis::dissect(entry.frame, link_layer_);
  analysis::LadderArrow arrow;
  arrow.number = number;
  arrow.sent = arrow.arrived = (entry.at - start).count();
  arrow.from_left = entry.to_device;
  arrow.arrival_is_seen = true;
  arrow.kind = kind_of(packet);
  const std::string summary = analysis::summary(packet);
  const std::size_t psn = summary.find(" PSN=");
  if (psn == std::string::npos) {
    arrow.label = fmt::format("{} {}", number, summary);
    return arrow;
  }
  const std::size_t behind = std::min(summary.find(' ', psn + 1), summary.size());
  arrow.label = fmt::format("{} {} {}", number, summary.substr(0, psn), packet.transport().bth.psn.value());
  arrow.remark = summary.substr(std::min(behind + 1, summary.size()));
  return arrow;
}

void PacketLog::keep(Entry entry) {
  if (entries_.size() == kMostKept) entries_.pop_front();
  entries_.push_back(std::move(entry));
}

void PacketLog::sent(const Bytes& frame, Time at) {
  ++sent_;
  keep({frame, at, true});
}

void PacketLog::seen(const SeenFrame& frame) {
  ++seen_;
  keep({frame.bytes, frame.at, false});
}

std::string PacketLog::ladder(Time start) const {
  constexpr int kColumns = 132;
  analysis::Ladder picture;
  picture.left = "script";
  picture.right = "device";
  analysis::FrameNumber number = sent_ + seen_ - entries_.size();
  for (const Entry& entry : entries_) picture.arrows.push_back(arrow_of(entry, ++number, start));
  std::string text;
  analysis::draw_text(picture, {.width = kColumns},
                      [&](std::string_view line) { text.append(line).append("\n"); });
  return text;
}

}  // namespace urnic::script
