// A network namespace of the device process's own, for its programs. An ordinary user makes it in a user
// namespace, where his number stays what it is.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

struct NetworkNamespace {
  memory::Descriptor user;     // its user namespace; invalid: this process's, because it has the right
  memory::Descriptor network;  // the namespace lives as long as this, or a process in it
};

// A namespace, and descriptors that `fill` opened in it. Forks, so call it before any thread starts. `fill`
// runs in the child, in the new namespace, and returns what shall be here. Throws std::runtime_error with a
// sentence, also with that of an exception of `fill`.
struct FilledNamespace {
  NetworkNamespace place;
  std::vector<memory::Descriptor> contents;
};
FilledNamespace make_network_namespace(const std::function<std::vector<memory::Descriptor>()>& fill);

}  // namespace urnic::control
