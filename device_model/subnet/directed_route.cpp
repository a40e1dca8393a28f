#include "device_model/subnet/directed_route.hpp"

namespace urnic::subnet {
namespace {

using wire::mad::kMostHops;
using wire::mad::kPermissiveLid;
using wire::mad::Smp;

PortNumber at(const wire::mad::PortPath& path, std::size_t hop) {
  return std::to_integer<PortNumber>(path[hop]);
}

Hop forward(PortNumber port) { return {Step::forward, port}; }

Hop take_question(const Node& node, PortNumber arrival, Smp& smp) {
  const unsigned pointer = smp.hop_pointer;
  const unsigned count = smp.hop_count;
  if (pointer == count + 1) return {Step::agent};
  if (pointer == 0 || pointer > count) return {};
  smp.return_path[pointer] = static_cast<std::byte>(arrival);
  if (pointer == count) {
    if (!node.is_switch() && smp.directed_destination != kPermissiveLid) return {};
    ++smp.hop_pointer;
    return {Step::agent};
  }
  const PortNumber next = at(smp.initial_path, pointer + 1);
  // Port 0 is the switch itself: no way leads through it.
  if (!node.is_switch() || next == 0 || !node.has_port(next)) return {};
  ++smp.hop_pointer;
  return forward(next);
}

Hop take_answer(const Node& node, Smp& smp) {
  const unsigned pointer = smp.hop_pointer;
  if (pointer == 0) return {Step::manager};
  if (pointer == 1) {
    if (smp.directed_source != kPermissiveLid) return {};
    smp.hop_pointer = 0;
    return {Step::manager};
  }
  if (pointer > smp.hop_count || !node.is_switch()) return {};
  --smp.hop_pointer;
  const PortNumber next = at(smp.return_path, smp.hop_pointer);
  return node.has_port(next) && next != 0 ? forward(next) : Hop{};
}

}  // namespace

// A route that begins or ends with a LID-routed part is not offered: nobody but a router's neighbour needs
// it.
Hop send_directed(PortNumber port, Smp& smp) {
  if (smp.hop_count > kMostHops) return {};
  if (smp.is_returning) return answer_directed(smp);
  if (smp.directed_source != kPermissiveLid) return {};
  if (smp.hop_pointer == 0) {
    smp.hop_pointer = 1;
    if (smp.hop_count == 0) return {Step::agent};
    return at(smp.initial_path, 1) == port ? forward(port) : Hop{};
  }
  return smp.hop_pointer == smp.hop_count + 1 ? Hop{Step::agent} : Hop{};
}

Hop take_directed(const Node& node, PortNumber arrival, Smp& smp) {
  if (smp.hop_count > kMostHops) return {};
  return smp.is_returning ? take_answer(node, smp) : take_question(node, arrival, smp);
}

Hop answer_directed(Smp& smp) {
  if (smp.hop_count > kMostHops || smp.hop_pointer != smp.hop_count + 1) return {};
  smp.hop_pointer = smp.hop_count;
  if (smp.hop_count == 0) return {Step::manager};
  return forward(at(smp.return_path, smp.hop_count));
}

}  // namespace urnic::subnet
