#include "provider/plugin/library_release.hpp"

#include <dlfcn.h>
#include <limits.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "provider/rdmav34.hpp"

namespace urnic::provider {

int release_in_file_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  int major = 0;
  int private_revision = 0;
  int release = 0;
  const int read = std::sscanf(slash != nullptr ? slash + 1 : path, "libibverbs.so.%d.%d.%d", &major,
                               &private_revision, &release);
  return read == 3 ? release : 0;
}

bool library_release_matches() {
  Dl_info info{};
  char path[PATH_MAX] = "unknown";
  // Only libibverbs itself defines this private symbol.
  if (dladdr(reinterpret_cast<void*>(&rdmav34::verbs_register_driver_34), &info) != 0 &&
      realpath(info.dli_fname, path) == nullptr) {
    std::snprintf(path, sizeof path, "%s", info.dli_fname);
  }
  const int release = release_in_file_name(path);
  if (release == rdmav34::kRdmaCoreRelease) return true;
  char found[32] = "an unknown release";
  if (release != 0) std::snprintf(found, sizeof found, "release %d", release);
  std::fprintf(stderr,
               "urnic: libibverbs here (%s) is of %s, but the urnic provider was built for release %d: build "
               "urnic against the libibverbs that is installed\n",
               path, found, rdmav34::kRdmaCoreRelease);
  return false;
}

}  // namespace urnic::provider
