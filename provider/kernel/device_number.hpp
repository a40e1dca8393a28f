// Device nodes by name and by number, as the run directory's sysfs tree tells them.
#pragma once

#include <sys/types.h>

#include "provider/kernel/bounded_text.hpp"

namespace urnic::kernel {

// True for the names that nodes under /dev/infiniband have here: uverbsN and rdma_cm.
bool is_node_name(const char* name);

// Appends the path of the node's socket in the run directory. Only while stand_in_active().
void append_node_path(const char* name, PathText& path);

// Parses "MAJOR:MINOR", at the end of which a newline may stand.
bool parse_device_number(const char* text, dev_t& number);

// Reads the node's number from its sysfs file `dev`. False if there is none. Keeps errno.
bool read_device_number(const char* name, dev_t& number);

// Appends the name of the uverbs node that has `number`; false if none has. Keeps errno.
bool find_node_name(dev_t number, PathText& name);

}  // namespace urnic::kernel
