// The character devices of the run directory, as sysfs shows them to programs: both answers are the same.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace urnic::control::netlink {

struct CharacterNode {
  std::string type;      // "uverbs", "umad", "rdma_cm"
  std::string name;      // in /dev/infiniband
  std::string device;    // "urnic0"; empty: of no device
  std::uint64_t number;  // as Linux packs device numbers into 64 bits
  std::uint64_t abi;
};

class CharacterNodes {
 public:
  CharacterNodes() = default;
  // Reads the class folders below `sysfs`; a node whose files are missing is left out.
  explicit CharacterNodes(const std::filesystem::path& sysfs);

  void add(CharacterNode node) { nodes_.push_back(std::move(node)); }
  // Null: there is none. `device` is empty for a node of no device.
  const CharacterNode* find(std::string_view type, std::string_view device) const;

 private:
  std::vector<CharacterNode> nodes_;
};

}  // namespace urnic::control::netlink
