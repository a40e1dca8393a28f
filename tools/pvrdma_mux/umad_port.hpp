// Messages of connection management by /dev/infiniband/umadN, as a program that has registered for their
// class.
#pragma once

#include <optional>
#include <string>

#include "device_model/memory/descriptor.hpp"
#include "tools/pvrdma_mux/mux_message.hpp"

namespace urnic::pvrdma_mux {

class UmadPort {
 public:
  // Throws std::system_error, std::runtime_error with a sentence: there is no such device, or another program
  // has the class.
  explicit UmadPort(const std::string& device);

  // Readable when a MAD has arrived.
  int descriptor() const { return node_.get(); }

  // 0 or an errno.
  int send(UserMad message);
  // Empty: nothing has arrived. Throws std::system_error when the device process is gone.
  std::optional<UserMad> receive();

 private:
  memory::Descriptor node_;
  std::uint32_t agent_ = 0;
};

}  // namespace urnic::pvrdma_mux
