// A connection of one's own to a context that somebody else opened.
#pragma once

#include "device_model/abi/control.hpp"

namespace urnic::provider {

// `descriptor`, which is (a duplicate of) a context's connection, becomes a new connection to the same
// device; the original is not touched otherwise. `token` is that of the original's context. 0 or an errno.
int take_own_connection(int descriptor, abi::ContextToken& token);

}  // namespace urnic::provider
