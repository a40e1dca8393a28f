#include "tools/urnic/subnet_wait.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "device_model/abi/run_directory_layout.hpp"
#include "json/json.hpp"
#include "tools/urnic/progress.hpp"

namespace urnic::cli {
namespace {

using namespace std::chrono_literals;

// opensm takes about a second for two ports, and a few for hundreds, but processors may be busy.
std::chrono::milliseconds patience_for(const nlohmann::json& subnet) {
  return 10s + 100ms * subnet.at("ports").size();
}

nlohmann::json ask_subnet(AdminClient& client) { return client.ask({{"cmd", "subnet"}}).at("subnet"); }

// Where to look when opensm does not do as it should.
std::string log_of(const nlohmann::json& subnet, const std::filesystem::path& run_directory) {
  const bool is_opensm = subnet.at("manager") == "opensm";
  return (is_opensm ? run_directory / abi::kOpensmFolder / abi::kOpensmLog : run_directory / abi::kLogFile)
      .string();
}

std::string ports_that_wait(const nlohmann::json& subnet) {
  constexpr std::size_t kNamed = 8;
  std::string text;
  std::size_t waiting = 0;
  for (const auto& port : subnet.at("ports")) {
    if (port.at("state") == "active" || ++waiting > kNamed) continue;
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", port.at("device").get<std::string>(),
                        port.at("state").get<std::string>());
  }
  return waiting > kNamed ? fmt::format("{} and {} more", text, waiting - kNamed) : text;
}

bool is_active(const nlohmann::json& port) { return port.at("state") == "active"; }

bool has_manager(const nlohmann::json& subnet) {
  return subnet.at("state") != "none" || subnet.at("program_manages").get<bool>();
}

// The port of that name.
nlohmann::json named(const nlohmann::json& ports, const char* member, const std::string& name) {
  for (const auto& port : ports)
    if (port.at(member) == name) return port;
  throw Failure(fmt::format("the device process does not tell of the port of {}", name));
}

// What to do about ports that are not active.
std::string cure_of(const nlohmann::json& subnet, const StationPorts& ports,
                    const std::filesystem::path& run_directory) {
  for (const auto& port : {ports.device, ports.host})
    if (port.at("state") == "down")
      return "a link is down: 'urnic link set NAME state=up' plugs its cable in, where NAME is the device or "
             "SWITCH:PORT";
  if (!has_manager(subnet))
    return "the fabric has no subnet manager: set subnet_manager in the configuration, or start opensm "
           "(docs/infiniband.md)";
  return "see " + log_of(subnet, run_directory);
}

}  // namespace

std::string wait_for_active_ports(AdminClient& client, const std::filesystem::path& run_directory,
                                  const std::function<bool()>& is_over) {
  const Progress progress("waiting for the subnet manager");
  const auto begin = std::chrono::steady_clock::now();
  while (!is_over()) {
    const nlohmann::json subnet = ask_subnet(client);
    const auto state = subnet.at("state").get<std::string>();
    if (state == "none" || subnet.at("brought_up").get<bool>()) return {};
    if (state == "ended")
      return fmt::format("opensm has ended, and these ports are not active: {} ({}): see {}",
                         ports_that_wait(subnet), subnet.at("problem").get<std::string>(),
                         log_of(subnet, run_directory));
    const auto patience = patience_for(subnet);
    if (std::chrono::steady_clock::now() > begin + patience)
      return fmt::format("the subnet manager has not made these ports active within {} s: {}: see {}",
                         std::chrono::ceil<std::chrono::seconds>(patience).count(), ports_that_wait(subnet),
                         log_of(subnet, run_directory));
    std::this_thread::sleep_for(20ms);
  }
  return {};
}

StationPorts wait_for_station(AdminClient& client, const std::filesystem::path& run_directory,
                              const std::string& device, const std::string& host) {
  const Progress progress("waiting for the subnet manager");
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    const nlohmann::json subnet = ask_subnet(client);
    StationPorts ports{named(subnet.at("ports"), "device", device),
                       named(subnet.at("stations"), "host", host)};
    if (is_active(ports.device) && is_active(ports.host)) return ports;
    const auto patience = has_manager(subnet) ? patience_for(subnet) : 3s;
    if (std::chrono::steady_clock::now() > begin + patience)
      throw Failure(fmt::format("the ports of {} ({}) and of the script's host {} ({}) have to be active: {}",
                                device, ports.device.at("state").get<std::string>(), host,
                                ports.host.at("state").get<std::string>(),
                                cure_of(subnet, ports, run_directory)));
    std::this_thread::sleep_for(20ms);
  }
}

void tell_of_built_in_manager(AdminClient& client) {
  if (ask_subnet(client).at("manager") != "built_in") return;
  fmt::print(
      stderr,
      "urnic: opensm is not installed, so the built-in subnet manager gives out LIDs and routes; nobody "
      "answers queries of subnet administration (no path records, no multicast joins)\n");
}

std::string subnet_line(const nlohmann::json& subnet) {
  const auto manager = subnet.at("manager").get<std::string>();
  const auto state = subnet.at("state").get<std::string>();
  std::size_t active = 0;
  for (const auto& port : subnet.at("ports"))
    if (port.at("state") == "active") ++active;
  std::string who = "no subnet manager of its own";
  if (manager == "opensm" && state == "running")
    who = fmt::format("subnet manager opensm (pid {})", subnet.at("pid").get<long>());
  else if (manager == "opensm" && state == "ended")
    who = fmt::format("subnet manager opensm has ended: {}", subnet.at("problem").get<std::string>());
  else if (manager == "opensm")
    who = "subnet manager opensm is starting";
  else if (manager == "built_in")
    who = "subnet manager built in";
  if (manager != "opensm" && subnet.at("program_manages").get<bool>())
    who += ", a program manages the fabric";
  const auto& deadlock = subnet.at("deadlock");
  return fmt::format("InfiniBand fabric: {}; {} of {} ports active{}", who, active, subnet.at("ports").size(),
                     deadlock.is_null() ? "" : "; a deadlock: " + deadlock.get<std::string>());
}

}  // namespace urnic::cli
