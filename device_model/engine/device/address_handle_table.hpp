// A device's address handles: paths of datagrams, by the number in work requests.
//
// A number is a table index with a generation above it, so that the number of a destroyed handle does not
// name the next handle at that index. Engine thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "device_model/engine/device/device_config.hpp"
#include "device_model/transport/datagram_address.hpp"
#include "wire/frame_template.hpp"
#include "wire/network_headers.hpp"

namespace urnic::engine {

struct AddressHandle final : transport::DatagramAddress {
  AddressHandle(transport::PdId in, const wire::NetworkHeaders& path) : DatagramAddress(in), frames(path) {}
  wire::FrameTemplate frames;
};

class AddressHandleTable final : public transport::AddressHandles {
 public:
  // At most 2^16.
  explicit AddressHandleTable(std::uint32_t max_handles);

  // Takes the handle and returns its number; empty if the table is full.
  std::optional<std::uint32_t> add(std::unique_ptr<AddressHandle> handle);
  // Returns the handle, or null. Later work requests that name it complete in error.
  std::unique_ptr<AddressHandle> remove(std::uint32_t number);

  const AddressHandle* find(std::uint32_t number) const override;
  // The LIDs of the InfiniBand port have changed: paths begin at the new ones.
  void follow_lids(const LocalLids& lids);

 private:
  struct Entry {
    std::uint32_t generation = 0;
    std::unique_ptr<AddressHandle> handle;
  };

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
};

}  // namespace urnic::engine
