// Checks the release of the libibverbs that this process has loaded.
#pragma once

namespace urnic::provider {

// The rdma-core release in a library's file name: 44 in ".../libibverbs.so.1.14.44.0". 0 if it has none.
int release_in_file_name(const char* path);

// Whether the loaded libibverbs is of the release that this provider was built for. If not, prints one line
// to standard error. Private structures differ between releases that share one private ABI number.
bool library_release_matches();

}  // namespace urnic::provider
