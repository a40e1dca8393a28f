// Where a datagram goes: address handles (IBTA 11.2.2) as the transport sees them. Only the host knows the
// path behind one.
#pragma once

#include <cstdint>

#include "device_model/transport/memory_access.hpp"

namespace urnic::transport {

// Outlives the batch in which it was found.
class DatagramAddress {
 public:
  explicit DatagramAddress(PdId in) : pd(in) {}
  const PdId pd;
  // How fast datagrams may follow each other there (IBTA 9.11); 0: as fast as the port sends.
  std::uint32_t static_rate_kbps = 0;

 protected:
  ~DatagramAddress() = default;
};

// The device's address handles, by the number in work requests.
class AddressHandles {
 public:
  // Null if there is none of this number.
  virtual const DatagramAddress* find(std::uint32_t number) const = 0;

 protected:
  ~AddressHandles() = default;
};

}  // namespace urnic::transport
