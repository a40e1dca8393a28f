#include "device_model/control/uverbs/raw_packet_rights.hpp"

#include <cerrno>

#include "device_model/control/log/log.hpp"
#include "device_model/control/uverbs/session.hpp"

namespace urnic::control {

int check_raw_packets(const Session& session, std::string_view what) {
  if (session.device.settings.raw_packets == RawPackets::all || session.has_net_raw()) return 0;
  log::info(
      "{}: {} (pid {}) may not {}: EPERM, for raw_packets is \"privileged\" and the program has no "
      "CAP_NET_RAW",
      session.device.settings.name, session.process->program(), session.process->pid(), what);
  return EPERM;
}

int check_raw_frames(const Session& session, std::string_view what) {
  return session.device.adapter ? EOPNOTSUPP : check_raw_packets(session, what);
}

}  // namespace urnic::control
