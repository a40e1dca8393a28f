#include "device_model/control/netlink/answers.hpp"

#include <cerrno>
#include <functional>
#include <utility>

#include "device_model/control/netlink/counter_answers.hpp"
#include "device_model/control/netlink/device_answers.hpp"
#include "device_model/control/netlink/object_dumps.hpp"

namespace urnic::control::netlink {
namespace {

// A message for each device, or for one.
class DeviceDump final : public Dump {
 public:
  using Put = std::function<void(const ServedDevice&, DatagramWriter&)>;
  DeviceDump(const Fabric& fabric, const Request& request, Put put)
      : fabric_(fabric),
        type_(request.type),
        question_(request.question),
        put_(std::move(put)),
        end_(fabric.devices().size()) {}
  DeviceDump(const Fabric& fabric, const ServedDevice& only, const Request& request, Put put)
      : DeviceDump(fabric, request, std::move(put)) {
    next_ = only.index;
    end_ = next_ + 1;
  }

  bool write(DatagramWriter& datagram) override {
    const auto& devices = fabric_.devices();
    for (; next_ < end_; ++next_) {
      const auto message = datagram.begin_message(question_, type_, NLM_F_MULTI);
      put_(*devices[next_], datagram);
      if (!datagram.fits()) {
        datagram.cut_back(message);
        return true;
      }
      datagram.end_message(message);
    }
    return false;
  }

 private:
  const Fabric& fabric_;
  const std::uint16_t type_;
  const Question question_;
  const Put put_;
  std::size_t next_ = 0;
  std::size_t end_;
};

std::unique_ptr<Dump> dump_of_devices(const Subjects& subjects, const Request& request) {
  return std::make_unique<DeviceDump>(subjects.fabric, request, put_device);
}

std::unique_ptr<Dump> dump_of_counts(const Subjects& subjects, const Request& request) {
  return std::make_unique<DeviceDump>(subjects.fabric, request,
                                      [subjects](const ServedDevice& device, DatagramWriter& datagram) {
                                        put_object_counts(subjects, device, datagram);
                                      });
}

std::unique_ptr<Dump> dump_of_ports(const Subjects& subjects, const ServedDevice& device,
                                    const Request& request) {
  return std::make_unique<DeviceDump>(
      subjects.fabric, device, request,
      [&fabric = subjects.fabric](const ServedDevice& each, DatagramWriter& datagram) {
        put_port(fabric, each, datagram);
      });
}

// Null and an error: there is no such dump.
Answered start_dump(const Subjects& subjects, std::uint32_t command, const Request& request) {
  if (command == RDMA_NLDEV_CMD_GET) return {0, dump_of_devices(subjects, request)};
  if (command == RDMA_NLDEV_CMD_RES_GET) return {0, dump_of_counts(subjects, request)};
  const ServedDevice* const device = find_device(subjects, request.attributes);
  if (device == nullptr) return {EINVAL, nullptr};
  if (request.attributes.has(RDMA_NLDEV_ATTR_PORT_INDEX) && !names_port(request.attributes))
    return {EINVAL, nullptr};
  if (command == RDMA_NLDEV_CMD_PORT_GET) return {0, dump_of_ports(subjects, *device, request)};
  auto dump = make_object_dump(subjects, *device, command, request);
  return {dump == nullptr ? EINVAL : 0, std::move(dump)};
}

// One object by its number. Null and an error: there is no such search.
Answered start_search(const Subjects& subjects, std::uint32_t command, const Request& request) {
  const ServedDevice* const device = find_device(subjects, request.attributes);
  if (device == nullptr) return {EINVAL, nullptr};
  if (request.attributes.has(RDMA_NLDEV_ATTR_PORT_INDEX) && !names_port(request.attributes))
    return {EINVAL, nullptr};
  auto search = make_object_search(subjects, *device, command, request);
  return {search == nullptr ? EINVAL : 0, std::move(search)};
}

// Puts the attributes of the single answer; returns 0 or an errno.
int put_answer(const Subjects& subjects, std::uint32_t command, const Attributes& asked,
               DatagramWriter& datagram) {
  const ServedDevice* const device = find_device(subjects, asked);
  switch (command) {
    case RDMA_NLDEV_CMD_SYS_GET:
      return put_system(datagram), 0;
    case RDMA_NLDEV_CMD_GET_CHARDEV:
      return put_node(subjects, asked, datagram);
    case RDMA_NLDEV_CMD_STAT_GET:
      return put_counters(subjects, asked, datagram);
    case RDMA_NLDEV_CMD_STAT_GET_STATUS:
      return put_counter_names(subjects, asked, datagram);
    case RDMA_NLDEV_CMD_GET:
      return device == nullptr ? EINVAL : (put_device(*device, datagram), 0);
    case RDMA_NLDEV_CMD_RES_GET:
      return device == nullptr ? EINVAL : (put_object_counts(subjects, *device, datagram), 0);
    case RDMA_NLDEV_CMD_PORT_GET:
      if (device == nullptr || !names_port(asked)) return EINVAL;
      return put_port(subjects.fabric, *device, datagram), 0;
    default:
      // Settings: programs cannot change a device.
      return command < RDMA_NLDEV_NUM_OPS ? EOPNOTSUPP : EINVAL;
  }
}

Answered answer_once(const Subjects& subjects, std::uint32_t command, const Request& request,
                     DatagramWriter& datagram) {
  const auto message = datagram.begin_message(request.question, request.type, 0);
  int error = put_answer(subjects, command, request.attributes, datagram);
  if (!datagram.fits()) error = EMSGSIZE;
  if (error == 0)
    datagram.end_message(message);
  else
    datagram.cut_back(message);
  return {error, nullptr};
}

}  // namespace

Answered answer(const Subjects& subjects, const Message& message, DatagramWriter& datagram) {
  const nlmsghdr& header = message.header;
  if (RDMA_NL_GET_CLIENT(header.nlmsg_type) != RDMA_NL_NLDEV) return {EINVAL, nullptr};
  const auto attributes = Attributes::parse(message.payload);
  if (!attributes) return {EINVAL, nullptr};
  const Request request{header.nlmsg_type, {header.nlmsg_seq, header.nlmsg_pid}, *attributes};
  const std::uint32_t command = RDMA_NL_GET_OP(header.nlmsg_type);
  if ((header.nlmsg_flags & NLM_F_DUMP) != 0) return start_dump(subjects, command, request);
  if (is_object_command(command)) return start_search(subjects, command, request);
  return answer_once(subjects, command, request, datagram);
}

}  // namespace urnic::control::netlink
