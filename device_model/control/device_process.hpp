// The device process: all of urnicd, made from a run directory and a configuration. Tests start it in their
// own process.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device_model/control/fabric/configuration.hpp"
#include "device_model/control/network/host_network.hpp"
#include "device_model/control/owned_run_directory.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

class CopierParent;
class ProgramParent;

struct DeviceProcessOptions {
  std::optional<std::chrono::milliseconds> linger;  // see linger.hpp
  // Refuses programs that claim to be this process.
  bool refuse_own_process = false;
  // Makes copiers for memory that may not answer; outlives the device process's objects. Null: such memory is
  // accessed like any other, and the engine waits for it.
  CopierParent* copiers = nullptr;
  // Starts opensm, where the configuration's manager is that; outlives the device process's objects.
  ProgramParent* manager = nullptr;
  // See engine_watch.hpp.
  std::function<void(const std::string& reason)> end_at_once = {};
};

// What had to be opened while this process still had privileges, or no thread.
struct OpenedBefore {
  std::unique_ptr<link::FrameCarrier> lan;  // null: nothing
  HostNetwork network = {};
};

class DeviceProcess {
 public:
  // Starts the engine and opens the sockets; then programs can connect. `directory` outlives it.
  DeviceProcess(const OwnedRunDirectory& directory, const Configuration& configuration,
                const DeviceProcessOptions& options, OpenedBefore opened = {});
  // Closes everything: programs see a dead device.
  ~DeviceProcess();

  // Serves until `stop`, an admin's "down" or the end of the linger time.
  void run();
  // After `run`: connections that requested the end, to be closed when the run directory is gone.
  std::vector<memory::Descriptor> take_waiting();
  // From any thread.
  void stop();

  // Ends `run` when one of these signals arrives; the caller has blocked them in all threads.
  void stop_on_signals(std::initializer_list<int> signals);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace urnic::control
