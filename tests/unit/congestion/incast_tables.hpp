// The tables that congestion_lab prints.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "tests/unit/congestion/incast.hpp"

namespace urnic::transport::lab {

struct TableSettings {
  IncastSettings incast;  // what all runs have in common
  std::vector<std::uint32_t> flows{2, 8, 32, 64};
  std::vector<std::string> algorithms;  // all if it is empty
  Nanoseconds before{100'000'000};
  Nanoseconds window{10'000'000};
};

// `table`: share, changes, distance, loss or fluid.
void print_table(const std::string& table, const TableSettings& settings, std::ostream& out);

}  // namespace urnic::transport::lab
