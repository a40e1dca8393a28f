// Names and device numbers of device nodes, from the run directory's sysfs tree.
#pragma once

#include <sys/types.h>

#include "provider/kernel/bounded_text.hpp"

namespace urnic::kernel {

// The node of the connection manager.
inline constexpr char kRdmaCmNode[] = "rdma_cm";

// True for a name that a node under /dev/infiniband can have: uverbsN, umadN, issmN or rdma_cm.
bool is_node_name(const char* name);

// Appends the path of the node's socket in the run directory. Only while stand_in_active().
void append_node_path(const char* name, PathText& path);

// Parses "MAJOR:MINOR" with or without a newline at the end. False for other text.
bool parse_device_number(const char* text, dev_t& number);

// Reads the number of the node `name` from its sysfs file `dev`. False if there is none. Keeps errno.
bool read_device_number(const char* name, dev_t& number);

// Appends the name of the node that has `number`; false if none has. Keeps errno.
bool find_node_name(dev_t number, PathText& name);

}  // namespace urnic::kernel
