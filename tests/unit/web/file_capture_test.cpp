// A capture file as the page sees it.
#include "web/server/file_capture.hpp"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <string>
#include <thread>

#include "web/server/actions.hpp"

namespace urnic::web::test {
namespace {

using nlohmann::json;

struct GoldenFile {
  FileCapture file{GOLDEN "/soft-roce.pcap"};
  GoldenFile() {
    for (int wait = 0; wait < 1000 && !file.progress().at("read"); ++wait)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(file_capture, GoldenFile)

BOOST_AUTO_TEST_CASE(connections_and_their_packets_are_found) {
  BOOST_REQUIRE(file.progress().at("read") == true);
  BOOST_TEST(file.progress().at("problem") == "");
  const json connections = file.connections();
  BOOST_REQUIRE(!connections.empty());
  const std::size_t packets = connections[0].at("packets").get<std::size_t>();
  std::size_t seen = 0;
  std::uint64_t last = 0;
  while (seen < packets) {
    const json part = file.arrows(0, seen, 7);
    BOOST_TEST(part.at("of") == packets);
    for (const json& arrow : part.at("arrows")) {
      BOOST_TEST(arrow.at("n").get<std::uint64_t>() > last);
      last = arrow.at("n").get<std::uint64_t>();
      BOOST_TEST(!arrow.at("label").get<std::string>().empty());
    }
    BOOST_REQUIRE(!part.at("arrows").empty());
    seen += part.at("arrows").size();
  }
  BOOST_TEST(file.arrows(0, packets + 5, 7).at("arrows").empty());
  BOOST_TEST(!file.series(0).empty());
}

BOOST_AUTO_TEST_CASE(a_frame_opens_by_field) {
  const json frame = file.frame(1);
  BOOST_TEST(frame.at("icrc") == "right");
  bool has_psn = false;
  for (const json& header : frame.at("headers")) {
    for (const json& field : header.at("fields")) has_psn = has_psn || field.at("name") == "bth.psn";
  }
  BOOST_TEST(has_psn);
  BOOST_TEST(frame.at("bytes").get<std::string>().size() ==
             2 * frame.at("original_bytes").get<std::size_t>());
}

BOOST_AUTO_TEST_CASE(what_is_not_there_is_refused) {
  BOOST_CHECK_THROW(file.frame(1'000'000), WrongAction);
  BOOST_CHECK_THROW(file.arrows(1'000'000, 0, 1), WrongAction);
  BOOST_CHECK_THROW(FileCapture(GOLDEN "/nothing.pcap"), std::runtime_error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::web::test
