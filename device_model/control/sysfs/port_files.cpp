#include "device_model/control/sysfs/port_files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/fabric/local_identifiers.hpp"
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
std::string type_text(const wire::Gid& gid) { return gid == wire::Gid{} ? "" : "RoCE v2"; }

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

void write_port_files(const fs::path& port, const ServedDevice& device) {
  const DeviceSettings& settings = device.settings;
  for (const StateFile& file : kStateFiles) write_file(port / file.name, file.up);
  write_file(port / "rate", limits::kPortRate);
  write_file(port / "link_layer", "Ethernet");
  write_file(port / "lid", fmt::format("0x{:x}", local_identifier(device)));
  write_file(port / "lid_mask_count", "0");
  write_file(port / "sm_lid", "0x0");
  write_file(port / "sm_sl", "0");
  write_file(port / "cap_mask", fmt::format("0x{:08x}", limits::kPortFlags));
  fs::create_directories(port / "pkeys");
  write_file(port / "pkeys" / "0", "0xffff");

  // Without a network interface `ndevs` is left out: it would have to name an existing one.
  fs::create_directories(port / "gids");
  fs::create_directories(port / "gid_attrs" / "types");
  for (std::uint32_t i = 0; i < limits::kGidTableLength; ++i) {
    const std::string index = std::to_string(i);
    const wire::Gid gid = i < settings.gids.size() ? settings.gids[i] : wire::Gid{};
    write_file(port / "gids" / index, gid_text(gid));
    write_file(port / "gid_attrs" / "types" / index, type_text(gid));
  }
  if (interface_of(device, 0) == nullptr) return;
  fs::create_directories(port / "gid_attrs" / "ndevs");
  for (std::size_t i = 0; i < settings.gids.size(); ++i)
    write_file(port / "gid_attrs" / "ndevs" / std::to_string(i), interface_of(device, i)->name);
}

void show_port_state(const fs::path& port, bool up) {
  for (const StateFile& file : kStateFiles) replace_file(port, port / file.name, up ? file.up : file.down);
}

void show_gid(const fs::path& port, std::size_t index, const wire::Gid& gid) {
  replace_file(port, port / "gids" / std::to_string(index), gid_text(gid));
  replace_file(port, port / "gid_attrs" / "types" / std::to_string(index), type_text(gid));
}

void show_interface(const fs::path& port, std::size_t index, const std::string& name) {
  replace_file(port, port / "gid_attrs" / "ndevs" / std::to_string(index), name);
}

}  // namespace urnic::control
