#include "device_model/control/sysfs/port_files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/fabric/local_identifiers.hpp"
#include "device_model/control/fabric/port_rate.hpp"
#include "device_model/control/fabric/udp_wire.hpp"

namespace urnic::control {
namespace {

namespace fs = std::filesystem;

// A file's contents while the port's link is up, and while it is cut.
struct StateFile {
  const char* name;
  const char* up;
  const char* down;
};
constexpr StateFile kStateFiles[] = {{"state", "4: ACTIVE", "1: DOWN"},
                                     {"phys_state", "5: LinkUp", "2: Polling"}};

std::string gid_text(const wire::Gid& gid) {
  std::string text;
  for (std::size_t i = 0; i < gid.bytes.size(); i += 2) {
    text += fmt::format("{}{:02x}{:02x}", i == 0 ? "" : ":", gid.bytes[i], gid.bytes[i + 1]);
  }
  return text;
}

// Of an empty place there is none: reading it fails (drivers/infiniband/core/sysfs.c, _show_port_gid_attr).
std::string type_text(const wire::Gid& gid, LinkLayer layer = LinkLayer::ethernet) {
  if (gid == wire::Gid{}) return "";
  return layer == LinkLayer::infiniband ? "IB/RoCE v1" : "RoCE v2";
}

constexpr const char* kStates[] = {"NOP", "DOWN", "INIT", "ARMED", "ACTIVE"};
constexpr const char* kPhysicalStates[] = {
    "<unknown>",         "Sleep",   "Polling", "Disabled", "PortConfigurationTraining", "LinkUp",
    "LinkErrorRecovery", "Phy Test"};

std::string state_text(const PortRecord& record) {
  return fmt::format("{}: {}", record.state, kStates[record.state % std::size(kStates)]);
}

std::string physical_text(const PortRecord& record) {
  return fmt::format("{}: {}", record.physical_state,
                     kPhysicalStates[record.physical_state % std::size(kPhysicalStates)]);
}

// The files that the subnet manager changes, with what is in them.
std::vector<std::pair<fs::path, std::string>> managed_files(const PortRecord& record) {
  std::vector<std::pair<fs::path, std::string>> files{
      {"state", state_text(record)},
      {"phys_state", physical_text(record)},
      {"lid", fmt::format("0x{:x}", record.lid)},
      {"lid_mask_count", std::to_string(record.lmc)},
      {"sm_lid", fmt::format("0x{:x}", record.manager_lid)},
      {"sm_sl", std::to_string(record.manager_sl)},
      {"rate", rate_text(record.rate)},
      {"cap_mask", fmt::format("0x{:08x}", record.capabilities)}};
  for (std::size_t i = 0; i < record.pkeys.size(); ++i)
    files.emplace_back(fs::path("pkeys") / std::to_string(i), fmt::format("0x{:04x}", record.pkeys[i]));
  for (std::size_t i = 0; i < record.gids.size(); ++i) {
    files.emplace_back(fs::path("gids") / std::to_string(i), gid_text(record.gids[i]));
    files.emplace_back(fs::path("gid_attrs") / "types" / std::to_string(i),
                       type_text(record.gids[i], record.link_layer));
  }
  return files;
}

// Atomic for readers. Writes the new file where no program lists files.
void replace_file(const fs::path& port, const fs::path& file, const std::string& text) {
  const fs::path fresh = port / ".new";
  write_file(fresh, text);
  fs::rename(fresh, file);
}

}  // namespace

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  if (!text.empty()) file << text << '\n';
  file.close();
  if (!file)
    throw fs::filesystem_error("cannot be written", path, std::error_code(errno, std::generic_category()));
}

void write_port_files(const fs::path& port, const Fabric& fabric, const ServedDevice& device) {
  PortRecord record = port_record_when_up(fabric, device);
  const LinkLayer layer = record.link_layer;
  if (layer == LinkLayer::ethernet) record.lid = local_identifier(device);
  write_file(port / "link_layer", layer == LinkLayer::infiniband ? "InfiniBand" : "Ethernet");
  fs::create_directories(port / "pkeys");

  // Without a network interface `ndevs` is left out: it would have to name an existing one.
  fs::create_directories(port / "gids");
  fs::create_directories(port / "gid_attrs" / "types");
  for (std::uint32_t i = 0; i < limits::kGidTableLength; ++i) {
    const std::string index = std::to_string(i);
    const wire::Gid gid = i < record.gids.size() ? record.gids[i] : wire::Gid{};
    write_file(port / "gids" / index, gid_text(gid));
    write_file(port / "gid_attrs" / "types" / index, type_text(gid, layer));
  }
  for (const auto& [file, text] : managed_files(record)) write_file(port / file, text);
  if (interface_of(device, 0) == nullptr) return;
  fs::create_directories(port / "gid_attrs" / "ndevs");
  for (std::size_t i = 0; i < record.gids.size(); ++i)
    write_file(port / "gid_attrs" / "ndevs" / std::to_string(i), interface_of(device, i)->name);
}

void show_port_state(const fs::path& port, bool up) {
  for (const StateFile& file : kStateFiles) replace_file(port, port / file.name, up ? file.up : file.down);
}

// A manager writes to each port several times, and changes little.
void show_infiniband_port(const fs::path& port, const PortRecord& shown, const PortRecord& record) {
  const auto before = managed_files(shown);
  const auto now = managed_files(record);
  for (std::size_t i = 0; i < now.size(); ++i)
    if (before.size() != now.size() || before[i] != now[i])
      replace_file(port, port / now[i].first, now[i].second);
}

void show_gid(const fs::path& port, std::size_t index, const wire::Gid& gid) {
  replace_file(port, port / "gids" / std::to_string(index), gid_text(gid));
  replace_file(port, port / "gid_attrs" / "types" / std::to_string(index), type_text(gid));
}

void show_interface(const fs::path& port, std::size_t index, const std::string& name) {
  replace_file(port, port / "gid_attrs" / "ndevs" / std::to_string(index), name);
}

}  // namespace urnic::control
