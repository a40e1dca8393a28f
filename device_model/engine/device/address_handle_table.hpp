// A device's address handles: paths that datagrams take, by the number that their work requests name.
//
// A number is a table index with a generation above it, so that one used after its handle's end does not name
// the next in its place. Engine thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "device_model/transport/datagram_address.hpp"
#include "wire/frame_template.hpp"
#include "wire/network_headers.hpp"

namespace urnic::engine {

struct AddressHandle final : transport::DatagramAddress {
  AddressHandle(transport::PdId in, const wire::NetworkHeaders& path) : DatagramAddress(in), frames(path) {}
  const wire::FrameTemplate frames;
};

class AddressHandleTable final : public transport::AddressHandles {
 public:
  // At most 2^16.
  explicit AddressHandleTable(std::uint32_t max_handles);

  // Takes the handle and gives its number; nothing if all are in use.
  std::optional<std::uint32_t> add(std::unique_ptr<AddressHandle> handle);
  // What was there, or null. Work requests that name it complete in error from now on.
  std::unique_ptr<AddressHandle> remove(std::uint32_t number);

  const AddressHandle* find(std::uint32_t number) const override;

 private:
  struct Entry {
    std::uint32_t generation = 0;
    std::unique_ptr<AddressHandle> handle;
  };

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
};

}  // namespace urnic::engine
