// A connection of its own for an imported context.
#pragma once

#include "device_model/abi/control.hpp"

namespace urnic::provider {

// `descriptor` is a context's connection or a duplicate. It becomes a new connection to the same device;
// other duplicates keep the old connection. Sets `token` to the context's token. 0 or an errno.
int take_own_connection(int descriptor, abi::ContextToken& token);

}  // namespace urnic::provider
