// Names of what a device process keeps in its run directory. A program finds a device process by these names.
#pragma once

namespace urnic::abi {

// Environment variable that names the run directory to the kernel stand-in and to the urnic command.
inline constexpr char kRunDirectoryVariable[] = "URNIC_DIR";

// Environment variables that name the devices which a program sees: URNIC_SHOW_0, URNIC_SHOW_1 and so on, one
// device each. Without any of them, or with URNIC_SHOW=all, it sees all. They hide devices from sight; they
// keep nobody out.
inline constexpr char kShownDevicesVariable[] = "URNIC_SHOW";

inline constexpr char kPidFile[] =
    "urnicd.pid";  // pid as decimal text; locked (flock) while the process lives
inline constexpr char kLogFile[] = "urnicd.log";
inline constexpr char kAdminSocket[] = "admin.sock";      // SOCK_STREAM, one JSON object per line
inline constexpr char kDeviceNodes[] = "dev";             // dev/uverbsN: SOCK_SEQPACKET, the control protocol
inline constexpr char kNetlinkSocket[] = "netlink.sock";  // SOCK_SEQPACKET, messages of NETLINK_RDMA
inline constexpr char kOpensmFolder[] = "opensm";   // files of the opensm that the device process starts
inline constexpr char kOpensmLog[] = "opensm.log";  // there
inline constexpr char kSysfs[] = "sysfs";           // stands where /sys is: sysfs/class/infiniband/urnic0/...

// The folder of /sys/devices with the PCI devices that the device process shows: their domain and bus. "ur"
// in ASCII is the domain, which firmware and hypervisors give to nobody.
inline constexpr char kPciBus[] = "7572:00";
inline constexpr char kPciBusFolder[] = "pci7572:00";

// The longest run directory whose sockets still fit sockaddr_un::sun_path.
inline constexpr unsigned kMaxRunDirectoryLength = 90;

}  // namespace urnic::abi
