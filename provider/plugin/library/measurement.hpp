// Measures a library's private structures by using them.
#pragma once

#include "provider/plugin/library/library.hpp"

namespace urnic::provider {

// Makes a context on /dev/null and a table of marked operations, and looks where the library has put what.
// `handle` is the library's, from dlopen. False if something is not where any release has it.
bool measure(const Library& library, void* handle, Measures& measures);

}  // namespace urnic::provider
