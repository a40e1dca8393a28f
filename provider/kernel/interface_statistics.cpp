#include "provider/kernel/interface_statistics.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "provider/kept_errno.hpp"
#include "provider/kernel/path_map.hpp"
#include "provider/kernel/program_memory.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/run_directory_lookup.hpp"

namespace urnic::kernel {

namespace {

constexpr char kNamePrefix[] = "mlx5";  // of the names of all such devices, and of no others
constexpr char kDriver[] = "mlx5_core";

struct Statistic {
  char name[ETH_GSTRING_LEN];
  const char* file;    // of the port's counters
  std::uint64_t unit;  // what one of the file's units is in the statistic's
};

// A port's data count in words of four bytes (IBTA 16.1.3.5).
constexpr Statistic kStatistics[] = {
    {"rx_packets_phy", "port_rcv_packets", 1},
    {"rx_bytes_phy", "port_rcv_data", 4},
    {"tx_packets_phy", "port_xmit_packets", 1},
    {"tx_bytes_phy", "port_xmit_data", 4},
    {"rx_vport_unicast_packets", "unicast_rcv_packets", 1},
    {"rx_vport_multicast_packets", "multicast_rcv_packets", 1},
    {"tx_vport_unicast_packets", "unicast_xmit_packets", 1},
    {"tx_vport_multicast_packets", "multicast_xmit_packets", 1},
};
constexpr std::uint32_t kCount = sizeof kStatistics / sizeof *kStatistics;

bool asks_for_statistics(std::uint32_t command) {
  return command == ETHTOOL_GDRVINFO || command == ETHTOOL_GSSET_INFO || command == ETHTOOL_GSTRINGS ||
         command == ETHTOOL_GSTATS;
}

// False: the device or the file is not there.
bool read_counter(const char* interface, const char* file, std::uint64_t& value) {
  PathText path;
  path.append("/sys/class/infiniband/").append(interface).append("/ports/1/counters/").append(file);
  PathText mapped;
  if (!stand_in_active() || !path.fits() || !map_absolute_path(path.text(), mapped)) return false;
  const KeptErrno kept;
  const int descriptor = real::open(mapped.text(), O_RDONLY | O_CLOEXEC, 0);
  if (descriptor < 0) return false;
  char digits[32];
  const ssize_t length = real::read(descriptor, digits, sizeof digits);
  close(descriptor);
  value = 0;
  for (ssize_t i = 0; i < length && digits[i] >= '0' && digits[i] <= '9'; ++i)
    value = value * 10 + static_cast<std::uint64_t>(digits[i] - '0');
  return length > 0;
}

bool is_a_devices(const ifreq& request) {
  std::uint64_t ignored = 0;
  return std::strncmp(request.ifr_name, kNamePrefix, sizeof kNamePrefix - 1) == 0 &&
         std::memchr(request.ifr_name, '\0', sizeof request.ifr_name) != nullptr &&
         read_counter(request.ifr_name, kStatistics[0].file, ignored);
}

int finish(bool written) {
  if (written) return 0;
  errno = EFAULT;
  return -1;
}

// The kernel's answer, but for whose interface it is.
int describe_driver(int descriptor, const ProgramMemory& memory, void* argument, void* place) {
  if (const int result = real::ioctl(descriptor, SIOCETHTOOL, argument)) return result;
  ethtool_drvinfo known;
  if (memory.read(&known, place, sizeof known) != sizeof known) return finish(false);
  std::memset(known.driver, 0, sizeof known.driver);
  std::memcpy(known.driver, kDriver, sizeof kDriver);
  known.n_stats = kCount;
  return finish(memory.write(place, &known, sizeof known));
}

int count_statistics(int descriptor, const ProgramMemory& memory, void* argument, char* place) {
  ethtool_sset_info asked;
  if (memory.read(&asked, place, sizeof asked) != sizeof asked) return finish(false);
  if (asked.sset_mask != 1u << ETH_SS_STATS) return real::ioctl(descriptor, SIOCETHTOOL, argument);
  return finish(memory.write(place + sizeof asked, &kCount, sizeof kCount));
}

int name_statistics(int descriptor, const ProgramMemory& memory, void* argument, char* place) {
  ethtool_gstrings asked;
  if (memory.read(&asked, place, sizeof asked) != sizeof asked) return finish(false);
  if (asked.string_set != ETH_SS_STATS) return real::ioctl(descriptor, SIOCETHTOOL, argument);
  asked.len = kCount;
  bool written = memory.write(place, &asked, sizeof asked);
  for (const Statistic& each : kStatistics) {
    const auto number = static_cast<std::size_t>(&each - kStatistics);
    written = written &&
              memory.write(place + sizeof asked + number * sizeof each.name, each.name, sizeof each.name);
  }
  return finish(written);
}

int give_values(const ProgramMemory& memory, const char* interface, char* place) {
  ethtool_stats head{};
  head.cmd = ETHTOOL_GSTATS;
  head.n_stats = kCount;
  std::uint64_t values[kCount] = {};
  for (std::uint32_t i = 0; i < kCount; ++i) {
    read_counter(interface, kStatistics[i].file, values[i]);
    values[i] *= kStatistics[i].unit;
  }
  return finish(memory.write(place, &head, sizeof head) &&
                memory.write(place + sizeof head, values, sizeof values));
}

}  // namespace

int ioctl_on_interface(int descriptor, void* argument) {
  const ProgramMemory memory(__builtin_frame_address(0));
  ifreq request;
  std::uint32_t command = 0;
  if (memory.read(&request, argument, sizeof request) != sizeof request ||
      memory.read(&command, request.ifr_data, sizeof command) != sizeof command ||
      !asks_for_statistics(command) || !is_a_devices(request))
    return real::ioctl(descriptor, SIOCETHTOOL, argument);
  switch (command) {
    case ETHTOOL_GDRVINFO:
      return describe_driver(descriptor, memory, argument, request.ifr_data);
    case ETHTOOL_GSSET_INFO:
      return count_statistics(descriptor, memory, argument, request.ifr_data);
    case ETHTOOL_GSTRINGS:
      return name_statistics(descriptor, memory, argument, request.ifr_data);
    default:
      return give_values(memory, request.ifr_name, request.ifr_data);
  }
}

}  // namespace urnic::kernel
