// Addresses of peers: as the kernel's ABI has them, and in WQEs of datagrams.
#pragma once

#include <rdma/ib_user_verbs.h>

#include <cstdint>
#include <optional>

#include "device_model/abi/control.hpp"
#include "wire/identifiers.hpp"

namespace urnic::control::mlx5 {

abi::AddressVector to_address_vector(const ib_uverbs_ah_attr& attributes);
abi::AddressVector to_address_vector(const ib_uverbs_qp_dest& destination);
ib_uverbs_qp_dest to_destination(const abi::AddressVector& path);

// The WQE of a datagram has the peer's MAC address, as CREATE_AH has answered it. This device needs the
// number of the address handle there: so the address is a local one, made of that number.
wire::MacAddress mac_of_address_handle(std::uint32_t number);
// Empty: it is the address of no handle.
std::optional<std::uint32_t> address_handle_of(const wire::MacAddress& mac);

}  // namespace urnic::control::mlx5
