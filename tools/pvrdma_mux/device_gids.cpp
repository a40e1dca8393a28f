#include "tools/pvrdma_mux/device_gids.hpp"

#include <arpa/inet.h>

#include <utility>

#include "json/json.hpp"

namespace urnic::pvrdma_mux {

std::string to_text(const wire::Gid& gid) {
  char written[INET6_ADDRSTRLEN] = {};
  inet_ntop(AF_INET6, gid.bytes.data(), written, sizeof written);
  return written;
}

DeviceGids::DeviceGids(const std::filesystem::path& run_directory, std::string device)
    : client_(cli::connect_or_fail(run_directory)), device_(std::move(device)) {
  ask();
}

std::map<std::uint8_t, wire::Gid> DeviceGids::ask(const char* change, const wire::Gid& gid) {
  nlohmann::json request{{"cmd", "gid"}, {"device", device_}};
  if (change != nullptr) request[change] = to_text(gid);
  const nlohmann::json answer = client_.ask(request);
  std::map<std::uint8_t, wire::Gid> table;
  for (const auto& [index, listed] : answer.at("gids").at(device_).items()) {
    wire::Gid read;
    if (inet_pton(AF_INET6, listed.get<std::string>().c_str(), read.bytes.data()) == 1)
      table[static_cast<std::uint8_t>(std::stoi(index))] = read;
  }
  return table;
}

void DeviceGids::add(const wire::Gid& gid) {
  if (index(gid)) return;
  ask("add", gid);
  added_.insert(gid);
}

void DeviceGids::remove(const wire::Gid& gid) {
  if (added_.erase(gid) == 0) return;
  try {
    ask("remove", gid);
  } catch (const cli::RequestRefused&) {  // it has gone already
  }
}

std::optional<std::uint8_t> DeviceGids::index(const wire::Gid& gid) {
  for (const auto& [index, listed] : ask())
    if (listed == gid) return index;
  return {};
}

std::optional<wire::Gid> DeviceGids::at(std::uint8_t index) {
  const auto table = ask();
  const auto found = table.find(index);
  if (found == table.end()) return {};
  return found->second;
}

}  // namespace urnic::pvrdma_mux
