// Sends messages through the host, and counts messages in both directions.
#pragma once

#include <map>

#include "device_model/cm/counters.hpp"
#include "device_model/cm/host.hpp"
#include "device_model/cm/path.hpp"
#include "wire/mad/cm_messages.hpp"

namespace urnic::cm {

constexpr Message message_of(wire::mad::CmAttribute attribute) {
  return static_cast<Message>(static_cast<unsigned>(attribute) -
                              static_cast<unsigned>(wire::mad::CmAttribute::req));
}

class Sender {
 public:
  explicit Sender(Host& host) : host_(host) {}

  template <class T>
  void send(DeviceIndex device, const GsiAddress& to, const T& message,
            wire::mad::TransactionId transaction) {
    send(device, to, message_of(T::kAttribute), wire::mad::encode(message, transaction), false);
  }
  // `again`: the same MAD was sent before, or is the same answer as before.
  void send(DeviceIndex device, const GsiAddress& to, Message kind, const wire::mad::Mad& mad, bool again);

  Counters& counters(DeviceIndex device) { return counters_[device]; }
  Counters counters(DeviceIndex device) const;

 private:
  Host& host_;
  std::map<DeviceIndex, Counters> counters_;
};

}  // namespace urnic::cm
