#include "device_model/subnet/ibsim_net.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <string_view>

namespace urnic::subnet {
namespace {

using wire::mad::Guid;
using wire::mad::NodeType;

constexpr const char* kKnownLines =
    "Switch PORTS \"ID\", Hca PORTS \"ID\", [PORT] \"ID\"[PORT], switchguid=, caguid=, vendid=, devid=, "
    "sysimgguid=, width=, speed=, extspeed=, and comments, which begin with #";

constexpr std::size_t kLongestLine = 1000;

// A port's line, whose other end may come later.
struct PortLine {
  unsigned line;
  PortPlace own;
  std::string peer;
  PortNumber peer_port;
  PlannedLink ability;
};

constexpr const char* kNumberRule = "it needs a number, a hexadecimal one with 0x before it";

// Behind it may be what ibnetdiscover writes there: the same in parentheses. A number that begins with 0 is a
// hexadecimal one without its 0x, or an octal one.
std::optional<std::uint64_t> number_in(std::string_view text) {
  const bool is_hexadecimal = text.starts_with("0x");
  if (is_hexadecimal) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, is_hexadecimal ? 16 : 10);
  if (read.ec != std::errc{}) return {};
  const auto digits = static_cast<std::size_t>(read.ptr - text.data());
  const std::size_t behind = text.find_first_not_of(" \t", digits);
  if (behind != std::string_view::npos && text[behind] != '(') return {};
  if (!is_hexadecimal && digits > 1 && text.starts_with('0')) return {};
  return value;
}

class Reader {
 public:
  NetFile read(const std::string& text) {
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      ++line_;
      if (!line.empty() && line.back() == '\r') line.pop_back();
      read_line(line);
    }
    if (file_.nodes.empty()) throw NetFileError(std::max(line_, 1u), "there is no Switch and no Hca in it");
    for (const PortLine& port : ports_) connect(port);
    return std::move(file_);
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const { throw NetFileError(line_, problem); }

  // The expressions below need memory by the length of a line.
  void check_line(const std::string& line) const {
    if (line.size() > kLongestLine)
      fail("a line of more than " + std::to_string(kLongestLine) + " characters");
    const bool is_text = std::none_of(line.begin(), line.end(), [](char letter) {
      return (letter >= 0 && letter < ' ' && letter != '\t') || letter == '\x7F';
    });
    if (!is_text) fail("a control character, which is not allowed");
  }

  void read_line(const std::string& line) {
    check_line(line);
    if (line.find_first_not_of(" \t") == std::string::npos) {
      is_in_node_ = false;
    } else if (line[0] == '[') {
      read_port(line);
    } else if (line[0] != '#') {
      is_in_node_ = read_node(line);
      if (!is_in_node_ && !read_assignment(line)) fail("\"" + line + "\": known lines are " + kKnownLines);
    }
  }

  // Type, number of ports, "node ID", and perhaps # "description".
  bool read_node(const std::string& line) {
    static const std::regex form(
        R"re((Switch|Hca|Ca|Rt)\s+(\d{1,9})\s+"([^"]+)"[^#]*(?:#\s*"([^"]*)")?.*)re");
    std::smatch found;
    if (!std::regex_match(line, found, form)) return false;
    if (found[1] == "Rt") fail("routers are not known here: a fabric has switches and adapters");
    PlannedNode node;
    node.type = found[1] == "Switch" ? NodeType::switch_node : NodeType::channel_adapter;
    node.name = found[3];
    node.description = found[4].matched ? found[4].str() : node.name;
    if (!is_printable(node.name) || !is_printable(node.description))
      fail("a node's ID and description have printable characters of ASCII only");
    const auto ports = std::stoul(found[2]);
    if (ports < 1 || ports > kMostSwitchPorts)
      fail("\"" + node.name + "\" has " + found[2].str() + " ports: allowed are 1 to " +
           std::to_string(kMostSwitchPorts));
    node.ports = static_cast<PortNumber>(ports);
    if (node.description.size() > kLongestDescription) node.description.resize(kLongestDescription);
    node.ability = ability_;
    Guid& next = node.type == NodeType::switch_node ? switch_guid_ : adapter_guid_;
    std::swap(node.guid, next);
    check_unique(node);
    file_.nodes.push_back({line_, std::move(node)});
    return true;
  }

  void check_unique(const PlannedNode& node) {
    if (!by_name_.emplace(node.name, static_cast<NodeIndex>(file_.nodes.size())).second)
      fail("there is a \"" + node.name + "\" already");
    if (node.guid.value == 0) return;  // the plan gives it one
    const auto [owner, is_new] = by_guid_.emplace(node.guid.value, node.name);
    if (!is_new) fail("the GUID of \"" + node.name + "\" is that of \"" + owner->second + "\"");
  }

  // The file's numbers are masks, as PortInfo has them.
  bool read_assignment(const std::string& line) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) return false;
    const std::string key = line.substr(0, equals);
    const auto value = number_in(std::string_view(line).substr(equals + 1));
    if (key == "vendid" || key == "devid" || key == "sysimgguid") return true;
    if (key != "switchguid" && key != "caguid" && key != "hcaguids" && key != "width" && key != "speed" &&
        key != "extspeed")
      return false;
    if (!value || (*value == 0 && key != "extspeed")) fail("\"" + line + "\": " + kNumberRule);
    if (key == "switchguid") switch_guid_ = {*value};
    if (key == "caguid" || key == "hcaguids") adapter_guid_ = {*value};
    if (key == "width") ability_.width = width_of_mask(*value);
    if (key == "speed") ability_.speed = speed_of_masks(*value, 0);
    if (key == "extspeed" && *value != 0) ability_.speed = speed_of_masks(0, *value);
    return true;
  }

  void read_port(const std::string& line) {
    if (!is_in_node_) fail("a port's line follows a Switch or a Hca; there is none before this line");
    static const std::regex form(
        R"re(\[(\d{1,3})\](?:\([0-9a-fA-F]*\))?\s*"([^"]+)"\s*(?:\[(\d{1,3})\])?([^#]*)(?:#(.*))?)re");
    std::smatch found;
    if (!std::regex_match(line, found, form))
      fail("\"" + line + "\": a port's line is such as [1] \"S1\"[2], with the other end's node ID and port");
    PortLine port{.line = line_, .own = {}, .peer = found[2], .peer_port = 1, .ability = {}};
    port.own = {static_cast<NodeIndex>(file_.nodes.size() - 1), port_number(found[1])};
    if (found[3].matched) port.peer_port = port_number(found[3]);
    port.ability = ability_in(found[4], found[5]);
    ports_.push_back(std::move(port));
  }

  PortNumber port_number(const std::string& digits) const {
    const auto number = std::stoul(digits);
    if (number < 1 || number > kMostSwitchPorts)
      fail("port " + digits + ": allowed are 1 to " + std::to_string(kMostSwitchPorts));
    return static_cast<PortNumber>(number);
  }

  // Options such as w=4; or what ibnetdiscover writes at the end of its comment: 4xQDR.
  PlannedLink ability_in(const std::string& options, const std::string& comment) const {
    PlannedLink link;
    static const std::regex option(R"re(\b([wse])=(\w+))re");
    std::uint64_t speed = 0, extended = 0;
    for (std::sregex_iterator each(options.begin(), options.end(), option), end; each != end; ++each) {
      const auto value = number_in((*each)[2].str());
      if (!value) fail("\"" + each->str() + "\": " + kNumberRule);
      if ((*each)[1] == "w") link.width = width_of_lanes(*value);
      if ((*each)[1] == "s") speed = *value;
      if ((*each)[1] == "e") extended = *value;
    }
    if (speed != 0 || extended != 0) link.speed = speed_of_masks(speed, extended);
    static const std::regex written(R"re(.*\b(\d{1,2})x(\w+)\s*)re");
    std::smatch found;
    if (!std::regex_match(comment, found, written)) return link;
    const auto known = std::find(kLinkSpeedNames.begin(), kLinkSpeedNames.end(), found[2].str());
    if (known == kLinkSpeedNames.end()) return link;  // a comment after all
    link.width = width_of_lanes(std::stoul(found[1]));
    link.speed = static_cast<LinkSpeed>(known - kLinkSpeedNames.begin());
    return link;
  }

  LinkWidth width_of_lanes(std::uint64_t lanes) const {
    for (const LinkWidth width : {LinkWidth::x1, LinkWidth::x4, LinkWidth::x8, LinkWidth::x12})
      if (lanes_of(width) == lanes) return width;
    fail("a link of " + std::to_string(lanes) + " lanes: allowed are 1, 4, 8 and 12");
  }

  LinkWidth width_of_mask(std::uint64_t mask) const {
    if (mask > 15)
      fail("width=" + std::to_string(mask) + ": allowed is a mask from 1 to 15: 1x, 4x, 8x, 12x");
    return static_cast<LinkWidth>(std::bit_width(mask) - 1);
  }

  LinkSpeed speed_of_masks(std::uint64_t speed, std::uint64_t extended) const {
    if (speed > 7 || extended > 15)
      fail(
          "speeds are masks: allowed are 1 to 7 (SDR, DDR, QDR), and of extended ones 1 to 15 (FDR, EDR, "
          "HDR, NDR)");
    return static_cast<LinkSpeed>(extended != 0 ? std::bit_width(extended) + 2 : std::bit_width(speed) - 1);
  }

  // A line says what its own port can do; the link can do what both can.
  static void lower(PlannedLink& link, const PlannedLink& other) {
    if (other.width) link.width = std::min(link.width.value_or(*other.width), *other.width);
    if (other.speed) link.speed = std::min(link.speed.value_or(*other.speed), *other.speed);
  }

  // Each link has a line at both its ends, or at one of them.
  void connect(const PortLine& port) {
    line_ = port.line;
    const auto peer = by_name_.find(port.peer);
    if (peer == by_name_.end()) fail("there is no \"" + port.peer + "\" in the file");
    PlannedLink link = port.ability;
    link.one = port.own;
    link.other = {peer->second, port.peer_port};
    const auto known = said_.find({link.other.node, link.other.port, link.one.node, link.one.port});
    if (known != said_.end()) return lower(file_.links[known->second].link, link);
    said_[{link.one.node, link.one.port, link.other.node, link.other.port}] = file_.links.size();
    file_.links.push_back({port.line, link});
  }

  unsigned line_ = 0;
  bool is_in_node_ = false;
  NetFile file_;
  std::vector<PortLine> ports_;
  std::map<std::string, NodeIndex> by_name_;
  std::map<std::uint64_t, std::string> by_guid_;  // names
  // Places in `file_.links`, by node and port of the end whose line came first, then of the other.
  std::map<std::array<std::uint32_t, 4>, std::size_t> said_;
  Guid switch_guid_;   // of the next switch; zero: none said
  Guid adapter_guid_;  // of the next adapter
  LinkAbility ability_;
};

}  // namespace

NetFile parse_ibsim_net(const std::string& text) { return Reader().read(text); }

}  // namespace urnic::subnet
