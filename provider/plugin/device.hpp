// A device as the library has it.
#pragma once

#include "provider/plugin/library/library.hpp"
#include "provider/private_abi.hpp"

namespace urnic::provider {

struct Device {
  private_abi::Device verbs;  // first: the library hands out its address
  const Library* library;     // that asked for this device
};

inline const Library& library_of(const ibv_device* device) {
  return *reinterpret_cast<const Device*>(device)->library;
}

}  // namespace urnic::provider
