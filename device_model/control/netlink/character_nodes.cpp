#include "device_model/control/netlink/character_nodes.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <system_error>

namespace urnic::control::netlink {
namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> read_number(const fs::path& file) {
  std::ifstream stream(file);
  std::uint64_t value = 0;
  return stream >> value ? std::optional(value) : std::nullopt;
}

// Of a file with the text MAJOR:MINOR: as the kernel's huge_encode_dev has it.
std::optional<std::uint64_t> read_device_number(const fs::path& file) {
  std::ifstream stream(file);
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  char colon = 0;
  if (!(stream >> major >> colon >> minor)) return std::nullopt;
  return (minor & 0xff) | major << 8 | (minor & ~std::uint64_t{0xff}) << 12;
}

std::string read_word(const fs::path& file) {
  std::ifstream stream(file);
  std::string word;
  stream >> word;
  return word;
}

// uverbs nodes have an ABI each, the provider's; umad nodes have one in common.
std::uint64_t read_abi(const fs::path& folder) {
  if (const auto own = read_number(folder / "abi_version")) return *own;
  return read_number(folder.parent_path() / "abi_version").value_or(0);
}

}  // namespace

CharacterNodes::CharacterNodes(const fs::path& sysfs) {
  const auto add_node = [this](const char* type, const fs::path& folder, std::string device) {
    if (const auto number = read_device_number(folder / "dev"))
      add({type, folder.filename(), std::move(device), *number, read_abi(folder)});
  };
  const fs::path classes = sysfs / "class";
  for (const auto& [type, name] :
       {std::pair{"uverbs", "infiniband_verbs"}, std::pair{"umad", "infiniband_mad"}}) {
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(classes / name, missing)) {
      const fs::path& folder = entry.path();
      if (folder.filename().string().starts_with(type)) add_node(type, folder, read_word(folder / "ibdev"));
    }
  }
  add_node("rdma_cm", classes / "misc" / "rdma_cm", "");
}

const CharacterNode* CharacterNodes::find(std::string_view type, std::string_view device) const {
  const auto found = std::find_if(nodes_.begin(), nodes_.end(), [&](const CharacterNode& node) {
    return node.type == type && node.device == device;
  });
  return found == nodes_.end() ? nullptr : &*found;
}

}  // namespace urnic::control::netlink
