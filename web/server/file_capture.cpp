#include "web/server/file_capture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "analysis/capture_files/capture_file.hpp"
#include "web/server/actions.hpp"
#include "web/server/arrow.hpp"
#include "web/server/frame_view.hpp"

namespace urnic::web {
namespace {

using analysis::Flow;
using analysis::FlowIndex;
using analysis::kNoFlow;
using nlohmann::json;

// Records between two looks of others.
constexpr unsigned kPortion = 4096;

const char* service_name(wire::Service service) {
  switch (service) {
    case wire::Service::rc:
      return "RC";
    case wire::Service::uc:
      return "UC";
    case wire::Service::ud:
      return "UD";
    case wire::Service::xrc:
      return "XRC";
    default:
      return "?";
  }
}

json sums_of(const Flow* flow) {
  const analysis::FlowCounters counters = flow != nullptr ? flow->counters : analysis::FlowCounters{};
  return {{"packets", counters.packets},
          {"bytes", counters.bytes},
          {"messages", counters.messages},
          {"retransmissions", counters.retransmissions},
          {"lost", counters.lost},
          {"missing", counters.missing},
          {"naks", counters.sequence_naks + counters.selective_acks},
          {"rnr_naks", counters.rnr_naks},
          {"error_naks", counters.error_naks}};
}

}  // namespace

FileCapture::FileCapture(const std::string& path) : path_(path) {
  const analysis::CaptureFile opens(path);
  reader_ = std::thread([this] { read(); });
}

FileCapture::~FileCapture() {
  stop_ = true;
  reader_.join();
}

void FileCapture::read() {
  try {
    analysis::CaptureFile file(path_);
    analysis::CapturedPacket record;
    bool more = true;
    while (more && !stop_) {
      const std::lock_guard lock(mutex_);
      for (unsigned i = 0; i < kPortion && (more = file.next(record)); ++i)
        tracker_.add(record, file.interfaces());
    }
    if (file.end() == analysis::CaptureFile::End::within_record) problem_ = "the file ends within a record";
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    problem_ = error.what();
  }
  const std::lock_guard lock(mutex_);
  tracker_.finish();
  group();
  whole_ = true;
}

// A packet's connection is that of its flow.
void FileCapture::group() {
  std::unordered_map<FlowIndex, std::size_t> places;
  for (const analysis::Connection& each : analysis::connections_of(tracker_)) {
    for (const FlowIndex flow : {each.from_left, each.from_right}) {
      if (flow != kNoFlow) places[flow] = connections_.size();
    }
    connections_.push_back({each, {}});
  }
  const analysis::PacketStore& packets = tracker_.packets();
  for (analysis::PacketId id = packets.begin(); id != packets.end(); ++id) {
    if (const auto place = places.find(packets[id].flow); place != places.end())
      connections_[place->second].packets.push_back(id);
  }
  std::stable_sort(connections_.begin(), connections_.end(), [](const Connection& a, const Connection& b) {
    return a.packets.size() > b.packets.size();
  });
}

json FileCapture::progress() const {
  const std::lock_guard lock(mutex_);
  return {{"source", "file"},
          {"name", std::filesystem::path(path_).filename().string()},
          {"read", whole_},
          {"records", tracker_.records()},
          {"others", tracker_.other_records()},
          {"forgotten", tracker_.packets().begin()},
          {"seconds", static_cast<double>(tracker_.last_time() - tracker_.first_time()) / 1e9},
          {"problem", problem_}};
}

json FileCapture::connections() const {
  const std::lock_guard lock(mutex_);
  const std::vector<Flow>& flows = tracker_.flows();
  json all = json::array();
  for (const Connection& each : connections_) {
    const FlowIndex back = each.ends.from_right;
    all.push_back({{"service", service_name(flows[each.ends.from_left].service)},
                   {"left", analysis::left_end(tracker_, each.ends)},
                   {"right", analysis::right_end(tracker_, each.ends)},
                   {"packets", each.packets.size()},
                   {"there", sums_of(&flows[each.ends.from_left])},
                   {"back", sums_of(back != kNoFlow ? &flows[back] : nullptr)}});
  }
  return all;
}

const FileCapture::Connection& FileCapture::connection(std::size_t index) const {
  if (index >= connections_.size()) throw WrongAction(fmt::format("the capture has no connection {}", index));
  return connections_[index];
}

json FileCapture::arrows(std::size_t index, std::size_t from, std::size_t count) const {
  const std::lock_guard lock(mutex_);
  const Connection& wanted = connection(index);
  json arrows = json::array();
  const std::size_t begin = std::min(from, wanted.packets.size());
  const std::size_t end = begin + std::min({count, kMostArrows, wanted.packets.size() - begin});
  for (std::size_t i = begin; i < end; ++i) {
    const analysis::Packet& packet = tracker_.packets()[wanted.packets[i]];
    arrows.push_back(arrow(tracker_, packet, {packet.flow != wanted.ends.from_left, tracker_.first_time()}));
  }
  return {{"from", begin}, {"of", wanted.packets.size()}, {"arrows", arrows}};
}

json FileCapture::series(std::size_t index) const {
  const std::lock_guard lock(mutex_);
  const Connection& wanted = connection(index);
  json all = json::array();
  for (const FlowIndex flow : {wanted.ends.from_left, wanted.ends.from_right}) {
    if (flow == kNoFlow) continue;
    const analysis::TimeSeries& series = tracker_.flows()[flow].series;
    json intervals = json::array();
    for (const analysis::Interval& each : series.intervals()) {
      intervals.push_back(
          {each.packets, each.goodput, each.retransmissions, each.lost,
           each.round_trips > 0 ? json(each.round_trip_sum / each.round_trips / 1000) : json()});
    }
    all.push_back({{"start_us", static_cast<double>(series.start() - tracker_.first_time()) / 1000},
                   {"length_us", static_cast<double>(series.length()) / 1000},
                   {"intervals", intervals}});
  }
  return all;
}

json FileCapture::frame(std::uint64_t number) const {
  analysis::CaptureFile file(path_);
  analysis::CapturedPacket record;
  while (file.next(record)) {
    if (record.number == number) return frame_view(record);
  }
  throw WrongAction(fmt::format("the capture has no frame {}", number));
}

}  // namespace urnic::web
