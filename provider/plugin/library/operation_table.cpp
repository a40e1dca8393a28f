#include "provider/plugin/library/operation_table.hpp"

#include <cstring>

namespace urnic::provider {
namespace {

struct Addition {
  std::size_t offset;
  int release;  // the first that has the entry
};

// From release 33 on no entry has gone, and the table stays sorted by name.
#define ADDED(name, release) \
  { offsetof(private_abi::ContextOps, name), release }
constexpr Addition kAdditions[] = {
    ADDED(alloc_buf, 64),
    ADDED(alloc_dmah, 59),
    ADDED(create_comp_cntr, 65),
    ADDED(dealloc_dmah, 59),
    ADDED(destroy_comp_cntr, 65),
    ADDED(dm_export_dmabuf_fd, 62),
    ADDED(free_buf, 64),
    ADDED(import_dm, 35),
    ADDED(inc_comp_cntr, 65),
    ADDED(inc_err_comp_cntr, 65),
    ADDED(qp_attach_comp_cntr, 65),
    ADDED(query_comp_cntr_caps, 65),
    ADDED(query_port_speed, 62),
    ADDED(query_qp_data_in_order, 36),
    ADDED(read_comp_cntr, 65),
    ADDED(read_err_comp_cntr, 65),
    ADDED(reg_dmabuf_mr, 34),
    ADDED(reg_mr_ex, 59),
    ADDED(set_comp_cntr, 65),
    ADDED(set_err_comp_cntr, 65),
    ADDED(unimport_dm, 35),
};
#undef ADDED
static_assert(private_abi::kOperations - std::size(kAdditions) == 72, "the table of release 33");

bool has_entry(const Layout& layout, std::size_t index) {
  for (const Addition& addition : kAdditions) {
    if (addition.offset == index * sizeof(void*)) return addition.release <= layout.first_release;
  }
  return true;
}

}  // namespace

OperationTable table_for(const Layout& layout, const private_abi::ContextOps& operations) {
  OperationTable all;
  static_assert(sizeof all == sizeof operations);
  std::memcpy(&all, &operations, sizeof all);
  OperationTable table{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < private_abi::kOperations; ++i) {
    if (has_entry(layout, i)) table.entries[count++] = all.entries[i];
  }
  return table;
}

}  // namespace urnic::provider
