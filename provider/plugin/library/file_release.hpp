// The release of rdma-core that a library's file name tells.
#pragma once

namespace urnic::provider {

// 44 of ".../libibverbs.so.1.14.44.0", and of a program's own copy ".../libibverbs-6f3a.so.1.14.44.0". 0 if
// the name has no release.
int release_in_file_name(const char* path);

}  // namespace urnic::provider
