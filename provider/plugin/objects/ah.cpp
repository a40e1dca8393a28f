#include "provider/plugin/objects/ah.hpp"

#include <cerrno>
#include <cstring>

#include "provider/freestanding/allocation.hpp"
#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {

abi::AddressVector to_abi(const ibv_ah_attr& from) {
  abi::AddressVector to{};
  std::memcpy(to.destination_gid, from.grh.dgid.raw, sizeof to.destination_gid);
  to.flow_label = from.grh.flow_label;
  to.source_gid_index = from.grh.sgid_index;
  to.hop_limit = from.grh.hop_limit;
  to.traffic_class = from.grh.traffic_class;
  to.service_level = from.sl;
  to.is_global = from.is_global;
  to.port = from.port_num;
  to.static_rate = from.static_rate;
  to.source_path_bits = from.src_path_bits;
  to.destination_lid = from.dlid;
  return to;
}

ibv_ah_attr from_abi(const abi::AddressVector& from) {
  ibv_ah_attr to{};
  std::memcpy(to.grh.dgid.raw, from.destination_gid, sizeof from.destination_gid);
  to.grh.flow_label = from.flow_label;
  to.grh.sgid_index = from.source_gid_index;
  to.grh.hop_limit = from.hop_limit;
  to.grh.traffic_class = from.traffic_class;
  to.sl = from.service_level;
  to.is_global = from.is_global;
  to.port_num = from.port;
  to.static_rate = from.static_rate;
  to.src_path_bits = from.source_path_bits;
  to.dlid = from.destination_lid;
  return to;
}

ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr* attributes) {
  auto* ah = create_object<Ah>();
  if (ah == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  abi::CreateAhReply reply{};
  const abi::CreateAhRequest request{to_abi(*attributes), pd->handle, 0};
  if (const int error = call(context_of(pd->context), abi::ControlOpcode::create_ah, request, reply)) {
    destroy_object(ah);
    errno = error;
    return nullptr;
  }
  ah->verbs.context = pd->context;
  ah->verbs.pd = pd;
  ah->verbs.handle = reply.handle;
  ah->number = reply.number;
  return &ah->verbs;
}

int destroy_ah(ibv_ah* ah) {
  const int error = release(context_of(ah->context), abi::ControlOpcode::destroy_ah, ah->handle);
  if (error == 0) destroy_object(reinterpret_cast<Ah*>(ah));
  return error;
}

}  // namespace urnic::provider
