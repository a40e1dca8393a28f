// Which class each recovery mode is.
#include "device_model/transport/recovery/gbn_recovery.hpp"
#include "device_model/transport/recovery/irn_recovery.hpp"
#include "device_model/transport/recovery/sack_recovery.hpp"
#include "device_model/transport/recovery/selective_recovery.hpp"

namespace urnic::transport {

std::unique_ptr<LossRecovery> make_loss_recovery(const RecoverySettings& settings, std::uint32_t window) {
  switch (settings.mode) {
    case RecoveryMode::selective:
      return std::make_unique<SelectiveRecovery>(settings, window);
    case RecoveryMode::irn:
      return std::make_unique<IrnRecovery>(settings, window);
    case RecoveryMode::sack:
      return std::make_unique<SackRecovery>(settings, window);
    case RecoveryMode::gbn:
      break;
  }
  return std::make_unique<GbnRecovery>();
}

}  // namespace urnic::transport
