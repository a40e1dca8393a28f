// Names of what a device process keeps in its run directory. A program finds a device process by these names.
#pragma once

namespace urnic::abi {

// Environment variable that names the run directory to the kernel stand-in and to the urnic command.
inline constexpr char kRunDirectoryVariable[] = "URNIC_DIR";

inline constexpr char kPidFile[] =
    "urnicd.pid";  // pid as decimal text; locked (flock) while the process lives
inline constexpr char kLogFile[] = "urnicd.log";
inline constexpr char kAdminSocket[] = "admin.sock";      // SOCK_STREAM, one JSON object per line
inline constexpr char kDeviceNodes[] = "dev";             // dev/uverbsN: SOCK_SEQPACKET, the control protocol
inline constexpr char kNetlinkSocket[] = "netlink.sock";  // SOCK_SEQPACKET, messages of NETLINK_RDMA
inline constexpr char kSysfs[] = "sysfs";  // stands where /sys is: sysfs/class/infiniband/urnic0/...

// The longest run directory whose sockets still fit sockaddr_un::sun_path.
inline constexpr unsigned kMaxRunDirectoryLength = 90;

}  // namespace urnic::abi
