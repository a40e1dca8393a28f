#include "device_model/transport/responder/responder.hpp"

namespace urnic::transport {

ResponderDetail Responder::detail() const {
  ResponderDetail now;
  window_.for_each_held(
      [&](wire::Psn first, std::uint32_t psns) { append(now.held, PsnSpan::Kind::held, first, psns); });
  if (!shared_.config.shared_receive_queue && shared_.config.receive_queue != nullptr)
    now.credits = shared_.config.receive_queue->available();
  return now;
}

}  // namespace urnic::transport
