#include "device_model/control/fabric/face_identity.hpp"

#include <rdma/ib_user_ioctl_verbs.h>

#include <array>

namespace urnic::control {
namespace {

constexpr FaceIdentity kUrnic{
    .name_prefix = "urnic",  // the plugin's pattern, which libibverbs matches
    .default_name = "urnic",
    .firmware_version = URNIC_VERSION,
    .hca_type = "urnic",
    .board_id = "urnic",
    .revision_prefix = "0x",
    .vendor_id = 0x75726E,
    // perftest 4.5 keeps inline data and plain ibv_post_send for this number, and turns both off for an
    // unknown one.
    .vendor_part_id = 26428,
    .provider_abi = 1,
    .driver_id = {},
    .pci = {},
    // Programs that look for the device's interface and take its address can connect: the one interface of
    // every machine whose addresses, 127/8, name devices (docs/rdma-cm.md).
    .no_interface = "lo",
};

// A ConnectX-6 Dx with one port, as users of such cards have published what theirs tells.
constexpr FaceIdentity kMlx5{
    // No name of another face begins so, and libraries match names before they match PCI devices.
    .name_prefix = "mlx5",
    .default_name = "mlx5_",
    .firmware_version = "22.35.1012",
    .hca_type = "MT4125",  // mlx5_ib: "MT" and the PCI device in base 10
    .board_id = "MT_0000000359",
    .revision_prefix = "",
    .vendor_id = 0x02C9,  // the OUI that ConnectX devices report, which is not their PCI vendor
    .vendor_part_id = 0x101D,
    .provider_abi = 1,  // the only one that libmlx5 takes
    .driver_id = RDMA_DRIVER_MLX5,
    .pci = PciIdentity{.vendor = 0x15B3,
                       .device = 0x101D,
                       .subsystem_vendor = 0x15B3,
                       .subsystem_device = 0x0016,
                       .device_class = 0x020000,  // Ethernet controller
                       .revision = 0,
                       .driver = "mlx5_core",
                       .rdma_module = "mlx5_ib"},
    .no_interface = {},
};

constexpr std::array<FaceIdentity, kFaceNames.size()> kIdentities{kUrnic, kMlx5};  // in the order of Face

}  // namespace

const FaceIdentity& identity_of(Face face) { return kIdentities[static_cast<std::size_t>(face)]; }

}  // namespace urnic::control
