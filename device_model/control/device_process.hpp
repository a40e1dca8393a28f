// The device process: everything that urnicd is, from a run directory and a configuration. Also what tests
// start in their own process.
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
#include "device_model/control/owned_run_directory.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

class CopierParent;

struct DeviceProcessOptions {
  std::optional<std::chrono::milliseconds> linger;  // see linger.hpp
  // This process is none of the programs, and who says so is refused.
  bool refuse_own_process = false;
  // Makes processes that copy from and to memory which may keep them waiting; outlives the device process's
  // objects. Null: such memory is reached as all other memory is, and the engine waits.
  CopierParent* copiers = nullptr;
  // See engine_watch.hpp.
  std::function<void(const std::string& reason)> end_at_once = {};
};

class DeviceProcess {
 public:
  // Starts the engine and opens the sockets; programs can connect from then on. `directory` outlives it.
  DeviceProcess(const OwnedRunDirectory& directory, const Configuration& configuration,
                const DeviceProcessOptions& options);
  // Closes everything: programs see a dead device.
  ~DeviceProcess();

  // Serves until `stop`, an admin's "down" or the end of the linger time.
  void run();
  // After `run`: connections of those who asked for the end, to be closed once the run directory is gone.
  std::vector<memory::Descriptor> take_waiting();
  // From any thread.
  void stop();

  // Ends `run` when one of these signals, which the caller has blocked in all threads, comes.
  void stop_on_signals(std::initializer_list<int> signals);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace urnic::control
