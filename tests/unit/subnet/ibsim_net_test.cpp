// Topologies in ibsim's format, and errors in them.
#include "device_model/subnet/ibsim_net.hpp"

#include <boost/test/unit_test.hpp>

namespace urnic::subnet::test {

using wire::mad::NodeType;

namespace {

constexpr const char* kSmall =
    "# two adapters\n"
    "Switch 8 \"SW1\"\n"
    "[1] \"H1\"[1]\n"
    "[2] \"H2\"[1]\tw=1 s=2\n"
    "\n"
    "Hca 1 \"H1\"\n"
    "[1] \"SW1\"[1] w=12 e=1\n"
    "\n"
    "Hca 2 \"H2\"\n"
    "[1] \"SW1\"[2] w=4 s=1\n";

// As ibnetdiscover writes it.
constexpr const char* kDiscovered =
    "vendid=0x2c9\n"
    "devid=0xb924\n"
    "sysimgguid=0x200000\n"
    "switchguid=0x200000(200000)\n"
    "Switch\t8 \"S-0000000000200000\"\t\t# \"SW 1\" base port 0 lid 2 lmc 0\n"
    "[1]\t\"H-0000000000100000\"[1](100001) \t\t# \"H1\" lid 1 4xFDR\n"
    "\n"
    "vendid=0x2c9\n"
    "devid=0x1003\n"
    "sysimgguid=0x100000\n"
    "caguid=0x100000\n"
    "Ca\t1 \"H-0000000000100000\"\t\t# \"host mlx5_0\"\n"
    "[1](100001) \t\"S-0000000000200000\"[1]\t\t# lid 1 lmc 0 \"SW 1\" lid 2 4xFDR\n";

}  // namespace

BOOST_AUTO_TEST_SUITE(ibsim_net)

BOOST_AUTO_TEST_CASE(a_small_net) {
  const NetFile net = parse_ibsim_net(kSmall);
  BOOST_REQUIRE(net.nodes.size() == 3u);
  BOOST_TEST((net.nodes[0].planned.type == NodeType::switch_node));
  BOOST_TEST(net.nodes[0].planned.name == "SW1");
  BOOST_TEST(unsigned{net.nodes[0].planned.ports} == 8u);
  BOOST_TEST(net.nodes[1].line == 6u);
  BOOST_TEST((net.nodes[2].planned.type == NodeType::channel_adapter));
  BOOST_TEST(net.nodes[2].planned.description == "H2");
  BOOST_TEST(unsigned{net.nodes[2].planned.ports} == 2u);
  BOOST_REQUIRE(net.links.size() == 2u);  // each has two lines
  BOOST_TEST((net.links[1].link.one == PortPlace{0, 2}));
  BOOST_TEST((net.links[1].link.other == PortPlace{2, 1}));
  BOOST_TEST((net.links[1].link.width == LinkWidth::x1));
  BOOST_TEST((net.links[1].link.speed == LinkSpeed::sdr));
  BOOST_TEST((net.links[0].link.width == LinkWidth::x12));  // said at its other end
  BOOST_TEST((net.links[0].link.speed == LinkSpeed::fdr));
}

BOOST_AUTO_TEST_CASE(what_ibnetdiscover_writes) {
  const NetFile net = parse_ibsim_net(kDiscovered);
  BOOST_REQUIRE(net.nodes.size() == 2u);
  BOOST_TEST(net.nodes[0].planned.guid.value == 0x200000u);
  BOOST_TEST(net.nodes[0].planned.description == "SW 1");
  BOOST_TEST(net.nodes[1].planned.guid.value == 0x100000u);
  BOOST_TEST(net.nodes[1].planned.description == "host mlx5_0");
  BOOST_REQUIRE(net.links.size() == 1u);
  BOOST_TEST((net.links[0].link.speed == LinkSpeed::fdr));
  BOOST_TEST((net.links[0].link.width == LinkWidth::x4));
}

BOOST_AUTO_TEST_CASE(defaults_of_the_file) {
  const NetFile net = parse_ibsim_net("width=1\nspeed=3\nHca 1 \"H1\"\n\nextspeed=7\nHca 1 \"H2\"\n");
  BOOST_TEST((net.nodes[0].planned.ability.width == LinkWidth::x1));
  BOOST_TEST((net.nodes[0].planned.ability.speed == LinkSpeed::ddr));
  BOOST_TEST((net.nodes[1].planned.ability.speed == LinkSpeed::hdr));
}

BOOST_AUTO_TEST_CASE(errors_name_the_line) {
  struct Row {
    std::string text;
    unsigned line;
    std::string words;
  };
  const Row rows[] = {
      {"", 1, "no Switch and no Hca"},
      {"# nothing\n\n", 2, "no Switch and no Hca"},
      {"Switch 8 \"A\"\n[1] \"B\"[1]\n", 2, "there is no \"B\""},
      {"Switch 8 \"A\"\n\nHca 1 \"A\"\n", 3, "\"A\" already"},
      {"Switch 300 \"A\"\n", 1, "300 ports: allowed are 1 to 254"},
      {"Switch 8 \"A\"\n[0] \"A\"[1]\n", 2, "port 0"},
      {"Switch 8 \"A\"\n[1] A[1]\n", 2, "a port's line is such as"},
      {"[1] \"A\"[1]\n", 1, "follows a Switch or a Hca"},
      {"Switch 8 \"A\"\n\n[1] \"A\"[1]\n", 3, "follows a Switch or a Hca"},
      {"Rt 2 \"R\"\n", 1, "routers"},
      {"Bridge 2 \"R\"\n", 1, "known lines are"},
      {"caguid=zebra\n", 1, "needs a number"},
      {"switchguid=0002c90300a1b2c3\nSwitch 8 \"A\"\n", 1, "a hexadecimal one with 0x before it"},
      {"switchguid=2c90300a1b2c3\nSwitch 8 \"A\"\n", 1, "a hexadecimal one with 0x before it"},
      {"switchguid=0002903000000001\nSwitch 8 \"A\"\n", 1, "a hexadecimal one with 0x before it"},
      {"caguid=0x12345678901234567\nHca 1 \"A\"\n", 1, "needs a number"},
      {"width=4x\nHca 1 \"A\"\n", 1, "needs a number"},
      {"caguid=0x12\nHca 1 \"A\"\n\ncaguid=18 (12)\nHca 1 \"B\"\n", 5, "\"B\" is that of \"A\""},
      {"caguid=0x12\nHca 1 \"A\"\n\nswitchguid=0x12\nSwitch 8 \"B\"\n", 5, "\"B\" is that of \"A\""},
      {"Switch 8 \"A\"\n\nHca 1 \"B\" # \"caf\xC3\xA9\"\n", 3, "printable characters of ASCII"},
      {"Switch 8 \"A\" # \"caf\xE9\"\n", 1, "printable characters of ASCII"},
      {"Switch 8 \"caf\xE9\" # \"cafe\"\n", 1, "printable characters of ASCII"},
      {"width=99\nHca 1 \"A\"\n", 1, "mask from 1 to 15"},
      {"Switch 8 \"A\"\n[1] \"A\"[2] w=3\n", 2, "3 lanes"},
      {"Switch 8 \"\x1b[31m\"\n", 1, "control character"},
      {"# " + std::string(2000, 'x') + "\n", 1, "more than 1000"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      unsigned line = 0;
      std::string problem = "no error";
      try {
        parse_ibsim_net(row.text);
      } catch (const NetFileError& error) {
        line = error.line;
        problem = error.what();
      }
      BOOST_TEST(line == row.line);
      BOOST_TEST_CONTEXT(problem) BOOST_TEST(problem.find(row.words) != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::subnet::test
