// The network namespace in which a device process's programs run, if it has one.
#pragma once

#include <string>
#include <vector>

#include "device_model/memory/descriptor.hpp"
#include "tools/urnic/admin_client.hpp"

namespace urnic::cli {

class ProgramNetwork {
 public:
  // Asks the device process. Throws Failure.
  explicit ProgramNetwork(AdminClient& admin);

  bool exists() const { return !namespaces_.empty(); }
  // To the networks of the host, too.
  bool leads_outside() const { return leads_outside_; }

  // Puts this process, which has one thread, there, with the rights of a network's administrator; its user
  // stays. Nothing, if there is no such network. Returns what went wrong; empty: all is well.
  std::string enter() const;

 private:
  struct Namespace {
    int kind = 0;  // CLONE_NEWUSER or CLONE_NEWNET
    memory::Descriptor descriptor;
  };
  std::vector<Namespace> namespaces_;
  bool leads_outside_ = false;
};

}  // namespace urnic::cli
