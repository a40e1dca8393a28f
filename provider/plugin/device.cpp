// Registers this provider with libibverbs and tells it how to recognise urnic's devices.
#include "provider/plugin/device.hpp"

#include <cstdint>
#include <utility>

#include "provider/freestanding/allocation.hpp"
#include "provider/plugin/connection/verbs_context.hpp"
#include "provider/plugin/errno_rule.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {
namespace {

Library libraries[kMostLibraries];

// One function per library: the library tells it nothing by which it could tell the libraries apart.
template <std::size_t library>
private_abi::Device* allocate_device(private_abi::SysfsDevice*) {
  auto* device = create_object<Device>();
  if (device == nullptr) return nullptr;
  device->verbs.core_support = private_abi::kOptionalMrAccess;
  device->library = &libraries[library];
  return &device->verbs;
}

void free_device(private_abi::Device* device) { destroy_object(reinterpret_cast<Device*>(device)); }

// urnic has no device on a bus, so the library recognises its devices by name.
constexpr private_abi::MatchEntry kMatches[] = {
    {nullptr, {"rdma_device:*Nurnic*"}, 0, 0, private_abi::MatchKind::modalias},
    {nullptr, {nullptr}, 0, 0, private_abi::MatchKind::end},
};

template <std::size_t library>
constexpr private_abi::DeviceOps device_operations() {
  private_abi::DeviceOps ops{};
  ops.name = "urnic";
  // Every sysfs version fits: opening a context compares the control protocol's version (OpenContextRequest).
  ops.min_abi_version = 0;
  ops.max_abi_version = UINT32_MAX;
  ops.match_table = kMatches;
  ops.alloc_context = ruled<open_context>;
  ops.import_context = ruled<import_context>;
  ops.alloc_device = allocate_device<library>;
  ops.uninit_device = free_device;
  return ops;
}

template <std::size_t... index>
struct OperationsOfEach {
  static constexpr private_abi::DeviceOps all[] = {device_operations<index>()...};
};

template <std::size_t... index>
constexpr const private_abi::DeviceOps* operations_of_each(std::index_sequence<index...>) {
  return OperationsOfEach<index...>::all;
}

__attribute__((constructor)) void register_provider() {
  const private_abi::DeviceOps* const operations =
      operations_of_each(std::make_index_sequence<kMostLibraries>());
  const std::size_t count = find_libraries(libraries);
  for (std::size_t i = 0; i < count; ++i) libraries[i].register_driver(&operations[i]);
}

}  // namespace
}  // namespace urnic::provider
