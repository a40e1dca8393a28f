// The files in counters/ and hw_counters/, updated while counters may change, and with them the port's state,
// which a fault plan may change at any packet.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/loop/event_loop.hpp"
#include "device_model/control/sysfs/counter_values.hpp"
#include "device_model/control/sysfs/sysfs_tree.hpp"

namespace urnic::control {

// One folder of counters.
class CounterFolder {
 public:
  // Creates the folder and its files, and keeps the folder open: files of hundreds of devices would be more
  // than a process may have open.
  CounterFolder(const std::filesystem::path& folder, const std::vector<CounterValue>& values);
  // Writes changed values in place: a program that keeps the file open reads the new value after a seek.
  // Returns whether a value has changed. `values` in the order of the constructor's.
  bool update(const std::vector<CounterValue>& values);

 private:
  struct File {
    std::string name;
    std::uint64_t value;
  };
  memory::Descriptor folder_;
  std::vector<File> files_;
};

using CounterSource = std::function<std::vector<CounterValue>()>;

class CounterFiles {
 public:
  // Loop and fabric outlive it.
  CounterFiles(EventLoop& loop, Fabric& fabric, const SysfsTree& tree);

  // Adds a folder of counters to the device's port. `values` gives the same names in the same order each
  // time.
  void add(const ServedDevice& device, std::string_view folder, CounterSource values);

  // Calls `reader` with each set of counters that is read for the files.
  void on_read(std::function<void(const ServedDevice&, const CounterSnapshot&)> reader) {
    reader_ = std::move(reader);
  }

  // A program uses the device: counters may change from now on.
  void touch();
  // Updates all files now. Returns whether a value has changed.
  bool update();

 private:
  struct DeviceFiles {
    ServedDevice* device;
    std::filesystem::path folder;  // of the port
    bool link_up;                  // as in the files
    CounterFolder port;
    CounterFolder hardware;
  };
  struct AddedFolder {
    CounterSource values;
    CounterFolder folder;
  };
  void tick();
  bool has_queue_pairs() const;

  Fabric& fabric_;
  std::vector<DeviceFiles> devices_;
  std::function<void(const ServedDevice&, const CounterSnapshot&)> reader_;
  std::vector<AddedFolder> added_;
  unsigned quiet_ticks_ = 0;
  std::uint64_t seen_activity_ = 0;  // of the engines, at the last update
  Timer timer_;
};

}  // namespace urnic::control
