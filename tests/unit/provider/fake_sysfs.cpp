#include <filesystem>
#include <fstream>

#include "tests/unit/provider/fake_device.hpp"

namespace urnic::test {

void write_fake_sysfs(const std::string& directory) {
  const auto write = [&](const std::string& path, const char* text) {
    const std::filesystem::path file = std::filesystem::path(directory) / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  };
  write("class/infiniband_verbs/abi_version", "6");
  write("class/infiniband_verbs/uverbs0/ibdev", "urnic_fake");
  write("class/infiniband_verbs/uverbs0/dev", "231:192");
  write("class/infiniband_verbs/uverbs0/abi_version", "1");
  write("class/infiniband/urnic_fake/node_type", "1: CA");
  write("class/infiniband/urnic_fake/node_guid", "0200:00ff:fe00:0001");
}

}  // namespace urnic::test
