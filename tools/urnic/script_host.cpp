#include "tools/urnic/script_host.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "json/json.hpp"
#include "script/language/vocabulary.hpp"
#include "script/live_host/live_host.hpp"
#include "tools/urnic/device_process_start.hpp"
#include "tools/urnic/environment.hpp"
#include "tools/urnic/failure.hpp"
#include "tools/urnic/named_run_directory.hpp"
#include "tools/urnic/subnet_wait.hpp"
#include "trust/access_token.hpp"

namespace urnic::cli {
namespace {

// As the arguments `recovery` and `congestion` of scripts have them.
constexpr std::array<const char*, 4> kRecoveries{"gbn", "selective", "irn", "sack"};
constexpr std::array<const char*, 4> kCongestionControls{"off", "dcqcn", "rtt", "timely"};

wire::MacAddress parse_mac(const std::string& text) {
  std::array<unsigned, 6> bytes{};
  char end = 0;
  const int count = std::sscanf(text.c_str(), "%2x:%2x:%2x:%2x:%2x:%2x%c", &bytes[0], &bytes[1], &bytes[2],
                                &bytes[3], &bytes[4], &bytes[5], &end);
  if (count != 6)
    throw Failure(fmt::format("{} is no MAC address: one is 02:00:00:00:00:99", text), exit_usage);
  wire::MacAddress mac;
  for (std::size_t i = 0; i < bytes.size(); ++i) mac.bytes[i] = static_cast<std::uint8_t>(bytes[i]);
  return mac;
}

wire::Gid parse_gid(const std::string& text) {
  wire::Gid gid;
  if (inet_pton(AF_INET6, text.c_str(), gid.bytes.data()) != 1)
    throw Failure(fmt::format("{} is no GID: one is an IPv6 address, such as ::ffff:192.0.2.1", text),
                  exit_usage);
  return gid;
}

bool is_ipv4(const std::string& gid) { return wire::is_ipv4_mapped(parse_gid(gid)); }

// The device's GID of the same family as the script's.
std::string gid_like(const nlohmann::json& gids, const std::string& script_gid) {
  for (const auto& gid : gids)
    if (gid != "::" && is_ipv4(gid.get<std::string>()) == is_ipv4(script_gid)) return gid.get<std::string>();
  throw Failure(
      fmt::format("the device has no GID of the family of {}: --script-gid names another", script_gid));
}

// A live host that keeps its device process, and its port of the switch, while it exists.
class StationHost final : public script::Host {
 public:
  StationHost(AdminClient admin, std::unique_ptr<script::Host> host)
      : admin_(std::move(admin)), host_(std::move(host)) {}

  bool is_virtual() const override { return false; }
  script::Time now() const override { return host_->now(); }
  std::uint32_t first_qpn() const override { return host_->first_qpn(); }
  wire::NetworkHeaders path_to_device() const override { return host_->path_to_device(); }
  void send(std::span<const script::Bytes> frames) override { host_->send(frames); }
  std::optional<script::SeenFrame> receive() override { return host_->receive(); }
  script::Answer call(const script::Call& call) override { return host_->call(call); }
  void settle() override { host_->settle(); }
  bool step(script::Time until) override { return host_->step(until); }

 private:
  AdminClient admin_;
  std::unique_ptr<script::Host> host_;
};

script::Nanoseconds milliseconds(double count) {
  return std::chrono::duration_cast<script::Nanoseconds>(std::chrono::duration<double, std::milli>(count));
}

wire::NetworkHeaders ethernet_path(const LiveScriptOptions& options, const std::string& device_mac,
                                   const std::string& device_gid) {
  wire::NetworkHeaders path;
  path.source_mac = parse_mac(options.script_mac);
  path.source = parse_gid(options.script_gid);
  path.destination_mac = parse_mac(device_mac);
  path.destination = parse_gid(device_gid);
  path.udp_source = script::kUdpSource;
  return path;
}

wire::Lid lid_of(const nlohmann::json& port) { return {port.at("lid").get<std::uint16_t>()}; }

wire::NetworkHeaders subnet_path(const StationPorts& ports) {
  wire::NetworkHeaders path;
  path.local = {.destination = lid_of(ports.device), .source = lid_of(ports.host)};
  path.source = parse_gid(ports.host.at("gid"));
  path.destination = parse_gid(ports.device.at("gid"));
  return path;
}

std::string word_of(wire::LinkLayer layer) {
  return std::string(script::find_word(script::link_layers(), static_cast<std::uint64_t>(layer)));
}

// The first device with such a link; empty: there is none.
std::string device_with(AdminClient& admin, wire::LinkLayer link_layer) {
  const nlohmann::json status = admin.ask({{"cmd", "status"}});
  for (const auto& device : status.at("devices"))
    if (device.at("link_layer") == word_of(link_layer)) return device.at("name");
  return {};
}

// Whether it is there, another request says.
void check_link(AdminClient& admin, const std::string& name, wire::LinkLayer link_layer) {
  const nlohmann::json status = admin.ask({{"cmd", "status"}});
  for (const auto& device : status.at("devices"))
    if (device.at("name") == name && device.at("link_layer") != word_of(link_layer))
      throw NoSuchLink(fmt::format("its link is {}, and that of {} is {}", word_of(link_layer), name,
                                   device.at("link_layer").get<std::string>()));
}

// The device process that runs, if it has a device with such a link; it stays as long as the connection. One
// that an earlier script has started for another link ends.
std::optional<AdminClient> running_with(const std::filesystem::path& directory,
                                        wire::LinkLayer link_layer) try {
  auto running = AdminClient::connect(directory);
  if (!running) return {};
  if (!device_with(*running, link_layer).empty()) {
    running->ask({{"cmd", "lease"}});
    return running;
  }
  if (make_way(*running)) return {};
  throw NoSuchLink(fmt::format("its link is {}, and the device process has no device with such a link",
                               word_of(link_layer)));
} catch (const ConversationEnded&) {
  return {};
}

AdminClient device_process(const Installation& installation, const std::filesystem::path& directory,
                           wire::LinkLayer link_layer) {
  if (auto running = running_with(directory, link_layer)) return std::move(*running);
  StartOptions start{.run_directory = directory, .configuration = {}, .until_unused = true, .udp = {}};
  start.infiniband = link_layer == wire::LinkLayer::infiniband;
  return connect_or_start(installation, start);
}

// Sets for a queue pair what a script says of its recovery and congestion control.
script::LiveHost::SetPolicies policies_of(const std::filesystem::path& directory, const std::string& device) {
  return [directory, device](std::uint32_t qpn, const script::Call& made_by) {
    const auto set = [&](const char* argument, const std::array<const char*, 4>& words) {
      if (!made_by.has(argument)) return;
      connect_or_fail(directory).ask(
          {{"cmd", "set"}, {"device", device}, {"qp", qpn}, {argument, words.at(made_by.number(argument))}});
    };
    set("recovery", kRecoveries);
    set("congestion", kCongestionControls);
  };
}

}  // namespace

std::unique_ptr<script::Host> LiveScriptHosts::on_a_wire() {
  const LiveScriptOptions& options = options_;
  if (options.agent.empty() || options.device_mac.empty() || options.device_gid.empty())
    throw Failure("--lan needs --agent, --device-mac and --device-gid: who is at the other end", exit_usage);
  if (options.agent_token_file.empty())
    throw Failure(
        "--agent needs --agent-token-file: a copy of the file that urnic-script-agent has as --token-file",
        exit_usage);
  if (wire_ == nullptr) wire_ = script::open_frame_stream(options.lan);
  const wire::NetworkHeaders path = ethernet_path(options, options.device_mac, options.device_gid);
  auto agent =
      std::make_unique<script::AgentConnection>(options.agent, trust::token_in(options.agent_token_file));
  return std::make_unique<script::LiveHost>(wire_, std::move(agent), path, nullptr,
                                            milliseconds(options.settle_ms));
}

std::unique_ptr<script::Host> LiveScriptHosts::make(wire::LinkLayer link_layer) {
  return options_.lan.empty() ? beside_a_device(link_layer) : on_a_wire();
}

std::unique_ptr<script::Host> LiveScriptHosts::beside_a_device(wire::LinkLayer link_layer) const {
  const LiveScriptOptions& options = options_;
  const Installation installation = find_installation();
  const std::filesystem::path directory = named_run_directory(options.name);
  AdminClient admin = device_process(installation, directory, link_layer);
  const std::string device = options.device.empty() ? device_with(admin, link_layer) : options.device;
  check_link(admin, device, link_layer);
  const nlohmann::json answer = admin.ask({{"cmd", "station"},
                                           {"device", device},
                                           {"mac", options.script_mac},
                                           {"gid", options.script_gid},
                                           {"host", options.script_host}});
  std::vector<memory::Descriptor> descriptors = admin.take_descriptors();
  if (descriptors.size() != 1) throw Failure("the device process has handed out no port");

  wire::NetworkHeaders path;
  std::vector<std::string> agent{installation.script_agent, "--device", device};
  if (link_layer == wire::LinkLayer::infiniband) {
    const StationPorts ports = wait_for_station(admin, directory, device, options.script_host);
    path = subnet_path(ports);
    agent.insert(agent.end(), {"--gid", ports.device.at("gid"), "--peer", ports.host.at("gid"), "--peer-lid",
                               std::to_string(path.local->source.value)});
  } else {
    const std::string gid = gid_like(answer.at("gids"), options.script_gid);
    path = ethernet_path(options, answer.at("mac"), gid);
    agent.insert(agent.end(), {"--gid", gid, "--peer", options.script_gid});
  }
  auto host = std::make_unique<script::LiveHost>(
      std::make_shared<script::FrameMessages>(std::move(descriptors[0])),
      std::make_unique<script::AgentConnection>(agent, program_environment(installation, directory)), path,
      policies_of(directory, device), milliseconds(options.settle_ms));
  return std::make_unique<StationHost>(std::move(admin), std::move(host));
}

}  // namespace urnic::cli
