#include "device_model/control/device_process.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <system_error>
#include <utility>

#include "device_model/control/admin/active_faults.hpp"
#include "device_model/control/admin/admin_server.hpp"
#include "device_model/control/admin/engine_watch.hpp"
#include "device_model/control/deadlock_lines.hpp"
#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/fabric/interface_watch.hpp"
#include "device_model/control/fabric/udp_wire.hpp"
#include "device_model/control/gsi/gsi.hpp"
#include "device_model/control/listed_identifiers.hpp"
#include "device_model/control/log/log.hpp"
#include "device_model/control/loop/descriptor_disposal.hpp"
#include "device_model/control/loop/event_loop.hpp"
#include "device_model/control/loop/linger.hpp"
#include "device_model/control/mlx5/uverbs_face.hpp"
#include "device_model/control/netlink/netlink_server.hpp"
#include "device_model/control/rdma_cm/rdma_cm_server.hpp"
#include "device_model/control/stranger_lines.hpp"
#include "device_model/control/subnet_manager/subnet_manager.hpp"
#include "device_model/control/sysfs/counter_files.hpp"
#include "device_model/control/sysfs/port_files.hpp"
#include "device_model/control/sysfs/sysfs_tree.hpp"
#include "device_model/control/umad/umad_server.hpp"
#include "device_model/control/uverbs/control_server.hpp"
#include "device_model/subnet/network.hpp"

namespace urnic::control {
namespace {

// The connection manager's messages, where Linux's ib_cm shows them.
void show_message_counters(CounterFiles& files, const ServedDevice& device,
                           const cm::ConnectionManager& connections) {
  const auto add = [&](std::string_view folder, cm::MessageCounts cm::Counters::*counts) {
    files.add(device, folder, [&connections, counts, index = device.index] {
      const cm::Counters counters = connections.counters({index});
      std::vector<CounterValue> values;
      for (std::size_t i = 0; i < cm::kMessages; ++i)
        values.push_back({cm::kMessageNames[i], (counters.*counts)[i]});
      return values;
    });
  };
  add("cm_tx_msgs", &cm::Counters::sent);
  add("cm_tx_retries", &cm::Counters::repeated);
  add("cm_rx_msgs", &cm::Counters::received);
  add("cm_rx_duplicates", &cm::Counters::duplicates);
}

}  // namespace

// In order of construction: later members use earlier ones.
struct DeviceProcess::Impl {
  Impl(const OwnedRunDirectory& directory, const Configuration& configuration,
       const DeviceProcessOptions& options, OpenedBefore opened)
      : fabric(configuration, std::move(opened.lan)),
        network(std::move(opened.network)),
        sysfs(directory.sysfs(), with_interfaces()),
        ways_out(loop, fabric, changes_shown()),
        interfaces(loop, fabric, own_changes(), std::move(network.news)),
        counters(loop, fabric, sysfs),
        gsi(loop, fabric),
        linger(loop, options.linger, [this] { end("no users left"); }),
        watch(fabric, disposal, {.end_at_once = options.end_at_once}),
        manager(loop, fabric, configuration.subnet_manager, options.manager),
        umad(loop, fabric, gsi, disposal),
        rdma_cm(
            loop, fabric, gsi, disposal, [this] { return manager.has_administration(); },
            directory.device_nodes() / "rdma_cm"),
        control(loop, fabric, disposal,
                {options.refuse_own_process, options.copiers, &mlx5::kernel_commands()}),
        identifiers(rdma_cm.rdma_cm().identifiers()),
        strangers(loop, fabric),
        deadlocks(loop, fabric),
        netlink_server(loop, disposal, fabric, control.contexts(), directory.netlink_socket(),
                       directory.sysfs()),
        faults(fabric),
        admin({loop, disposal, fabric, network.place, control, sysfs, rdma_cm, faults, manager,
               [this](const std::vector<subnet::PortPlace>& places, bool is_plugged) {
                 umad.infiniband_ports().set_cables(places, is_plugged);
               },
               watch, [this] { return control.contexts().opened() + umad.opened(); },
               [this] { return netlink_server.opened(); }, [this] { look_at_use(); },
               [this] { linger.stay(); }, configuration.source, [this] { return linger.is_running(); },
               [this](memory::Descriptor socket) {
                 waiting.push_back(std::move(socket));
                 end("a command has asked for it");
               }},
              directory.admin_socket()) {
    netlink_server.tell_of(identifiers);
    gsi.on_traffic([this] { counters.touch(); });
    counters.on_read([this](const ServedDevice& device, const CounterSnapshot& read) {
      if (!device.adapter) return;
      umad.infiniband_ports().report_violations(device, read);
      umad.infiniband_ports().report_line_faults(device, read);
    });
    umad.infiniband_ports().on_line_news([this] { counters.touch(); });
    control.on_change([this] {
      counters.touch();
      look_at_use();
    });
    rdma_cm.on_change([this] { look_at_use(); });
    if (!configuration.fault_plan.empty()) faults.load(std::filesystem::path(configuration.fault_plan));
    fabric.start();
    follow_subnet();
    watch.stand_in(admin.listening_descriptor(), -1);
    for (const auto& device : fabric.devices()) {
      control.serve(*device, directory.device_nodes() / fmt::format("uverbs{}", sysfs.node_number(*device)));
      if (const auto number = sysfs.management_node_number(*device))
        serve_management(*device, directory, *number);
      show_message_counters(counters, *device, rdma_cm.rdma_cm().connections());
    }
    if (options.manager != nullptr) std::filesystem::create_directory(directory.opensm());
    manager.start();
  }

  // The subnet and the counters may still have news while members are destroyed: nobody hears them.
  ~Impl() {
    fabric.subnet().on_change({});
    counters.on_read({});
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void serve_management(ServedDevice& device, const OwnedRunDirectory& directory, std::uint32_t number) {
    umad.serve(device, directory.device_nodes() / fmt::format("umad{}", number));
    if (device.adapter) umad.serve_manager(device, directory.device_nodes() / fmt::format("issm{}", number));
  }

  // What the subnet manager changes of InfiniBand ports.
  void follow_subnet() {
    fabric.subnet().on_change([this](subnet::NodeIndex adapter, bool registers_again) {
      if (const ServedDevice* const device = fabric.device_at(adapter)) show_managed(*device);
      if (registers_again) rdma_cm.rdma_cm().register_again(adapter);
    });
  }

  // A manager may go on although files cannot be written: the file system is full, or somebody removed them.
  void show_managed(const ServedDevice& device) {
    try {
      PortRecord record = port_record(fabric, device);
      PortRecord& shown = shown_records[device.index];
      show_infiniband_port(sysfs.port_folder(device), shown, record);
      shown = std::move(record);
    } catch (const std::filesystem::filesystem_error& error) {
      log::warn("{}: programs see its port as it was before: {}", device.settings.name, error.what());
    }
  }

  const Fabric& with_interfaces() {
    for (DeviceInterface& each : network.interfaces) fabric.add_interface(std::move(each));
    if (network.asked)
      fabric.ask_routes(
          [this](const wire::Gid& destination, std::uint32_t interface) {
            return network.asked->find(destination, interface);
          },
          [this](const wire::Gid& address, std::uint32_t interface) {
            return network.asked->look_for_neighbour(address, interface);
          });
    return fabric;
  }

  InterfaceWatch::Changes changes_shown() {
    return {.link =
                [this](const ServedDevice& device) {
                  show_port_state(sysfs.port_folder(device), fabric.link_is_up(device));
                },
            .gid =
                [this](const ServedDevice& device, std::size_t index) {
                  const auto port = sysfs.port_folder(device);
                  show_gid(port, index, device.settings.gids[index]);
                  show_interface(port, index, interface_of(device, index)->name);
                }};
  }

  InterfaceWatch::Changes own_changes() {
    InterfaceWatch::Changes changes = changes_shown();
    if (network.routes)
      changes.own = [this](const std::vector<InterfaceState>& now) { network.routes->follow(now); };
    return changes;
  }

  void look_at_use() {
    linger.set_used(!control.contexts().empty() || rdma_cm.is_used() || admin.leases() != 0);
  }

  void end(const char* reason) {
    log::info("ends: {}", reason);
    watch.expect_end();
    loop.stop();
  }

  std::vector<memory::Descriptor> waiting;
  DescriptorDisposal disposal;
  EventLoop loop;
  Fabric fabric;
  HostNetwork network;
  SysfsTree sysfs;
  std::map<std::uint32_t, PortRecord> shown_records;  // what its files say of InfiniBand ports, by device
  InterfaceWatch ways_out;    // the host's interfaces that UDP wires and a LAN lead to
  InterfaceWatch interfaces;  // the devices' own
  CounterFiles counters;
  Gsi gsi;
  Linger linger;
  EngineWatch watch;  // destroyed after all that waits for an engine
  // The engines end while the watch still runs.
  struct EnginesEnd {
    ~EnginesEnd() {
      for (const auto& unit : fabric.units()) unit->engine.stop();
    }
    Fabric& fabric;
  } engines_end{fabric};
  SubnetManager manager;
  UmadServer umad;
  rdma_cm::RdmaCmServer rdma_cm;
  ControlServer control;
  ListedIdentifiers identifiers;
  StrangerLines strangers;
  DeadlockLines deadlocks;
  netlink::NetlinkServer netlink_server;
  ActiveFaults faults;
  AdminServer admin;
  memory::Descriptor signals;
  ScopedWatch signal_watch;
};

DeviceProcess::DeviceProcess(const OwnedRunDirectory& directory, const Configuration& configuration,
                             const DeviceProcessOptions& options, OpenedBefore opened)
    : impl_(std::make_unique<Impl>(directory, configuration, options, std::move(opened))) {}

// The watch's stand-in descriptors are about to be closed.
DeviceProcess::~DeviceProcess() { impl_->watch.stand_in(-1, -1); }

void DeviceProcess::run() { impl_->loop.run(); }

std::vector<memory::Descriptor> DeviceProcess::take_waiting() { return std::move(impl_->waiting); }

void DeviceProcess::stop() { impl_->loop.stop(); }

void DeviceProcess::stop_on_signals(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  impl_->signals = memory::Descriptor(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!impl_->signals) throw std::system_error(errno, std::generic_category(), "signalfd");
  impl_->signal_watch = ScopedWatch(impl_->loop, impl_->signals.get(), EPOLLIN, [this](std::uint32_t) {
    signalfd_siginfo info{};
    if (read(impl_->signals.get(), &info, sizeof info) != sizeof info) return;
    impl_->end(strsignal(static_cast<int>(info.ssi_signo)));
  });
  impl_->watch.stand_in(impl_->admin.listening_descriptor(), impl_->signals.get());
}

}  // namespace urnic::control
