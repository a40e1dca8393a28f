// Ladders and plots of a short story: a packet is lost, the receiver asks for it, it is sent again.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "analysis/pictures/ladder_svg.hpp"
#include "analysis/pictures/ladder_text.hpp"
#include "analysis/pictures/psn_plot.hpp"
#include "analysis/pictures/svg_document.hpp"
#include "analysis/pictures/time_scale.hpp"
#include "tests/unit/analysis/traffic.hpp"

namespace urnic::analysis::test {
namespace {

void tell(Traffic& traffic) {
  traffic.sends(10, 11);
  traffic.lose = true;
  traffic.send(12);
  traffic.lose = false;
  traffic.send(13);
  traffic.nak(12);
  traffic.sends(12, 13);
  traffic.ack(13);
  traffic.tracker().finish();
}

Ladder ladder(Traffic& traffic, const LadderChoice& choice = {}) {
  return ladder_of(traffic.tracker(), connections_of(traffic.tracker()).at(0), choice);
}

std::vector<std::string> lines(const Ladder& ladder, const TextStyle& style) {
  std::vector<std::string> all;
  draw_text(ladder, style, [&](std::string_view line) { all.emplace_back(line); });
  return all;
}

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

BOOST_AUTO_TEST_SUITE(pictures)

BOOST_AUTO_TEST_CASE(a_ladder_in_a_terminal) {
  Traffic traffic(Where::every_point);
  tell(traffic);
  const std::vector<std::string> drawn = lines(ladder(traffic), {.width = 80, .utf8 = true, .colour = false});
  BOOST_REQUIRE(drawn.size() == 9u);
  BOOST_TEST(drawn[0] == "            192.0.2.1 QP 0x11                                 192.0.2.2 QP 0x22");
  BOOST_TEST(drawn[1] == "     0.0 us ├─ 1 Send Only 10 ───────────────────────────────────────────────▶│");
  BOOST_TEST(drawn[3].starts_with("     4.0 us ├─ 5 Send Only 12: lost: a rule: dropped ──"));
  BOOST_TEST(drawn[3].ends_with("✕             │"));
  BOOST_TEST(drawn[5].starts_with("     8.0 us │◀──"));
  BOOST_TEST(drawn[5].ends_with("─ 9 NAK 12, PSN sequence error: asks for PSN 12, frame 5 ─┤"));
  BOOST_TEST(drawn[6].starts_with("    10.0 us ├═ 11 Send Only 12: retransmission of 5 ══"));
}

BOOST_AUTO_TEST_CASE(every_line_fits_and_every_style_says_the_same) {
  Traffic traffic(Where::every_point);
  tell(traffic);
  const Ladder drawn = ladder(traffic);
  for (const bool utf8 : {false, true}) {
    for (const bool colour : {false, true}) {
      for (int width = 1; width < 250; ++width) {
        const std::vector<std::string> all = lines(drawn, {.width = width, .utf8 = utf8, .colour = colour});
        BOOST_TEST(all.size() == 1 + drawn.arrows.size());
        for (const std::string& line : all) {
          const bool ascii = std::all_of(line.begin(), line.end(),
                                         [](char c) { return static_cast<unsigned char>(c) < 0x80; });
          BOOST_TEST((utf8 || ascii));
          if (!colour)
            BOOST_TEST(columns_of(line) <= static_cast<std::size_t>(std::max(width, TextStyle::kNarrowest)));
        }
      }
    }
  }
  BOOST_TEST(lines(drawn, {.width = 80, .utf8 = true, .colour = true})[3].find("\x1b[31m") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_ladder_shows_what_was_chosen) {
  Traffic traffic(Where::every_point);
  tell(traffic);
  const Ladder some = ladder(
      traffic, {.from = Traffic::kStart + 5 * Traffic::kStep, .to = Traffic::kStart + 9 * Traffic::kStep});
  BOOST_REQUIRE(some.arrows.size() == 3u);
  BOOST_TEST(some.arrows[0].number == 5u);
  BOOST_TEST(some.arrows[0].sent == 4 * Traffic::kStep);
  const Ladder few = ladder(traffic, {.most = 2});
  BOOST_TEST(few.left_out == 6u);
  BOOST_TEST(lines(few, {})[3] == "6 more packets: choose some with --from, --to");
}

BOOST_AUTO_TEST_CASE(a_packet_that_others_overtake_says_so) {
  Traffic traffic(Where::every_point);
  traffic.send(10);
  const auto frame = [&](std::uint32_t psn) {
    return traffic.frame(traffic.headers_of(wire::Operation::send_only, psn, true), 16, true);
  };
  traffic.record(frame(11), 0);
  traffic.record(frame(12), 0);
  traffic.record(frame(12), 4);
  traffic.record(frame(11), 4);
  traffic.tracker().finish();
  const Ladder drawn = ladder(traffic);
  BOOST_TEST(drawn.arrows[1].overtaken_by == 1u);
  BOOST_TEST(drawn.arrows[1].remark == "arrives behind 1 that were sent later");
  BOOST_TEST(drawn.arrows[2].overtaken_by == 0u);
}

BOOST_AUTO_TEST_CASE(an_svg_ladder_has_an_arrow_for_each_packet) {
  Traffic traffic(Where::every_point);
  tell(traffic);
  const std::string svg = draw_svg(ladder(traffic), SvgLadderStyle{});
  // Six more are in the legend.
  BOOST_TEST(count(svg, "<g class=\"arrow ") == 8u + 6);
  BOOST_TEST(count(svg, "class=\"cross\"") == 1u + 1);
  BOOST_TEST(count(svg, "<g class=\"arrow retransmission\">") == 2u + 1);
  BOOST_TEST(
      svg.find("<title id=\"title\">Packets between 192.0.2.1 QP 0x11 and 192.0.2.2 QP 0x22</title>") !=
      std::string::npos);
  BOOST_TEST(svg.find("8 packets, of which 1 are lost and 2 are retransmissions; 1 NAKs.") !=
             std::string::npos);
  BOOST_TEST(svg.find("prefers-color-scheme:dark") != std::string::npos);
  BOOST_TEST(svg.find('$') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_plot_has_a_point_for_each_packet) {
  for (const Where where : {Where::every_point, Where::at_sender}) {
    Traffic traffic(where);
    tell(traffic);
    const std::vector<PsnPlot> plots =
        psn_plots(traffic.tracker(), connections_of(traffic.tracker()).at(0), {});
    BOOST_REQUIRE(plots.size() == 1u);
    std::vector<int> counts(6);
    for (const PlotPoint& point : plots[0].points) ++counts[static_cast<std::size_t>(point.kind)];
    BOOST_TEST(counts[static_cast<std::size_t>(PointKind::sent)] == 3);
    BOOST_TEST(counts[static_cast<std::size_t>(PointKind::lost)] == 1);
    BOOST_TEST(counts[static_cast<std::size_t>(PointKind::retransmitted)] == 2);
    BOOST_TEST(counts[static_cast<std::size_t>(PointKind::nak)] == 1);
    BOOST_TEST(plots[0].first_psn == 10u);
    BOOST_TEST(plots[0].psns == 4);
    BOOST_REQUIRE(plots[0].acknowledged.size() == 2u);
    BOOST_TEST(plots[0].acknowledged[0].psn == 2);
    BOOST_TEST(plots[0].acknowledged[1].psn == 4);
    const std::string svg = draw_svg(plots, PlotStyle{});
    BOOST_TEST(svg.find("3 sent, 2 sent again, 1 lost, 0 READ responses, 1 NAKs.") != std::string::npos);
    BOOST_TEST(svg.find('$') == std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_plot_of_many_packets_is_small) {
  Traffic traffic(Where::at_sender);
  for (std::uint32_t psn = 0; psn < 20000; ++psn) {
    traffic.send(psn);
    traffic.ack(psn);
  }
  const std::string svg =
      draw_svg(psn_plots(traffic.tracker(), connections_of(traffic.tracker()).at(0), {}), PlotStyle{});
  BOOST_TEST(svg.size() < 60000u);
}

BOOST_AUTO_TEST_CASE(text_of_a_file_cannot_break_the_document) {
  BOOST_TEST(svg_text("a<b>&\"c\"") == "a&lt;b&gt;&amp;&quot;c&quot;");
  BOOST_TEST(svg_text(std::string("\x01\x1f\0x", 4)) == "???x");
  BOOST_TEST(svg_text("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80") == "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
  for (const char* wrong :
       {"\xff", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xef\xbf\xbf"})
    BOOST_TEST(svg_text(wrong) == std::string(std::string_view(wrong).size(), '?'));
}

BOOST_AUTO_TEST_CASE(times_and_round_numbers) {
  BOOST_TEST(time_text(12'300) == "12.3 us");
  BOOST_TEST(time_text(12'345'678) == "12.346 ms");
  BOOST_TEST(time_text(12'345'678'901) == "12.345679 s");
  BOOST_TEST((round_numbers(0, 10, 5) == std::vector<double>{0, 2, 4, 6, 8, 10}));
  BOOST_TEST((round_numbers(3, 19, 4) == std::vector<double>{5, 10, 15}));
  BOOST_TEST(round_numbers(5, 5, 4).empty());
  BOOST_TEST(round_numbers(0, 1e-3, 0).empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::analysis::test
