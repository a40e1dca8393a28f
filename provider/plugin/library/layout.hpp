// What differs between the private interfaces of rdma-core's releases.
#pragma once

#include <cstddef>
#include <span>

#include "provider/private_abi.hpp"

namespace urnic::provider {

// What can be measured of a loaded library without knowing its release (measurement.hpp).
struct Measures {
  std::size_t operations;   // entries in the table of operations
  std::size_t context_at;   // bytes of a verbs_context before its ibv_context
  std::size_t qp_builders;  // functions in ibv_qp_ex

  bool operator==(const Measures&) const = default;
};

struct Layout {
  int first_release;
  int last_release;
  int number;  // of the private ABI: in the name of the registration function and in the suffix of the
               // plugin's file
  Measures measures;
};

// One row per private interface, oldest first.
std::span<const Layout> known_layouts();

// Null for a release that is not in the table.
const Layout* layout_of_release(int release);

// The layout of a library that is known by its private ABI's number and its measures alone. A number that is
// newer than the table's is taken for the newest row, if the measures are that row's. Null if there is none.
const Layout* layout_measured(int number, const Measures& measures);

// Where a QP's tail is.
constexpr std::size_t qp_tail_at(const Measures& measures) {
  return private_abi::kQpBuildersAt + measures.qp_builders * sizeof(void*);
}

inline private_abi::QpTail& qp_tail(private_abi::Qp& qp, const Layout& layout) {
  return *reinterpret_cast<private_abi::QpTail*>(qp.room + qp_tail_at(layout.measures));
}

inline bool has_atomic_write(const Layout& layout) {
  return layout.measures.qp_builders > private_abi::kAtomicWriteBuilder;
}

}  // namespace urnic::provider
