// The private interfaces of rdma-core's releases: the table, and what libraries on this machine measure.
#define BOOST_TEST_DYN_LINK
#include "provider/plugin/library/library.hpp"

#include <dlfcn.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "provider/plugin/library/file_release.hpp"
#include "provider/plugin/library/measurement.hpp"
#include "provider/plugin/library/operation_table.hpp"

namespace provider = urnic::provider;
namespace private_abi = urnic::private_abi;
using provider::release_in_file_name;

namespace {

// Libraries to look at: the installed one, and those in the folders of URNIC_LIBIBVERBS_FOLDERS (separated by
// colons).
std::vector<std::string> libraries() {
  std::vector<std::string> paths{"libibverbs.so.1"};
  const char* folders = std::getenv("URNIC_LIBIBVERBS_FOLDERS");
  std::istringstream list(folders != nullptr ? folders : "");
  for (std::string folder; std::getline(list, folder, ':');) paths.push_back(folder + "/libibverbs.so.1");
  return paths;
}

std::string file_of(void* handle) {
  Dl_info info{};
  BOOST_REQUIRE(dladdr(dlsym(handle, "verbs_set_ops"), &info) != 0);
  return std::filesystem::canonical(info.dli_fname).string();
}

// The place in the table of the operation whose place in the newest table is `offset` bytes from its begin.
std::size_t place(int release, std::size_t offset) {
  private_abi::ContextOps marked{};
  void (*const here)() = [] {};
  std::memcpy(reinterpret_cast<char*>(&marked) + offset, &here, sizeof here);
  const auto table = provider::table_for(*provider::layout_of_release(release), marked);
  std::size_t index = 0;
  while (index < private_abi::kOperations && table.entries[index] != here) ++index;
  return index;
}
#define PLACE(release, operation) place(release, offsetof(private_abi::ContextOps, operation))

}  // namespace

BOOST_AUTO_TEST_SUITE(library)

BOOST_AUTO_TEST_CASE(a_release_is_the_third_number_of_the_file_name) {
  BOOST_TEST(release_in_file_name("/usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.44.0") == 44);
  BOOST_TEST(release_in_file_name("libibverbs.so.1.14.56.1") == 56);
  BOOST_TEST(release_in_file_name("/opt/libibverbs.so.1.14.50/libibverbs.so.1.14.39.0") == 39);
  BOOST_TEST(release_in_file_name("/usr/lib/libibverbs-6f3a.so.1.14.44.0") == 44);
}

BOOST_AUTO_TEST_CASE(a_release_is_unknown_without_one) {
  BOOST_TEST(release_in_file_name("/usr/lib/libibverbs.so.1") == 0);
  BOOST_TEST(release_in_file_name("/usr/lib/libibverbs.so.1.14") == 0);
  BOOST_TEST(release_in_file_name("/usr/lib/libverbs.so.1.14.44.0") == 0);
  BOOST_TEST(release_in_file_name("unknown") == 0);
}

BOOST_AUTO_TEST_CASE(the_table_has_every_release_from_33_to_65_once) {
  int next = 33;
  for (const provider::Layout& layout : provider::known_layouts()) {
    BOOST_TEST(layout.first_release == next);
    BOOST_TEST(layout.number <= layout.first_release);
    next = layout.last_release + 1;
  }
  BOOST_TEST(next == 66);
  BOOST_CHECK(provider::layout_of_release(32) == nullptr);
  BOOST_CHECK(provider::layout_of_release(66) == nullptr);
}

BOOST_AUTO_TEST_CASE(the_row_of_the_headers_is_theirs) {
  const int release = release_in_file_name("libibverbs.so." URNIC_IBVERBS_VERSION_OF_HEADERS);
  const provider::Layout* layout = provider::layout_of_release(release);
  BOOST_REQUIRE(layout != nullptr);
  BOOST_TEST(layout->measures.context_at == offsetof(verbs_context, context));
  BOOST_TEST(provider::qp_tail_at(layout->measures) == sizeof(ibv_qp_ex));
}

BOOST_AUTO_TEST_CASE(each_release_has_the_entries_that_its_row_counts) {
  private_abi::ContextOps all;
  std::memset(static_cast<void*>(&all), 0xa5, sizeof all);
  for (const provider::Layout& layout : provider::known_layouts()) {
    const auto table = provider::table_for(layout, all);
    std::size_t entries = 0;
    for (auto* entry : table.entries) entries += entry != nullptr;
    BOOST_TEST(entries == layout.measures.operations);
  }
}

// Places in the tables of released sources.
BOOST_AUTO_TEST_CASE(an_operation_is_where_its_release_has_it) {
  BOOST_TEST(PLACE(33, advise_mr) == 0u);
  BOOST_TEST(PLACE(33, unimport_pd) == 71u);
  BOOST_TEST(PLACE(44, poll_cq) == 53u);
  BOOST_TEST(PLACE(44, reg_dmabuf_mr) == 67u);
  BOOST_TEST(PLACE(44, unimport_dm) == 73u);
  BOOST_TEST(PLACE(59, dealloc_dmah) == 26u);
  BOOST_TEST(PLACE(59, reg_mr_ex) == 71u);
  BOOST_TEST(PLACE(62, dm_export_dmabuf_fd) == 41u);
  BOOST_TEST(PLACE(62, query_port_speed) == 64u);
  BOOST_TEST(PLACE(64, free_buf) == 43u);
  BOOST_TEST(PLACE(65, unimport_pd) == 92u);
}

BOOST_AUTO_TEST_CASE(a_measured_library_is_known_by_number_and_measures) {
  BOOST_TEST(provider::layout_measured(34, {76, 320, 22})->first_release == 45);
  BOOST_TEST(provider::layout_measured(59, {81, 352, 22})->first_release == 62);
  BOOST_CHECK(provider::layout_measured(34, {93, 368, 22}) == nullptr);
  // Release 32 has as many operations as 34, and others.
  BOOST_CHECK(provider::layout_measured(32, {73, 320, 20}) == nullptr);
}

BOOST_AUTO_TEST_CASE(a_newer_number_is_tried_only_if_its_measures_are_the_newest_known) {
  BOOST_TEST(provider::layout_measured(66, {93, 368, 22})->first_release == 65);
  BOOST_CHECK(provider::layout_measured(66, {94, 368, 22}) == nullptr);
  BOOST_CHECK(provider::layout_measured(66, {93, 376, 22}) == nullptr);
  BOOST_CHECK(provider::layout_measured(66, {93, 368, 23}) == nullptr);
}

BOOST_AUTO_TEST_CASE(each_library_measures_what_its_row_says) {
  for (const std::string& path : libraries()) {
    BOOST_TEST_CONTEXT(path) {
      void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      BOOST_REQUIRE_MESSAGE(handle != nullptr, dlerror());
      const std::string file = file_of(handle);
      const provider::Library known = provider::library_of(handle, file.c_str());
      BOOST_REQUIRE_MESSAGE(known.layout != nullptr, file + " is unknown");
      provider::Measures measures{};
      BOOST_REQUIRE(provider::measure(known, handle, measures));
      BOOST_TEST(measures.operations == known.layout->measures.operations);
      BOOST_TEST(measures.context_at == known.layout->measures.context_at);
      BOOST_TEST(measures.qp_builders == known.layout->measures.qp_builders);
      // Under a name that tells no release it is the same library.
      const provider::Library unnamed = provider::library_of(handle, "libibverbs.so.1");
      BOOST_CHECK(unnamed.layout == known.layout);
      BOOST_CHECK(unnamed.register_driver == known.register_driver);
      dlclose(handle);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_libibverbs_has_no_layout) {
  void* handle = dlopen("libc.so.6", RTLD_NOW);
  BOOST_REQUIRE(handle != nullptr);
  BOOST_CHECK(provider::library_of(handle, "libibverbs.so.1.14.44.0").layout == nullptr);
  dlclose(handle);
}

BOOST_AUTO_TEST_SUITE_END()
