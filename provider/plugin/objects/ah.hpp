// The provider's address handle, and address vectors in the control protocol's form.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "device_model/abi/control.hpp"

namespace urnic::provider {

struct Ah {
  ibv_ah verbs;          // first: the library hands out its address
  std::uint32_t number;  // for abi::SendWqe::address_handle
};

inline const Ah& ah_of(const ibv_ah* ah) { return *reinterpret_cast<const Ah*>(ah); }

abi::AddressVector to_abi(const ibv_ah_attr& attributes);
ibv_ah_attr from_abi(const abi::AddressVector& from);

}  // namespace urnic::provider
