// The table of operations as a release of the library has it.
#pragma once

#include "provider/plugin/library/layout.hpp"

namespace urnic::provider {

struct OperationTable {
  void (*entries[private_abi::kOperations])();
};

// `operations` without the entries that are younger than the release; the rest moves up.
OperationTable table_for(const Layout& layout, const private_abi::ContextOps& operations);

}  // namespace urnic::provider
