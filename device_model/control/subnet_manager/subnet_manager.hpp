// Who manages the built-in InfiniBand fabric, and how far it has come: opensm beside the device process, the
// built-in sweep, or a program that somebody else starts.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/fabric/manager_choice.hpp"
#include "device_model/control/loop/event_loop.hpp"
#include "device_model/control/subnet_manager/program_parent.hpp"

namespace urnic::control {

class SubnetManager {
 public:
  // `program` is opensm's; without it the manager is the built-in one, unless `choice` is none. All outlive
  // it.
  SubnetManager(EventLoop& loop, Fabric& fabric, ManagerChoice choice, ProgramParent* program);
  ~SubnetManager();
  SubnetManager(const SubnetManager&) = delete;
  SubnetManager& operator=(const SubnetManager&) = delete;

  // Begins to manage: opensm finds the devices from now on; the built-in manager has swept when it returns.
  void start();

  // To be called when something of the fabric may have changed. The built-in manager sweeps soon after a
  // change, unless a program manages the fabric meanwhile (IsSM). It has a tenth of the thread's time at
  // most.
  void look();

  enum class State : std::uint8_t { none, starting, running, ended };

  ManagerChoice choice() const { return choice_; }
  State state() const { return state_; }
  pid_t pid() const { return pid_; }                       // of the program; 0: none runs
  const std::string& problem() const { return problem_; }  // ended: why
  // All adapters whose links are up have been active at the same time since the start.
  bool has_brought_up() const { return has_brought_up_; }
  // Whether somebody may answer requests of subnet administration (IBTA 15): the built-in manager does not.
  bool has_administration() const;

 private:
  void take_reports();
  void end(const std::string& why);
  void sweep();
  bool fabric_has_changed() const;
  void remember_fabric();

  EventLoop& loop_;
  Fabric& fabric_;
  const ManagerChoice choice_;
  ProgramParent* const program_;
  State state_ = State::none;
  pid_t pid_ = 0;
  std::string problem_;
  bool has_brought_up_ = false;
  bool program_managed_ = false;            // at the last look
  std::vector<std::uint32_t> swept_;        // the nodes' revisions after the last sweep
  std::chrono::nanoseconds sweep_time_{0};  // that the last one took
  std::string refused_;                     // what the log has of sweeps
  Timer soon_;
  ScopedWatch reports_;
};

}  // namespace urnic::control
