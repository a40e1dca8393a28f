// Which class each recovery mode is.
#include "device_model/transport/go_back_n.hpp"
#include "device_model/transport/irn_recovery.hpp"
#include "device_model/transport/sack_recovery.hpp"
#include "device_model/transport/selective_recovery.hpp"

namespace urnic::transport {

std::unique_ptr<LossRecovery> make_loss_recovery(const RecoverySettings& settings, std::uint32_t window) {
  switch (settings.mode) {
    case RecoveryMode::selective:
      return std::make_unique<SelectiveRecovery>(settings, window);
    case RecoveryMode::irn:
      return std::make_unique<IrnRecovery>(settings, window);
    case RecoveryMode::sack:
      return std::make_unique<SackRecovery>(settings, window);
    case RecoveryMode::go_back_n:
      break;
  }
  return std::make_unique<GoBackN>();
}

}  // namespace urnic::transport
