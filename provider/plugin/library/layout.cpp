#include "provider/plugin/library/layout.hpp"

namespace urnic::provider {
namespace {

constexpr Layout kLayouts[] = {
    // releases, number, {operations, context_at, qp_builders}
    {33, 33, 33, {72, 320, 20}}, {34, 34, 34, {73, 320, 20}}, {35, 35, 34, {75, 320, 20}},
    {36, 43, 34, {76, 320, 20}}, {44, 44, 34, {76, 320, 21}}, {45, 56, 34, {76, 320, 22}},
    {57, 58, 57, {76, 320, 22}}, {59, 61, 59, {79, 344, 22}}, {62, 63, 59, {81, 352, 22}},
    {64, 64, 64, {83, 368, 22}}, {65, 65, 65, {93, 368, 22}},
};
constexpr const Layout& kNewest = kLayouts[std::size(kLayouts) - 1];

static_assert(kNewest.measures.operations == private_abi::kOperations);
static_assert(kNewest.measures.qp_builders == private_abi::kMostQpBuilders);

// verbs_qp.comp_mask, as computed from each release's headers.
static_assert(qp_tail_at({0, 0, 20}) == 344 + private_abi::kMutexGrowth);
static_assert(qp_tail_at({0, 0, 21}) == 352 + private_abi::kMutexGrowth);
static_assert(qp_tail_at({0, 0, 22}) == 360 + private_abi::kMutexGrowth);

}  // namespace

std::span<const Layout> known_layouts() { return kLayouts; }

const Layout* layout_of_release(int release) {
  for (const Layout& layout : kLayouts) {
    if (release >= layout.first_release && release <= layout.last_release) return &layout;
  }
  return nullptr;
}

const Layout* layout_measured(int number, const Measures& measures) {
  if (number > kNewest.number) return measures == kNewest.measures ? &kNewest : nullptr;
  for (const Layout& layout : kLayouts) {
    if (layout.number == number && layout.measures == measures) return &layout;
  }
  return nullptr;
}

}  // namespace urnic::provider
