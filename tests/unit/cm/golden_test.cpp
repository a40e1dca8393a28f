// Every dialogue of Linux's connection manager in the capture, with ours in the place of each of the two
// hosts.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/cm/golden_dialogue.hpp"

namespace urnic::cm::test {
namespace {

struct Dialogue {
  std::size_t first = 0;
  std::size_t last = 0;
  LostMessage lost{};
};

constexpr Dialogue kDialogues[] = {
    {1, 29},                 // rping over IPv4
    {30, 46},                // rping over IPv6
    {47, 59},                // the passive side disconnects
    {60, 61},                // SIDR
    {68, 72},                // private data, resources, flow control
    {73, 77},                // accepted without parameters
    {78, 82},                // a QP outside the id
    {83, 84},                // rejected with private data
    {85, 86},                // vendor's options rejected
    {87, 88},                // the request's id destroyed
    {89, 90},                // nobody listens
    {91, 92},                // SIDR with private data
    {93, 94},                // SIDR rejected
    {95, 96},                // SIDR: nobody listens
    {97, 98},                // given up at once
    {99, 100},               // the same
    {101, 102},              // SIDR over IPv6
    {103, 109},              // accepted late, with an MRA
    {110, 120},              // a full backlog
    {121, 123},              // a reply rejected
    {133, 137},              // private data over IPv6
    {138, 139},              // rejected over IPv6
    {140, 141},              // SIDR over IPv6
    {142, 146},              // vendor's options
    {147, 152, {147, 149}},  // replies lost
    {153, 169},              // link-local IPv6
    {188, 213},              // perftest: a second request is refused
    {214, 221, {217, 219}},  // the RTU lost
};
// Frames 124 to 132 go to a host that never answers: there is only one to play.
constexpr Dialogue kMonologue{124, 132};

void play(const Dialogue& dialogue, bool active) {
  BOOST_TEST_CONTEXT("frames " << dialogue.first << " to " << dialogue.last
                               << (active ? ", active" : ", passive")) {
    GoldenDialogue(golden_messages(dialogue.first, dialogue.last), active, dialogue.lost).play();
  }
}

BOOST_AUTO_TEST_SUITE(golden)

BOOST_AUTO_TEST_CASE(all_messages_of_the_capture_are_played) {
  std::size_t played = golden_messages(kMonologue.first, kMonologue.last).size();
  for (const Dialogue& dialogue : kDialogues) played += golden_messages(dialogue.first, dialogue.last).size();
  BOOST_TEST(played == golden_messages(1, 221).size());
}

BOOST_AUTO_TEST_CASE(passive_side_answers_as_linux_did) {
  for (const Dialogue& dialogue : kDialogues) play(dialogue, false);
}

BOOST_AUTO_TEST_CASE(active_side_asks_and_answers_as_linux_did) {
  for (const Dialogue& dialogue : kDialogues) play(dialogue, true);
  play(kMonologue, true);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::cm::test
