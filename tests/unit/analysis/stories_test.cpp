// What is said when packets are lost, each story seen at every capture point of urnic's and at either end
// alone.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "tests/unit/analysis/traffic.hpp"

namespace urnic::analysis::test {
namespace {

using Remarks = std::vector<std::string>;

void lost_in_the_middle(Traffic& traffic) {
  ordinary(traffic);
  traffic.send(15);
  traffic.lose = true;
  traffic.send(16);
  traffic.lose = false;
  traffic.sends(17, 18);
}

void go_back_n(Traffic& traffic) {
  lost_in_the_middle(traffic);
  traffic.nak(16);
  traffic.sends(16, 18);
  traffic.ack(18);
}

void selective_report(Traffic& traffic) {
  lost_in_the_middle(traffic);
  traffic.selective(16, 18, 1);
  traffic.send(16);
  traffic.ack(18);
}

void lost_tail(Traffic& traffic) {
  ordinary(traffic);
  traffic.lose = true;
  traffic.send(15);
  traffic.lose = false;
  traffic.send(15);
  traffic.ack(15);
}

void lost_twice(Traffic& traffic) {
  lost_in_the_middle(traffic);
  traffic.nak(16);
  traffic.lose = true;
  traffic.send(16);
  traffic.lose = false;
  traffic.send(16);
  traffic.ack(18);
}

void lost_acknowledgement(Traffic& traffic) {
  ordinary(traffic);
  traffic.send(15);
  traffic.lose = true;
  traffic.ack(15);
  traffic.lose = false;
  traffic.send(15);
  traffic.ack(15);
}

void receiver_not_ready(Traffic& traffic) {
  ordinary(traffic);
  traffic.send(15);
  traffic.rnr(15);
  traffic.send(15);
  traffic.ack(15);
}

void refused(Traffic& traffic) {
  ordinary(traffic);
  traffic.send(15);
  traffic.answer(15, wire::nak_syndrome(wire::NakCode::remote_access_error));
}

void congested(Traffic& traffic) {
  ordinary(traffic);
  traffic.mark = true;
  traffic.send(15);
  traffic.mark = false;
  traffic.notification();
  traffic.ack(15);
}

struct Story {
  const char* name;
  void (*happens)(Traffic&);
  Remarks every_point;
  Remarks at_sender;
  Remarks at_receiver;
};

const std::vector<Story>& all_stories() {
  static const std::vector<Story> kStories{
      {"nothing", ordinary, {}, {}, {}},
      {"go back N",
       go_back_n,
       {"15: lost: a rule: dropped", "17: arrives early", "19: arrives early",
        "21: asks for PSN 16, frame 15", "23: retransmission of 15",
        "25: retransmission of 17; arrives again", "27: retransmission of 19; arrives again"},
       {"8: lost, as 12 shows", "11: asks for PSN 16, frame 8", "12: retransmission of 8",
        "13: retransmission of 9", "14: retransmission of 10"},
       {"8: a PSN is missing before it", "10: asks for PSN 16",
        "11: retransmission of a packet that is not in the capture", "12: retransmission of 8",
        "13: retransmission of 9"}},
      {"a selective acknowledge",
       selective_report,
       {"15: lost: a rule: dropped", "17: arrives early", "19: arrives early",
        "21: asks for PSN 16, frame 15, has 17-18", "23: retransmission of 15"},
       {"8: lost, as 12 shows", "11: asks for PSN 16, frame 8, has 17-18", "12: retransmission of 8"},
       {"8: a PSN is missing before it", "10: asks for PSN 16, has 17-18",
        "11: retransmission of a packet that is not in the capture"}},
      {"the last packet is lost",
       lost_tail,
       {"13: lost: a rule: dropped", "15: retransmission of 13"},
       {"7: it or its answer is lost: sent again as 8", "8: retransmission of 7"},
       {}},
      {"the retransmission is lost, too",
       lost_twice,
       {"15: lost: a rule: dropped", "17: arrives early", "19: arrives early",
        "21: asks for PSN 16, frame 15", "23: retransmission of 15; lost: a rule: dropped",
        "25: retransmission of 23, sent the 3rd time"},
       {"8: lost, as 12 shows", "11: asks for PSN 16, frame 8",
        "12: retransmission of 8; it or its answer is lost: sent again as 13",
        "13: retransmission of 12, sent the 3rd time"},
       {"8: a PSN is missing before it", "10: asks for PSN 16",
        "11: retransmission of a packet that is not in the capture"}},
      {"an acknowledgement is lost",
       lost_acknowledgement,
       {"15: lost: a rule: dropped", "17: retransmission of 13; arrives again"},
       {"9: retransmission of 7", "10: acknowledges nothing new"},
       {"7: it or its answer is lost: sent again as 8", "8: retransmission of 7"}},
      {"no receive",
       receiver_not_ready,
       {"15: no receive for PSN 15, frame 13", "17: retransmission of 13; arrives again"},
       {"7: refused by 8", "8: no receive for PSN 15, frame 7", "9: retransmission of 7"},
       {"7: refused by 8", "8: no receive for PSN 15, frame 7", "9: retransmission of 7"}},
      {"an access error",
       refused,
       {"15: refuses PSN 15, frame 13"},
       {"7: refused by 8", "8: refuses PSN 15, frame 7"},
       {"7: refused by 8", "8: refuses PSN 15, frame 7"}},
      {"a packet is marked",
       congested,
       {"13: marked: congestion experienced", "15: answers the mark of 13"},
       {"7: marked: congestion experienced", "8: answers the mark of 7"},
       {"7: marked: congestion experienced", "8: answers the mark of 7"}},
  };
  return kStories;
}

Remarks tell(const Story& story, Where where, bool reversed, wire::Service service) {
  Traffic traffic(where);
  traffic.reversed = reversed;
  traffic.service = service;
  story.happens(traffic);
  return traffic.remarks();
}

BOOST_AUTO_TEST_SUITE(stories)

BOOST_AUTO_TEST_CASE(at_every_point_and_at_each_end) {
  for (const Story& story : all_stories()) {
    for (const bool reversed : {false, true}) {
      for (const wire::Service service : {wire::Service::rc, wire::Service::xrc}) {
        BOOST_TEST_CONTEXT(story.name << " reversed " << reversed << " service "
                                      << static_cast<int>(service)) {
          BOOST_TEST(text_of(tell(story, Where::every_point, reversed, service)) ==
                     text_of(story.every_point));
          BOOST_TEST(text_of(tell(story, Where::at_sender, reversed, service)) == text_of(story.at_sender));
          BOOST_TEST(text_of(tell(story, Where::at_receiver, reversed, service)) ==
                     text_of(story.at_receiver));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::analysis::test
