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
#include "script/live_host/live_host.hpp"
#include "tools/urnic/device_process_start.hpp"
#include "tools/urnic/environment.hpp"
#include "tools/urnic/failure.hpp"
#include "tools/urnic/named_run_directory.hpp"
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
  const script::LivePath path{parse_mac(options.script_mac), parse_gid(options.script_gid),
                              parse_mac(options.device_mac), parse_gid(options.device_gid)};
  auto agent =
      std::make_unique<script::AgentConnection>(options.agent, trust::token_in(options.agent_token_file));
  return std::make_unique<script::LiveHost>(wire_, std::move(agent), path, nullptr,
                                            milliseconds(options.settle_ms));
}

std::unique_ptr<script::Host> LiveScriptHosts::make() {
  return options_.lan.empty() ? beside_a_device() : on_a_wire();
}

std::unique_ptr<script::Host> LiveScriptHosts::beside_a_device() const {
  const LiveScriptOptions& options = options_;
  const Installation installation = find_installation();
  const std::filesystem::path directory = named_run_directory(options.name);
  AdminClient admin = connect_or_start(installation, {directory, {}, true, {}});
  nlohmann::json request{{"cmd", "station"}, {"mac", options.script_mac}, {"gid", options.script_gid}};
  if (!options.device.empty()) request["device"] = options.device;
  const nlohmann::json answer = admin.ask(request);
  std::vector<memory::Descriptor> descriptors = admin.take_descriptors();
  if (descriptors.size() != 1) throw Failure("the device process has handed out no port");

  const std::string device = answer.at("device");
  const std::string gid = gid_like(answer.at("gids"), options.script_gid);
  const script::LivePath path{parse_mac(options.script_mac), parse_gid(options.script_gid),
                              parse_mac(answer.at("mac")), parse_gid(gid)};
  auto agent = std::make_unique<script::AgentConnection>(
      std::vector<std::string>{installation.script_agent, "--device", device, "--gid", gid, "--peer",
                               options.script_gid},
      program_environment(installation, directory));
  const auto set_policies = [directory, device](std::uint32_t qpn, const script::Call& made_by) {
    const auto set = [&](const char* argument, const std::array<const char*, 4>& words) {
      if (!made_by.has(argument)) return;
      connect_or_fail(directory).ask(
          {{"cmd", "set"}, {"device", device}, {"qp", qpn}, {argument, words.at(made_by.number(argument))}});
    };
    set("recovery", kRecoveries);
    set("congestion", kCongestionControls);
  };
  auto host = std::make_unique<script::LiveHost>(
      std::make_shared<script::FrameMessages>(std::move(descriptors[0])), std::move(agent), path,
      set_policies, milliseconds(options.settle_ms));
  return std::make_unique<StationHost>(std::move(admin), std::move(host));
}

}  // namespace urnic::cli
