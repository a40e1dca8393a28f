#include "script/call_text.hpp"

#include <boost/test/unit_test.hpp>

namespace urnic::script {

BOOST_AUTO_TEST_SUITE(call_text)

BOOST_AUTO_TEST_CASE(a_call_is_the_same_behind_its_line) {
  Call call;
  call.verb = Keyword::post_send;
  call.object = "a";
  call.opcode = 4;
  call.numbers = {{"wr_id", ~std::uint64_t{0}}, {"remote", 0}};
  call.names = {{"ah", "h"}};
  call.places = {{"m", 0, 64}, {"long_name", 7, 0}};
  call.bytes = {std::byte{0}, std::byte{0xFF}};
  const auto read = call_of_line(to_line(call));
  BOOST_REQUIRE(read.has_value());
  BOOST_CHECK(read->verb == Keyword::post_send);
  BOOST_TEST(read->object == "a");
  BOOST_TEST(read->opcode == 4u);
  BOOST_CHECK(read->numbers == call.numbers);
  BOOST_CHECK(read->names == call.names);
  BOOST_REQUIRE(read->places.size() == 2u);
  BOOST_TEST(read->places[1].region == "long_name");
  BOOST_TEST(read->places[1].offset == 7u);
  BOOST_CHECK(read->bytes == call.bytes);
}

BOOST_AUTO_TEST_CASE(an_answer_is_the_same_behind_its_line) {
  for (const Answer& answer :
       {Answer{}, Answer{.nothing = true}, Answer{.refusal = "EINVAL: ibv_reg_mr"},
        Answer{.numbers = {{"qpn", 17}, {"rkey", 0xFFFFFFFF}}}, Answer{.bytes = Bytes(3, std::byte{0xAB})}}) {
    BOOST_TEST_CONTEXT(to_line(answer)) {
      const auto read = answer_of_line(to_line(answer));
      BOOST_REQUIRE(read.has_value());
      BOOST_TEST(read->nothing == answer.nothing);
      BOOST_TEST(read->refusal == answer.refusal);
      BOOST_CHECK(read->numbers == answer.numbers);
      BOOST_CHECK(read->bytes == answer.bytes);
    }
  }
}

BOOST_AUTO_TEST_CASE(lines_that_make_no_sense_are_none) {
  for (const char* const line :
       {"", "send_completion", "send_completion a", "nonsense a 0", "post_send a x", "post_send a 0 wr_id",
        "post_send a 0 wr_id=", "post_send a 0 wr_id=1x", "post_send a 0 @m:1", "post_send a 0 @m:1:",
        "post_send a 0 @:::", "post_send a 0 #a", "post_send a 0 #gg", "post_send a 18446744073709551616"})
    BOOST_TEST_CONTEXT(line) { BOOST_CHECK(!call_of_line(line)); }
  for (const char* const line : {"", "okay", "ok x", "ok x=", "ok #1", "nothing more"})
    BOOST_TEST_CONTEXT(line) { BOOST_CHECK(!answer_of_line(line)); }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::script
