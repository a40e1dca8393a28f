// Statistics of the network interface of a device with the face mlx5, as ethtool(8) and DPDK's driver ask for
// them (SIOCETHTOOL). The interface is a TAP, which has none: these are of the device's port, by the names
// that mlx5's driver has for them.
#pragma once

namespace urnic::kernel {

// ioctl(2) of SIOCETHTOOL on a socket; `argument` is the program's ifreq. Requests for anything else, and for
// other interfaces, go to the kernel.
int ioctl_on_interface(int descriptor, void* argument);

}  // namespace urnic::kernel
