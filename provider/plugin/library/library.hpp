// A libibverbs that the process has loaded. Usually there is one; a program can bring a copy of its own.
#pragma once

#include <cstddef>

#include "provider/plugin/library/layout.hpp"

namespace urnic::provider {

struct Library {
  const Layout* layout;
  private_abi::RegisterDriver* register_driver;
  private_abi::AllocateContext* allocate_context;
  private_abi::UninitContext* uninit_context;
  private_abi::SetOperations* set_operations;
};

// So many are served in one process; more are ignored.
inline constexpr std::size_t kMostLibraries = 4;

// Writes the loaded libraries that this provider can serve to `found` and returns their number. Prints one
// line to standard error for each library that it cannot serve, and if there is no library.
std::size_t find_libraries(Library (&found)[kMostLibraries]);

// The library behind a handle of dlopen, for tests. `path` is its file. Null layout: see above, but nothing
// is printed.
Library library_of(void* handle, const char* path);

}  // namespace urnic::provider
