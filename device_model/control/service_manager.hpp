// Tells a service manager that the service has started: sd_notify(3), protocol of systemd's Type=notify.
#pragma once

#include <string>

namespace urnic::control {

// Sends READY=1 to the socket that NOTIFY_SOCKET names. Does nothing without that variable. Never waits.
// Returns why the manager could not be told; empty on success.
std::string tell_service_manager_ready();

}  // namespace urnic::control
