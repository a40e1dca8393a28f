// Topologies in the format of ibsim, a simulator of subnets, which is that of ibnetdiscover's output, too: a
// line for each switch or adapter, then one for each of its ports with a cable, then an empty line.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "device_model/subnet/fabric_plan.hpp"

namespace urnic::subnet {

struct NetNode {
  unsigned line = 0;    // of the file, from 1 on
  PlannedNode planned;  // named by its node ID
};

struct NetLink {
  unsigned line = 0;
  PlannedLink link;  // by places in `nodes`
};

struct NetFile {
  std::vector<NetNode> nodes;
  std::vector<NetLink> links;  // each once
};

class NetFileError : public std::runtime_error {
 public:
  NetFileError(unsigned at, const std::string& problem) : std::runtime_error(problem), line(at) {}
  unsigned line;
};

// The text of a file. Throws NetFileError. Links are not checked against one another; FabricPlan does that.
NetFile parse_ibsim_net(const std::string& text);

}  // namespace urnic::subnet
