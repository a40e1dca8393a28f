#include "device_model/control/netlink/counter_answers.hpp"

#include <cerrno>

#include "device_model/control/sysfs/counter_values.hpp"

namespace urnic::control::netlink {
namespace {

void put_port_name(DatagramWriter& datagram, const ServedDevice& device) {
  put_device_name(datagram, device);
  datagram.put(RDMA_NLDEV_ATTR_PORT_INDEX, limits::kPorts);
}

}  // namespace

int put_counters(const Subjects& subjects, const Attributes& asked, DatagramWriter& datagram) {
  const ServedDevice* const device = find_device(subjects, asked);
  if (device == nullptr || !names_port(asked)) return EINVAL;
  if (const auto object = asked.number(RDMA_NLDEV_ATTR_STAT_RES)) {
    if (object != RDMA_NLDEV_ATTR_RES_QP || !asked.has(RDMA_NLDEV_ATTR_STAT_MODE)) return EOPNOTSUPP;
    put_port_name(datagram, *device);
    datagram.put(RDMA_NLDEV_ATTR_STAT_MODE, std::uint32_t{RDMA_COUNTER_MODE_NONE});
    return 0;
  }
  put_port_name(datagram, *device);
  const auto table = datagram.begin_table(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
  for (const CounterValue& counter : hardware_values(snapshot(subjects.fabric, *device))) {
    const auto entry = datagram.begin_table(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
    datagram.put(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, counter.name);
    datagram.put(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, counter.value);
    datagram.end_table(entry);
  }
  datagram.end_table(table);
  return 0;
}

int put_counter_names(const Subjects& subjects, const Attributes& asked, DatagramWriter& datagram) {
  const ServedDevice* const device = find_device(subjects, asked);
  if (device == nullptr || !names_port(asked)) return EINVAL;
  put_port_name(datagram, *device);
  const auto table = datagram.begin_table(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
  std::uint32_t index = 0;
  for (const CounterValue& counter : hardware_values({})) {
    const auto entry = datagram.begin_table(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
    datagram.put(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, counter.name);
    datagram.put(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_INDEX, index++);
    datagram.end_table(entry);
  }
  datagram.end_table(table);
  return 0;
}

}  // namespace urnic::control::netlink
