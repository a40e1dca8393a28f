// Where the parts of this urnic are: found relative to the running `urnic`, so that an installed tree works
// from any prefix and a build tree works in place.
#pragma once

#include <filesystem>

namespace urnic::cli {

struct Installation {
  std::filesystem::path device_process;    // urnicd
  std::filesystem::path kernel_stand_in;   // liburnic-kernel.so
  std::filesystem::path provider;          // liburnic-rdmav34.so
  std::filesystem::path provider_setting;  // the provider as RDMAV_DRIVERS wants it, without "-rdmav34.so"
};

// Throws Failure, naming the missing file, if the tree is not whole.
Installation find_installation();

}  // namespace urnic::cli
