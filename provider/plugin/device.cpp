// Registers this provider with libibverbs and tells it how to recognise urnic's devices.
#include "provider/plugin/freestanding/allocation.hpp"
#include "provider/plugin/library_release.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {
namespace {

rdmav34::Device* allocate_device(rdmav34::SysfsDevice*) {
  auto* device = create_object<rdmav34::Device>();
  if (device != nullptr) device->core_support = rdmav34::kOptionalMrAccess;
  return device;
}

void free_device(rdmav34::Device* device) { destroy_object(device); }

// urnic has no device on a bus, so the library recognises its devices by name.
constexpr rdmav34::MatchEntry kMatches[] = {
    {nullptr, {"rdma_device:*Nurnic*"}, 0, 0, rdmav34::MatchKind::modalias},
    {nullptr, {nullptr}, 0, 0, rdmav34::MatchKind::end},
};

constexpr rdmav34::DeviceOps make_device_operations() {
  rdmav34::DeviceOps ops{};
  ops.name = "urnic";
  // Every sysfs version fits: opening a context compares the control protocol's version (OpenContextRequest).
  ops.min_abi_version = 0;
  ops.max_abi_version = UINT32_MAX;
  ops.match_table = kMatches;
  ops.alloc_context = open_context;
  ops.import_context = import_context;
  ops.alloc_device = allocate_device;
  ops.uninit_device = free_device;
  return ops;
}
constexpr rdmav34::DeviceOps kDeviceOperations = make_device_operations();

__attribute__((constructor)) void register_provider() {
  if (library_release_matches()) rdmav34::verbs_register_driver_34(&kDeviceOperations);
}

}  // namespace
}  // namespace urnic::provider
