#include "device_model/subnet/manager/lid_assignment.hpp"

#include <cstddef>
#include <cstdint>
#include <set>

#include "wire/mad/subnet_tables.hpp"

namespace urnic::subnet {
namespace {

using wire::mad::kFirstMulticastLid;
using wire::mad::Lid;

}  // namespace

std::vector<Lid> assign_lids(const Nodes& nodes) {
  std::vector<Lid> lids(nodes.size());
  std::set<std::uint16_t> taken;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Lid own = nodes[i].managed(1).info.lid;
    const bool stays = own.value != 0 && own.value < kFirstMulticastLid && taken.insert(own.value).second;
    if (stays) lids[i] = own;
  }
  std::uint16_t next = 1;
  for (Lid& lid : lids) {
    if (lid.value != 0) continue;
    while (taken.contains(next)) ++next;
    if (next >= kFirstMulticastLid) break;
    lid.value = next++;
  }
  return lids;
}

}  // namespace urnic::subnet
