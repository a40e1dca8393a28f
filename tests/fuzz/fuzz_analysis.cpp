// Any bytes as a capture file: reading it, taking its frames apart, judging its packets and drawing them
// reads nothing outside of them, and takes no more memory than its bounds say.
//
// Checksums would keep nearly every changed packet from being judged, so each is also judged as it is after
// they have been made right.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/capture_files/capture_error.hpp"
#include "analysis/capture_files/capture_parser.hpp"
#include "analysis/dissection/edited_frame.hpp"
#include "analysis/dissection/frame_text.hpp"
#include "analysis/flows/connections.hpp"
#include "analysis/flows/verdict_text.hpp"
#include "analysis/pictures/ladder_svg.hpp"
#include "analysis/pictures/ladder_text.hpp"
#include "analysis/pictures/psn_plot.hpp"
#include "analysis/pictures/rate_plot.hpp"
#include "tests/fuzz/require.hpp"

namespace {

using namespace urnic::analysis;
using urnic::fuzz::require;

constexpr std::size_t kMostPackets = 64;
// Texts and pictures take most of the time, and are of the same kind for all packets.
constexpr std::size_t kMostTrees = 12;
constexpr std::size_t kMostPictures = 2;

void check_dissection(const Dissection& dissection) {
  for (const HeaderText& header : tree_of(dissection)) {
    require(header.offset + header.bytes <= dissection.frame().size(), "a header lies outside of its frame");
    for (const FieldText& field : header.fields)
      require(field.first_bit + field.width <= dissection.frame().size() * 8,
              "a field lies outside of its frame");
  }
  require(!summary(dissection).empty(), "a frame has no summary");
}

class Judged {
 public:
  void add(const CapturedPacket& record, const std::vector<CaptureInterface>& interfaces) {
    take(record, interfaces);
    if (record.bytes.empty()) return;
    EditedFrame frame({record.bytes.begin(), record.bytes.end()}, record.link_layer);
    CapturedPacket right = record;
    right.bytes = frame.finish();
    take(right, interfaces);
  }

  void draw() {
    tracker_.finish();
    const PacketStore& packets = tracker_.packets();
    require(packets.end() - packets.begin() <= kMostPackets, "more packets are kept than allowed");
    for (PacketId id = packets.begin(); id < packets.end(); ++id) {
      require(packets.find(packets[id].number) == id, "a packet is not found by its number");
      static_cast<void>(verdict_text(tracker_, packets[id]));
    }
    require(draw_svg(rate_plot(tracker_, connections_of(tracker_), {}), PlotStyle{}).ends_with("</svg>\n"),
            "a plot of rates without an end");
    std::size_t pictures = 0;
    for (const Connection& connection : connections_of(tracker_)) {
      if (pictures++ == kMostPictures) return;
      const Ladder ladder = ladder_of(tracker_, connection, {});
      draw_text(ladder, {}, [](std::string_view line) { require(!line.empty(), "an empty line"); });
      require(draw_svg(ladder, SvgLadderStyle{}).ends_with("</svg>\n"), "a ladder without an end");
      require(draw_svg(psn_plots(tracker_, connection, {}), PlotStyle{}).ends_with("</svg>\n"),
              "a plot without an end");
    }
  }

 private:
  void take(CapturedPacket record, const std::vector<CaptureInterface>& interfaces) {
    const Dissection dissection = dissect(record.bytes, record.original_bytes, record.link_layer);
    if (number_ < kMostTrees) check_dissection(dissection);
    record.number = ++number_;
    const PacketId id = tracker_.add(record, interfaces, dissection);
    require(id == kNoPacket || tracker_.packets().has(id), "a packet was forgotten at once");
    for (const PacketId changed : tracker_.changed())
      require(tracker_.packets().has(changed), "a packet that is gone has changed");
  }

  FlowTracker tracker_{kMostPackets};
  FrameNumber number_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // In portions of a size that the input says.
  const std::size_t portion = data[0] == 0 ? size : data[0];
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  CaptureParser parser;
  Judged judged;
  try {
    for (std::size_t at = 0; at < bytes.size(); at += portion) {
      parser.feed(bytes.subspan(at, std::min(portion, bytes.size() - at)));
      CapturedPacket record;
      while (parser.next(record)) judged.add(record, parser.interfaces());
    }
  } catch (const CaptureError&) {  // what was read until then is shown
  }
  judged.draw();
  return 0;
}
