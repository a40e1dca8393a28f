#include "provider/plugin/library/library.hpp"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "provider/old_symbol_versions.hpp"
#include "provider/plugin/library/file_release.hpp"
#include "provider/plugin/library/measurement.hpp"

namespace urnic::provider {
namespace {

// Newer releases have a private ABI of their own number, so far not above the release's.
constexpr int kHighestNumber = 199;

struct LoadedFiles {
  const char* paths[kMostLibraries];
  std::size_t count;
};

bool is_library(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return std::strncmp(slash != nullptr ? slash + 1 : path, "libibverbs", std::strlen("libibverbs")) == 0;
}

int note_file(dl_phdr_info* object, std::size_t, void* data) {
  auto& files = *static_cast<LoadedFiles*>(data);
  if (object->dlpi_name != nullptr && is_library(object->dlpi_name) && files.count < kMostLibraries) {
    files.paths[files.count++] = object->dlpi_name;
  }
  return 0;
}

private_abi::RegisterDriver* registration(void* handle, int number) {
  char name[40];
  std::snprintf(name, sizeof name, "verbs_register_driver_%d", number);
  return reinterpret_cast<private_abi::RegisterDriver*>(dlsym(handle, name));
}

// Tells the layout of a library without a known release in its name.
void measure_layout(Library& library, void* handle) {
  int number = kHighestNumber;
  while (number > 0 && (library.register_driver = registration(handle, number)) == nullptr) --number;
  if (number == 0) return;
  Measures measures{};
  if (measure(library, handle, measures)) library.layout = layout_measured(number, measures);
}

void refuse(const char* path) {
  const int release = release_in_file_name(path);
  char found[32] = "an unknown release";
  if (release != 0) std::snprintf(found, sizeof found, "release %d", release);
  std::fprintf(stderr,
               "urnic: libibverbs here (%s) is of %s, whose interface to providers this urnic does not know "
               "(it knows 33 to %d): install another urnic or another libibverbs\n",
               path, found, known_layouts().back().last_release);
}

}  // namespace

Library library_of(void* handle, const char* path) {
  Library library{};
  library.allocate_context =
      reinterpret_cast<private_abi::AllocateContext*>(dlsym(handle, "_verbs_init_and_alloc_context"));
  library.uninit_context =
      reinterpret_cast<private_abi::UninitContext*>(dlsym(handle, "verbs_uninit_context"));
  library.set_operations = reinterpret_cast<private_abi::SetOperations*>(dlsym(handle, "verbs_set_ops"));
  if (library.allocate_context == nullptr || library.uninit_context == nullptr ||
      library.set_operations == nullptr) {
    return library;
  }
  if (const Layout* layout = layout_of_release(release_in_file_name(path))) {
    library.register_driver = registration(handle, layout->number);
    if (library.register_driver != nullptr) library.layout = layout;
    return library;
  }
  measure_layout(library, handle);
  return library;
}

std::size_t find_libraries(Library (&found)[kMostLibraries]) {
  LoadedFiles files{};
  dl_iterate_phdr(note_file, &files);
  std::size_t count = 0;
  for (std::size_t i = 0; i < files.count; ++i) {
    // RTLD_NOLOAD finds a library that was loaded with RTLD_LOCAL, too.
    void* handle = dlopen(files.paths[i], RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    char path[PATH_MAX];
    if (realpath(files.paths[i], path) == nullptr) std::snprintf(path, sizeof path, "%s", files.paths[i]);
    const Library library = library_of(handle, path);
    if (library.layout != nullptr) {
      found[count++] = library;
    } else if (library.allocate_context != nullptr) {
      refuse(path);
    }
    dlclose(handle);
  }
  if (files.count == 0)
    std::fprintf(stderr, "urnic: this program has no library of the name libibverbs loaded\n");
  return count;
}

}  // namespace urnic::provider
