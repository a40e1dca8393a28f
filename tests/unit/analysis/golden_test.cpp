// Captures of another implementation (tests/golden): nothing was lost in them, and every connection is found.
#include <boost/test/unit_test.hpp>
#include <map>
#include <string>

#include "analysis/capture_files/capture_file.hpp"
#include "analysis/dissection/edited_frame.hpp"
#include "analysis/dissection/frame_text.hpp"
#include "analysis/flows/connections.hpp"
#include "analysis/flows/verdict_text.hpp"

namespace urnic::analysis::test {
namespace {

constexpr const char* kSoftRoce = URNIC_GOLDEN_DIR "/soft-roce.pcap";
constexpr const char* kSoftRoceCm = URNIC_GOLDEN_DIR "/soft-roce-cm.pcap";

void read(const char* path, FlowTracker& tracker) {
  CaptureFile file(path);
  CapturedPacket packet;
  while (file.next(packet)) tracker.add(packet, file.interfaces());
  tracker.finish();
  BOOST_TEST((file.end() == CaptureFile::End::whole));
}

BOOST_AUTO_TEST_SUITE(golden)

BOOST_AUTO_TEST_CASE(every_frame_is_right_and_the_same_after_it_was_edited) {
  for (const char* path : {kSoftRoce, kSoftRoceCm}) {
    CaptureFile file(path);
    CapturedPacket packet;
    while (file.next(packet)) {
      const Dissection dissection = dissect(packet.bytes);
      BOOST_TEST_CONTEXT(path << " frame " << packet.number) {
        BOOST_TEST((dissection.verdict() == wire::ParseError::none));
        BOOST_TEST((dissection.icrc() == CrcCheck::right));
        // All fields, written as their own text, and all that follows from them.
        const std::vector<std::byte> bytes(packet.bytes.begin(), packet.bytes.end());
        EditedFrame frame(bytes);
        for (const PlacedHeader& header : dissection.headers()) {
          for (const Field& field : header.header->fields) {
            const std::string_view name = field.name;
            if (name == "icrc" || name.ends_with("checksum") || name.ends_with("len") || name == "udp.length")
              continue;
            frame.set(name, value_text(field, read_value(place(header, field), packet.bytes)));
          }
        }
        BOOST_TEST((frame.finish() == bytes));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(no_packet_is_called_lost_or_sent_again) {
  FlowTracker tracker;
  read(kSoftRoce, tracker);
  BOOST_TEST(tracker.records() == 381u);
  for (const Flow& flow : tracker.flows()) {
    BOOST_TEST(flow.counters.lost == 0u);
    BOOST_TEST(flow.counters.retransmissions == 0u);
    BOOST_TEST(flow.counters.missing == 0u);
    if (wire::is_acknowledged(flow.service)) BOOST_TEST((flow.pairing != Pairing::unknown));
  }
  std::map<Answer, unsigned> answers;
  for (PacketId id = tracker.packets().begin(); id < tracker.packets().end(); ++id) {
    const Packet& packet = tracker.packets()[id];
    ++answers[packet.answer];
    if (packet.answer == Answer::acknowledge) BOOST_TEST(packet.acks > 0u);
    if (packet.answer == Answer::read_response) BOOST_TEST(packet.answers != 0u);
    if (packet.answer == Answer::atomic_response) BOOST_TEST(packet.answers != 0u);
  }
  // As Wireshark counts opcodes (tests/unit/wire/golden_test.cpp).
  BOOST_TEST(answers[Answer::acknowledge] == 87u);
  BOOST_TEST(answers[Answer::read_response] == 33u);
  BOOST_TEST(answers[Answer::atomic_response] == 10u);
}

// rping with five READs of 5000 bytes, which take five PSNs each.
BOOST_AUTO_TEST_CASE(responses_belong_to_their_reads) {
  FlowTracker tracker;
  read(kSoftRoce, tracker);
  std::map<FrameNumber, unsigned> packets;
  for (PacketId id = tracker.packets().begin(); id < tracker.packets().end(); ++id)
    if (tracker.packets()[id].answer == Answer::read_response) ++packets[tracker.packets()[id].answers];
  const std::map<FrameNumber, unsigned> expected{{159, 5}, {165, 5}, {171, 5}, {175, 5}, {176, 5}};
  for (const auto& [request, count] : expected) BOOST_TEST(packets[request] == count);
}

BOOST_AUTO_TEST_CASE(connections_of_the_connection_manager) {
  FlowTracker tracker;
  read(kSoftRoceCm, tracker);
  unsigned by_cm = 0;
  for (const Flow& flow : tracker.flows()) {
    by_cm += flow.pairing == Pairing::by_cm ? 1 : 0;
    if (wire::is_acknowledged(flow.service)) BOOST_TEST((flow.pairing == Pairing::by_cm));
    BOOST_TEST(flow.counters.missing == 0u);
  }
  BOOST_TEST(by_cm >= 6u);
}

BOOST_AUTO_TEST_CASE(ends_are_named) {
  FlowTracker tracker;
  read(kSoftRoce, tracker);
  const std::vector<Connection> connections = connections_of(tracker);
  BOOST_TEST(left_end(tracker, connections[0]) == "10.0.0.2 QP 0x11");
  BOOST_TEST(right_end(tracker, connections[0]) == "10.0.0.1 QP 0x11");
  // UC has no answers: who sends is not known.
  BOOST_TEST(left_end(tracker, connections[1]) == "10.0.0.2");
  BOOST_TEST(has_qp(tracker, connections[1], wire::Qpn{0x12}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::analysis::test
